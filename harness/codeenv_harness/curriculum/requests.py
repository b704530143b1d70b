"""What a sampler wants of the generator: each wish is told until it is settled, then no more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

import numpy as np

from codeenv.tasks.models import Level
from codeenv_harness.curriculum.options import CODES, SamplerOptions, Status
from codeenv_harness.curriculum.table import Table

_STATEMENTS: tuple[Level, ...] = get_args(Level)
_NEXT: Mapping[str, Level] = dict(pairwise(_STATEMENTS))
_RICHER, _HARDER = 1, 2
"""Bits of the column ``asked``."""


@dataclass(frozen=True)
class RicherStatement:
    """A task is out of reach: tell more of it.

    Attributes:
        task_id: The quarantined task.
        level: The statement level that tells just more.
    """

    task_id: str
    level: Level


@dataclass(frozen=True)
class HarderChildren:
    """A difficulty level is learnt: make harder children of what was solved there.

    Attributes:
        parents: Solved tasks, the best solved first; each is a parent in one request only.
        level: The difficulty level.
    """

    parents: tuple[str, ...]
    level: str


Request = RicherStatement | HarderChildren


def richer(table: Table) -> Iterator[RicherStatement]:
    """Yield the quarantined tasks of which more can be told, if that was not settled before."""
    new = (table["status"] == CODES[Status.QUARANTINED]) & (table["asked"] & _RICHER == 0)
    for row in np.flatnonzero(new):
        told = table.words[table["statement"][row]]
        if level := _NEXT.get(told):
            yield RicherStatement(table.ids[row], level)


def harder(table: Table, options: SamplerOptions) -> Iterator[HarderChildren]:
    """Yield the levels that are learnt, with parents that none was settled for before."""
    mean, status, level = table.mean, table["status"], table["level"]
    counted = (status != CODES[Status.QUARANTINED]) & (status != CODES[Status.REMOVED])
    tried, words = counted & (table["tries"] > 0), len(table.words)
    size = np.bincount(level[counted], minlength=words)
    total = np.bincount(level[counted], mean[counted], minlength=words)
    played = np.bincount(level[tried], minlength=words)
    learnt = (total > options.harder_above * size) & (played >= options.harder_tried * size)
    solved = tried & (mean > options.harder_above) & (table["asked"] & _HARDER == 0)
    for number in np.flatnonzero(learnt):
        rows = np.flatnonzero(solved & (level == number))
        if len(rows):
            best = rows[np.argsort(-mean[rows], kind="stable")][: options.parents]
            yield HarderChildren(tuple(table.ids[row] for row in best), table.words[number])


def settle(table: Table, request: Request) -> None:
    """Remember that a request was answered.

    Raises:
        UsageError: If it has a task that the table does not.
    """
    richer = isinstance(request, RicherStatement)
    tasks = (request.task_id,) if isinstance(request, RicherStatement) else request.parents
    table["asked"][table.find(tasks)] |= _RICHER if richer else _HARDER
