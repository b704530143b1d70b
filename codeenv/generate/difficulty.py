"""How hard a task looks before anyone has tried it: a prior, not a measurement.

The prior is a logistic function of static facts.  Its weights are a judgement in one table; they
order tasks, so that a run can ask for a part of the range.  Pass rates of agents replace it.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from codeenv.generate.models import ANY_DIFFICULTY, Deletion, Reason, Rejected
from codeenv.generate.workbench import Workbench
from codeenv.tasks.models import Difficulty, Level, Operation

_BIAS = -4.4
_WEIGHTS: Mapping[str, float] = {
    "lines": 0.5,  # of the logarithm, as all counts without an upper limit
    "branches": 0.3,
    "call_sites": 0.1,
    "tests": 0.12,
    "symbols": 0.22,  # per symbol after the first
    "files": 0.35,  # per file after the first
    "joint": 0.5,  # of the share
}
_LEVELS: Mapping[Level, float] = {"L1": 1.6, "L2": 1.0, "L3": 0.4, "L4": 0.1, "L5": -0.6}
_MODES: Mapping[str, float] = {"remove": 0.2, "stub": 0.0}
"""Where signatures stay in place, less has to be found out."""
_MOST_SYMBOLS, _MOST_FILES = 10, 5
"""More of them say nothing more."""


def rate(bench: Workbench, deletion: Deletion, tests: Collection[str], level: Level) -> Difficulty:
    """Count what is deleted and make a prior probability of failure from it.

    Args:
        bench: The repository.
        deletion: What is deleted.
        tests: The tests that reward.
        level: How much the statement tells.
    """
    feature = deletion.feature
    measures = bench.language.measure(bench.pristine, bench.layout, feature.members)
    facts = Difficulty(
        lines=feature.line_count,
        symbols=len(feature.inner or feature.members),
        files=len({unit.path for unit in feature.members}),
        tests=len(tests),
        branches=measures.branches,
        call_sites=measures.call_sites,
        joint=round(len(feature.joint.intersection(tests)) / max(1, len(tests)), 3),
        prior=0.0,
    )
    return facts.model_copy(update={"prior": _prior(facts, level, deletion.mode)})


def at_level(facts: Difficulty, level: Level, edits: Iterable[Operation]) -> Difficulty:
    """Return the same facts with the prior of another statement level."""
    mode = "remove" if any(edit.mode == "remove" for edit in edits) else "stub"
    return facts.model_copy(update={"prior": _prior(facts, level, mode)})


def demand_reachable(
    bench: Workbench, found: Sequence[Deletion], level: Level, wanted: tuple[float, float]
) -> list[Deletion]:
    """Return the deletions whose prior can be in the range, whichever of their tests reward.

    Raises:
        Rejected: ``difficulty`` if there is none.
    """
    if wanted == ANY_DIFFICULTY:
        return list(found)
    outlooks = [(deletion, *_outlook(bench, deletion, level)) for deletion in found]
    fitting = [d for d, low, high in outlooks if low <= wanted[1] and high >= wanted[0]]
    if not fitting:
        told = " or ".join(f"{low:.2f} to {high:.2f} ({d.mode})" for d, low, high in outlooks)
        raise Rejected(Reason.DIFFICULTY, _not_in(told, wanted))
    return fitting


def _outlook(bench: Workbench, deletion: Deletion, level: Level) -> tuple[float, float]:
    """Return the lowest and the highest prior that some of the predicted tests can give."""
    most = rate(bench, deletion, deletion.feature.tests, level)
    least = most.model_copy(update={"joint": 0.0, "tests": 1})
    most = most.model_copy(update={"joint": 1.0})
    return _prior(least, level, deletion.mode), _prior(most, level, deletion.mode)


def demand_within(found: Difficulty, wanted: tuple[float, float]) -> None:
    """Refuse a task whose prior is not in the range.

    Raises:
        Rejected: ``difficulty``.
    """
    if not wanted[0] <= found.prior <= wanted[1]:
        raise Rejected(Reason.DIFFICULTY, _not_in(f"{found.prior:.3f}", wanted))


def _not_in(told: str, wanted: tuple[float, float]) -> str:
    return f"prior {told}; wanted: {wanted[0]:g} to {wanted[1]:g}"


def _prior(facts: Difficulty, level: Level, mode: str) -> float:
    values = {
        "lines": math.log(1 + facts.lines),
        "branches": math.log(1 + facts.branches),
        "call_sites": math.log(1 + facts.call_sites),
        "tests": math.log(1 + facts.tests),
        "symbols": min(facts.symbols, _MOST_SYMBOLS) - 1,
        "files": min(facts.files, _MOST_FILES) - 1,
        "joint": facts.joint,
    }
    score = _BIAS + sum(_WEIGHTS[name] * value for name, value in values.items())
    return round(1 / (1 + math.exp(-(score + _LEVELS[level] + _MODES[mode]))), 3)
