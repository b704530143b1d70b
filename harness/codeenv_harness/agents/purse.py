"""A budget that all episodes of a run share."""

import threading
from dataclasses import dataclass

from codeenv.trajectory import StepMetrics
from codeenv_harness.agents.stops import AgentUnavailable, BudgetSpent


@dataclass(frozen=True)
class Budget:
    """What a run may use; None is no limit.

    Attributes:
        tokens: Of prompts and answers together, cached ones too.
        usd: Money.
    """

    tokens: int | None = None
    usd: float | None = None


class Purse:
    """Counts what is used, and says when that is all.  Thread-safe.

    Answers that are under way when the budget ends are paid and may go beyond it: one for each
    episode that is played at that moment.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        """Begin with everything."""
        self.budget = budget or Budget()
        self.tokens, self.usd = 0, 0.0
        self._lock = threading.Lock()

    def check(self) -> None:
        """Do nothing while something is left.

        Raises:
            BudgetSpent: If nothing is.
        """
        most = self.budget
        with self._lock:
            if most.tokens is not None and self.tokens >= most.tokens:
                raise _spent(f"{self.tokens:,} of {most.tokens:,} tokens are used")
            if most.usd is not None and self.usd >= most.usd:
                raise _spent(f"{self.usd:.2f} of {most.usd:.2f} USD are used")

    def pay(self, metrics: StepMetrics) -> None:
        """Count one answer.

        Raises:
            AgentUnavailable: If something is limited and nobody says how much of it was used.
        """
        used = (metrics.prompt_tokens, metrics.completion_tokens)
        if self.budget.tokens is not None and None in used:
            raise AgentUnavailable("the budget is in tokens, and the server does not tell them")
        if self.budget.usd is not None and metrics.cost_usd is None:
            raise AgentUnavailable(
                "the budget is in USD, and what the model costs is not known",
                hint="give --prices FILE, or a budget in tokens",
            )
        with self._lock:
            self.tokens += (metrics.prompt_tokens or 0) + (metrics.completion_tokens or 0)
            self.usd += metrics.cost_usd or 0.0


def _spent(told: str) -> BudgetSpent:
    return BudgetSpent(
        f"the budget is spent: {told}", hint="go on with --resume and a larger budget"
    )
