"""Turn any test-heavy repository into verifiable-reward episodes for coding agents.

``import codeenv`` registers the environment ``CodeRepo-v0``; what is heavy loads at first use.
"""

from importlib import import_module
from typing import Any

from gymnasium.envs.registration import register, registry

from codeenv.errors import CodeEnvError, MachineError, SandboxError, TaskError, UsageError

__version__ = "0.1.0"
__all__ = [
    "CodeEnvError",
    "CodeRepoEnv",
    "CodeRepoVectorEnv",
    "Episode",
    "EpisodeLimits",
    "Grade",
    "MachineError",
    "Outcome",
    "Recipe",
    "Runtime",
    "SandboxError",
    "TaskError",
    "Taskset",
    "UsageError",
    "__version__",
]
_LAZY = {
    "CodeRepoEnv": "codeenv.env.repo",
    "CodeRepoVectorEnv": "codeenv.env.vector",
    "Episode": "codeenv.env.episode",
    "EpisodeLimits": "codeenv.env.episode",
    "Grade": "codeenv.grading.models",
    "Outcome": "codeenv.grading.models",
    "Recipe": "codeenv.tasks.models",
    "Taskset": "codeenv.tasks.taskset",
    "Runtime": "codeenv.env.runtime",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a public name that is heavy."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


if "CodeRepo-v0" not in registry:
    register(
        id="CodeRepo-v0",
        entry_point="codeenv.env.repo:CodeRepoEnv",
        vector_entry_point="codeenv.env.vector:CodeRepoVectorEnv",
        max_episode_steps=None,
    )
