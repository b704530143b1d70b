"""Who plays the rollouts of a run: threads of this process, or workers on the nodes of Ray."""

from collections.abc import Callable

from codeenv.errors import UsageError
from codeenv_harness.runners.base import Listener, Ready, Runner
from codeenv_harness.runners.threads import ThreadRunner

NAMES = ("threads", "ray")

__all__ = ["NAMES", "Listener", "Ready", "Runner", "ThreadRunner", "ray_runner"]


def ray_runner(address: str | None = None, say: Callable[[str], None] = lambda _: None) -> Runner:
    """Return the runner on Ray.

    Args:
        address: Of the cluster; without one that of ``RAY_ADDRESS``, or else the cluster of this
            machine, or else a new one of this machine alone.
        say: Gets what people should know, e.g. that a node was lost.

    Raises:
        UsageError: If Ray is not installed.
    """
    try:
        from codeenv_harness.runners.on_ray.runner import RayRunner
    except ModuleNotFoundError as error:
        hint = "pip install 'codeenv-gym[ray]'"
        raise UsageError("playing on Ray needs the ray package", hint=hint) from error
    return RayRunner(address, say)
