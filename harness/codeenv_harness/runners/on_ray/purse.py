"""One purse for all workers."""

from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from codeenv.trajectory import StepMetrics
from codeenv_harness.agents import AgentUnavailable, Budget, Purse


class SharedPurse(Purse):
    """A purse that another process keeps, with the same promise as one of this process.

    Args:
        budget: What there is.
        keeper: An actor that is a ``Purse``.
    """

    def __init__(self, budget: Budget, keeper: Any) -> None:  # noqa: ANN401 - Ray's own
        """Take the keeper."""
        super().__init__(budget)
        self._keeper = keeper

    def check(self) -> None:
        """Ask whether something is left."""
        self._ask(self._keeper.check.remote())

    def pay(self, metrics: StepMetrics) -> None:
        """Have one answer counted."""
        self._ask(self._keeper.pay.remote(metrics))

    def _ask(self, reply: Any) -> None:  # noqa: ANN401 - Ray's own
        try:
            ray.get(reply)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            raise AgentUnavailable("who counts the budget on Ray is gone") from error


def keeper_of(budget: Budget) -> Any:  # noqa: ANN401 - Ray's own
    """Return the actor that keeps a budget, on this process's node; None if nothing is limited."""
    if budget == Budget():
        return None
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    kept = ray.remote(Purse).options(num_cpus=0, scheduling_strategy=here)
    return kept.remote(budget)
