"""What a sampler wants of the generator: each wish is told once for its cause."""

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
    """Yield the quarantined tasks of which more can be told, and remember them."""
    new = (table["status"] == CODES[Status.QUARANTINED]) & (table["asked"] & _RICHER == 0)
    for row in np.flatnonzero(new):
        told = table.words[table["statement"][row]]
        if level := _NEXT.get(told):
            table["asked"][row] |= _RICHER
            yield RicherStatement(table.ids[row], level)


def harder(
    table: Table, options: SamplerOptions, open_levels: set[str]
) -> Iterator[HarderChildren]:
    """Yield the levels that are learnt, and remember them.

    Args:
        table: All tasks.
        options: Of the sampler.
        open_levels: Levels that were asked for already; those that are not learnt any more leave.
    """
    if not len(table):
        return
    mean, status, level = table.mean, table["status"], table["level"]
    counted = (status != CODES[Status.QUARANTINED]) & (status != CODES[Status.REMOVED])
    size = np.bincount(level[counted], minlength=len(table.words))
    total = np.bincount(level[counted], mean[counted], minlength=len(table.words))
    learnt = total > options.harder_above * size
    open_levels.intersection_update(table.words[n] for n in np.flatnonzero(learnt))
    solved = counted & (table["tries"] > 0) & (mean > options.harder_above)
    solved &= table["asked"] & _HARDER == 0
    for number in np.flatnonzero(learnt):
        rows = np.flatnonzero(solved & (level == number))
        name = table.words[number]
        if len(rows) and name not in open_levels:
            best = rows[np.argsort(-mean[rows], kind="stable")][: options.parents]
            table["asked"][best] |= _HARDER
            open_levels.add(name)
            yield HarderChildren(tuple(table.ids[row] for row in best), name)
