"""All that the next draw of a sampler depends on, and how it is saved."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import index
from typing import Any

import numpy as np

from codeenv.errors import UsageError
from codeenv_harness.curriculum.groups import GroupReport
from codeenv_harness.curriculum.options import SamplerOptions
from codeenv_harness.curriculum.table import Table
from codeenv_harness.curriculum.tally import Tally

_VERSION = 2


@dataclass
class State:
    """What changes in a sampler.

    Attributes:
        options: How to draw and judge.
        rng: Of all draws.
        table: The tasks.
        draws: How many there were.
        newest: Policy version.
        due: What re-probes and retention have not had yet of their shares.
        tally: Counts since the last report.
        history: The reports.
    """

    options: SamplerOptions
    rng: np.random.Generator
    table: Table = field(default_factory=Table)
    draws: int = 0
    newest: int | None = None
    due: dict[str, float] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    history: list[GroupReport] = field(default_factory=list)

    def share(self, name: str, amount: float, available: int) -> int:
        """Return how many of the available have their turn, if ``amount`` more are due.

        In the long run it is the sum of the amounts; what cannot be had is not made up for.
        """
        if not available:
            return 0
        due = self.due.get(name, 0.0) + amount
        turns = min(int(due), available)
        self.due[name] = min(due - turns, 1.0)
        return turns

    def dump(self, *, plain: bool) -> dict[str, Any]:
        """Return the state as plain values, its columns as lists or as arrays."""
        return {
            "version": _VERSION,
            "options": asdict(self.options),
            "rng": self.rng.bit_generator.state,
            "table": self.table.state(plain=plain),
            "draws": self.draws,
            "newest": self.newest,
            "due": dict(self.due),
            "tally": asdict(self.tally),
            "history": [asdict(report) for report in self.history],
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> "State":
        """Return a state that was dumped.

        Raises:
            UsageError: If it is of another version, or not whole.
        """
        if state.get("version") != _VERSION:
            told = f"a state of version {state.get('version')!r}, not {_VERSION}"
            raise UsageError(told, hint="it was written by another version of codeenv")
        try:
            rng = np.random.default_rng(0)
            rng.bit_generator.state = state["rng"]
            return cls(
                options=SamplerOptions(**state["options"]),
                rng=rng,
                table=Table.of(state["table"]),
                draws=_count(state["draws"]),
                newest=None if state["newest"] is None else index(state["newest"]),
                due={str(name): _share(due) for name, due in state["due"].items()},
                tally=Tally(**state["tally"]),
                history=[GroupReport(**report) for report in state["history"]],
            )
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise UsageError(f"the state is not whole: {error}", hint="save it again") from None


def _count(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} draws")
    return value


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"a share of {value!r} is due")
    return float(value)
