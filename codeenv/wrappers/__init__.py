"""Wrappers for training: effort, named rewards, chained contexts; each loads where it is used.

``SelfSummarize`` goes next to the environment; ``Feedback`` and what changes the reward go around
it, in any order.
"""

from importlib import import_module
from typing import Any

_LAZY = {
    "BehaviourReward": "codeenv.wrappers.behaviour",
    "Component": "codeenv.wrappers.behaviour",
    "EpisodeView": "codeenv.wrappers.behaviour",
    "Effort": "codeenv.wrappers.effort",
    "EffortWeights": "codeenv.wrappers.effort",
    "Feedback": "codeenv.wrappers.feedback",
    "LengthCost": "codeenv.wrappers.effort",
    "LengthPenalty": "codeenv.wrappers.effort",
    "SelfSummarize": "codeenv.wrappers.summarize",
    "TurnPenalty": "codeenv.wrappers.behaviour",
    "approximate_tokens": "codeenv.wrappers.texts",
    "format_component": "codeenv.wrappers.behaviour",
    "length_component": "codeenv.wrappers.behaviour",
    "length_cost": "codeenv.wrappers.effort",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a wrapper when it is asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(_LAZY)
