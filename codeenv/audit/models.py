"""What the audit and the calibration of a task say."""

from dataclasses import dataclass
from typing import Literal

LeakKind = Literal[
    "tree",
    "git",
    "by-product",
    "copy",
    "twin",
    "names",
    "opaque",
    "hidden_test",
    "statement",
    "variable",
    "box",
    "mention",
    "similar",
    "unread",
]
"""What was found.

``tree``: not the files that the recipe pins.  ``git``: the repository's history holds more than one
commit of the agent's files.  ``by-product``: bytecode, caches, build copies.  ``copy``: text of a
deleted function.  ``twin``: a function of the same shape as a deleted one.  ``names``: names that
vanished with the feature, in binary data.  ``opaque``: data that cannot be read, large enough to
hold a deleted function.  ``hidden_test``: text of a hidden test, a list of their ids, or what was
recorded for one.  ``statement``: the statement quotes deleted code or names a hidden test.
``variable``: a variable of the environment tells of them.  ``box``: a box shows what is not its
own: other processes, layers, times of changes.
Warnings only: ``mention``, a text speaks of a vanished name that the statement does not tell;
``similar``, code of the project that stays and is much like a deleted function; ``unread``, data
that cannot be read and that the project's code or tests work with.
"""
WARNINGS: frozenset[LeakKind] = frozenset({"mention", "similar", "unread"})


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """One trace of the deleted code where the agent can read it.

    Attributes:
        path: In the workspace, or absolute in the environment; ``!`` leads into archives; ``$``
            before a variable's name.
        kind: What was found.
        detail: Of which deleted code, and how much.
    """

    kind: LeakKind
    path: str
    detail: str = ""


@dataclass(frozen=True)
class AuditReport:
    """Leaks refuse a task; warnings are for its author."""

    leaks: tuple[Leak, ...]
    warnings: tuple[Leak, ...] = ()


@dataclass(frozen=True)
class Verification:
    """Whether doing nothing scores 0 and the original code scores 1.

    Attributes:
        task_id: The task.
        nop_rewards: One per repetition; None where grading itself failed.
        oracle_rewards: Likewise.
        problems: What is wrong, one sentence each.
    """

    task_id: str
    nop_rewards: tuple[float | None, ...]
    oracle_rewards: tuple[float | None, ...]
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def graded(self) -> bool:
        """Whether every repetition got a grade, so that problems are the task's own."""
        return None not in (*self.nop_rewards, *self.oracle_rewards)
