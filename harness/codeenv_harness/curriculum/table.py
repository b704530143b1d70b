"""What a sampler knows of its tasks, one column for each fact."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from codeenv.errors import UsageError
from codeenv_harness.curriculum.options import Status
from codeenv_harness.curriculum.posterior import Floats, Ints

_FLOATS = ("a0", "b0", "a", "b")
_COUNTS = ("visits", "tries", "streak", "drawn", "parent", "level", "statement", "status", "asked")
COLUMNS: Mapping[str, type] = {
    **dict.fromkeys(_FLOATS, np.float64),
    **dict.fromkeys(_COUNTS, np.int64),
}
"""Name -> type.  ``streak``: updates in a row that found it solved; ``drawn``: how many draws there
were when it was drawn last; ``parent``: its row, or -1; ``level`` and ``statement``: rows of the
table's words; ``asked``: bits of the requests made for it."""


@dataclass(frozen=True)
class TaskState:
    """What a sampler thinks of one task.

    Attributes:
        task_id: The task.
        status: Where it is; ``status.reason`` says why.
        mean: Of the posterior.
        rate: Share of successes in the evidence; 0.5 without any.
        a: Of the posterior Beta(a, b).
        b: The same.
        visits: How often it was drawn.
        tries: Valid rollouts.
        level: Difficulty level.
        statement: Statement level, or "".
        parent: Task that it is a child of, or "".
    """

    task_id: str
    status: Status
    mean: float
    rate: float
    a: float
    b: float
    visits: int
    tries: int
    level: str
    statement: str
    parent: str


class Table:
    """Columns of equal length, and the words that two of them refer to."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}
        self.words: list[str] = [""]
        self._row_of_word = {"": 0}
        self.columns: dict[str, npt.NDArray[Any]] = {n: np.zeros(0, t) for n, t in COLUMNS.items()}

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        return self.columns[column]

    def row(self, task_id: str) -> int:
        """Return the row of a task.

        Raises:
            UsageError: If there is none.
        """
        try:
            return self.rows[task_id]
        except KeyError:
            raise UsageError(f"no task {task_id!r} in the sampler", hint="add it first") from None

    def find(self, task_ids: Iterable[str]) -> Ints:
        """Return the rows of tasks (see ``row``)."""
        return np.array([self.row(task_id) for task_id in task_ids], np.int64)

    def word(self, text: str) -> int:
        """Return the number of a word, a new one if it is new."""
        if text not in self._row_of_word:
            self._row_of_word[text] = len(self.words)
            self.words.append(text)
        return self._row_of_word[text]

    def append(self, ids: Sequence[str], values: Mapping[str, npt.ArrayLike]) -> None:
        """Add tasks; columns without a value are 0.

        Raises:
            UsageError: If an id is there already, or twice among these.
        """
        known = [task_id for task_id in ids if task_id in self.rows]
        if known or len(set(ids)) < len(ids):
            told = known[0] if known else next(i for i in ids if ids.count(i) > 1)
            raise UsageError(f"the sampler has task {told!r} twice", hint="ids must be distinct")
        start = len(self.ids)
        self.ids += ids
        self.rows.update(zip(ids, range(start, start + len(ids)), strict=True))
        for name, kind in COLUMNS.items():
            new: npt.NDArray[Any] = np.zeros(len(ids), kind)
            new[:] = values.get(name, 0)
            self.columns[name] = np.concatenate([self.columns[name], new])

    @property
    def mean(self) -> Floats:
        """Means of the posteriors."""
        return np.asarray(self["a"] / (self["a"] + self["b"]), np.float64)

    @property
    def evidence(self) -> Floats:
        """Successes and failures of each task, faded as they are; shape (tasks, 2)."""
        counts = [self["a"] - self["a0"], self["b"] - self["b0"]]
        return np.asarray(np.maximum(np.stack(counts, axis=1), 0.0), np.float64)

    def rate(self, row: int) -> float:
        """Return the share of successes in the evidence; 0.5 where there is none."""
        good = max(0.0, float(self["a"][row] - self["a0"][row]))
        bad = max(0.0, float(self["b"][row] - self["b0"][row]))
        return good / (good + bad) if good + bad > 0 else 0.5

    def task(self, row: int) -> TaskState:
        """Return what is known of a task."""
        a, b, parent = float(self["a"][row]), float(self["b"][row]), int(self["parent"][row])
        return TaskState(
            task_id=self.ids[row],
            status=tuple(Status)[self["status"][row]],
            mean=a / (a + b),
            rate=self.rate(row),
            a=a,
            b=b,
            visits=int(self["visits"][row]),
            tries=int(self["tries"][row]),
            level=self.words[self["level"][row]],
            statement=self.words[self["statement"][row]],
            parent=self.ids[parent] if parent >= 0 else "",
        )

    def state(self, *, plain: bool) -> dict[str, Any]:
        """Return everything: columns as lists, or as copies of the arrays."""
        columns = {n: c.tolist() if plain else c.copy() for n, c in self.columns.items()}
        return {"ids": list(self.ids), "words": list(self.words), "columns": columns}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> "Table":
        """Return the table of a state.

        Raises:
            UsageError: If its columns do not fit, or have values that none can have.
        """
        table = cls()
        for text in state["words"]:
            table.word(text)
        if table.words != list(state["words"]):
            raise UsageError("the state's words are not distinct", hint="is it whole?")
        columns, ids = state["columns"], list(state["ids"])
        wrong = sorted(n for n in COLUMNS.keys() ^ columns.keys())
        wrong += sorted(n for n in columns if np.shape(columns[n]) != (len(ids),))
        if wrong:
            raise UsageError(f"the state's column {wrong[0]!r} does not fit", hint="is it whole?")
        limits = {
            **dict.fromkeys(_COUNTS, (0, np.inf)),
            "drawn": (-1, np.inf),
            "parent": (-1, len(ids) - 1),
            "level": (0, len(table.words) - 1),
            "statement": (0, len(table.words) - 1),
            "status": (0, len(Status) - 1),
        }
        for name, column in columns.items():
            _demand_possible(name, np.asarray(column), limits.get(name))
        table.append(ids, columns)
        return table


def _demand_possible(
    name: str, values: npt.NDArray[Any], limits: tuple[float, float] | None
) -> None:
    """Refuse counts and codes that are no whole numbers within limits, or no positive numbers."""
    if limits is None:
        good = values.dtype.kind in "if" and np.all((values > 0) & np.isfinite(values))
    else:
        whole = values.dtype.kind in "iu" or not values.size
        good = whole and np.all((values >= limits[0]) & (values <= limits[1]))
    if not good:
        raise UsageError(f"the state's column {name!r} has values that none can have")
