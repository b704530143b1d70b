"""From the folders of runs to the facts of a report."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codeenv.errors import UsageError
from codeenv.tasks.models import Recipe
from codeenv.wrappers.effort import DEFAULT_WEIGHTS
from codeenv_harness.curriculum.recipes import difficulty_level
from codeenv_harness.effort import EffortRecord, calibrate, effort_of_trajectory
from codeenv_harness.metrics import (
    Behaviour,
    Usage,
    behaviour_of,
    bootstrap,
    grouped,
    mean,
    median,
    pass_by_task,
    pass_curve,
    summarise_behaviour,
    usage_of,
)
from codeenv_harness.metrics.intervals import Statistic
from codeenv_harness.prices import Price
from codeenv_harness.records import Key, RolloutRecord
from codeenv_harness.report.facts import (
    Figure,
    FindingCount,
    Part,
    PassFigure,
    Report,
    RunFacts,
    Status,
    TaskResult,
)
from codeenv_harness.report.places import RunPlace
from codeenv_harness.report.sizes import sizes_of

Records = Sequence[RolloutRecord]
Numbers = Mapping[Key, float]
"""A number of each rollout of which it is known."""
_MOST = 1e15


def collect(
    places: Iterable[RunPlace],
    recipes: Mapping[str, Mapping[str, Recipe]],
    prices: Mapping[str, Price] | None = None,
) -> Report:
    """Return what runs gave.

    Args:
        places: From ``find_runs``.
        recipes: Name of a run -> task id -> recipe, as far as they are known.
        prices: What models cost, for rollouts whose cost is not recorded.

    Raises:
        UsageError: If nothing has ended in any of the runs, or a record cannot be read.
    """
    runs = [
        _run(place, _read(place, recipes.get(place.name, {}), prices or {})) for place in places
    ]
    if not any(run.rollouts for run in runs):
        raise UsageError(
            "there are no finished rollouts in what was named",
            hint="go on with it: codeenv run … --resume",
        )
    return Report(tuple(runs))


@dataclass(frozen=True)
class _Read:
    """What the files of a run say."""

    records: Records
    usage: Mapping[Key, Usage]
    effort: Numbers
    behaviour: Sequence[Behaviour]
    recipes: Mapping[str, Recipe]

    @cached_property
    def valid(self) -> Records:
        return [record for record in self.records if record.reward_valid]

    @cached_property
    def steps(self) -> Numbers:
        return _known({record.key: record.n_steps for record in self.records})

    @cached_property
    def tokens(self) -> Numbers:
        return _known({key: usage.completion_tokens for key, usage in self.usage.items()})

    @cached_property
    def costs(self) -> Numbers:
        return _known({key: usage.cost_usd for key, usage in self.usage.items()})


def _read(place: RunPlace, recipes: Mapping[str, Recipe], prices: Mapping[str, Price]) -> _Read:
    records = tuple(map(_checked, place.folder.records()))
    usage: dict[Key, Usage] = {}
    effort: dict[Key, float] = {}
    behaviour: list[Behaviour] = []
    for record in records:
        try:
            trajectory = place.folder.trajectory(record.key) if record.reward_valid else None
            if trajectory is not None:
                usage[record.key] = usage_of(trajectory, prices)
                effort[record.key] = DEFAULT_WEIGHTS.of(effort_of_trajectory(trajectory))
                behaviour.append(behaviour_of(trajectory))
        except (UsageError, OverflowError, ValueError, OSError):
            continue  # counted as unread, whatever its name or its numbers are
    return _Read(records, usage, effort, behaviour, recipes)


def _known(numbers: Mapping[Key, float | None]) -> Numbers:
    return {k: float(v) for k, v in numbers.items() if v is not None and _sane(v)}


def _sane(number: float) -> bool:
    """Return whether sums of such numbers are numbers; what a run says may be anything."""
    return abs(number) <= _MOST


def _checked(record: RolloutRecord) -> RolloutRecord:
    """Return a record whose reward no mean can use as one without a valid reward."""
    if _sane(record.reward):
        return record
    return record.model_copy(update={"reward": 0.0, "reward_valid": False})


def _run(place: RunPlace, read: _Read) -> RunFacts:
    manifest, valid = place.manifest, read.valid
    asked = len(manifest.recipes) * manifest.rollouts if manifest else 0
    known = [record for record in read.records if record.task_id in read.recipes]
    return RunFacts(
        name=place.name,
        agent=manifest.agent if manifest else "",
        codeenv=manifest.codeenv if manifest else "",
        rollouts=len(read.records),
        missing=max(0, asked - len(read.records)),
        valid=len(valid),
        resolved=sum(record.resolved for record in valid),
        passes=_passes(read.records),
        reward=_figure(valid, {record.key: record.reward for record in valid}, mean),
        tokens=_figure(valid, read.tokens, median),
        cost=_figure(valid, read.costs, median),
        cost_total=math.fsum(read.costs.values()) if read.costs else None,
        steps=_figure(valid, read.steps, median),
        truncated=sum(record.truncated for record in valid) / len(valid) if valid else None,
        unread=sum(record.key not in read.usage for record in valid),
        reasons=_counted(r.reason for r in read.records if not (r.reward_valid and r.resolved)),
        monitored=sum(record.monitor is not None for record in read.records),
        actions=_counted(r.monitor.action for r in read.records if r.monitor is not None),
        findings=_findings(read.records),
        tiers=_parts(read, grouped(known, lambda r: read.recipes[r.task_id].tier)),
        levels=_parts(read, grouped(known, lambda r: difficulty_level(read.recipes[r.task_id]))),
        unknown=len({record.task_id for record in read.records} - set(read.recipes)),
        effort=calibrate(_efforts(place, read)) if known else None,
        sizes=sizes_of([*read.usage.values()], _instructions(read), read.recipes.values()),
        behaviour=summarise_behaviour(read.behaviour) if read.behaviour else None,
        tasks=tuple(
            _task(task_id, of, read)
            for task_id, of in grouped(read.records, lambda r: r.task_id).items()
        ),
    )


def _figure(valid: Records, numbers: Numbers, statistic: Statistic) -> Figure | None:
    """Return a mean or median over the valid rollouts of which a number is known."""
    tasks: defaultdict[str, list[float]] = defaultdict(list)
    for record in valid:
        if record.key in numbers:
            tasks[record.task_id].append(numbers[record.key])
    every = [value for values in tasks.values() for value in values]
    if not every:
        return None
    value = math.fsum(every) / len(every) if statistic is mean else statistics.median(every)
    return Figure(float(value), *_ends(tasks, statistic), rollouts=len(every))


def _ends(
    tasks: Mapping[str, float | Sequence[float]], statistic: Statistic = mean
) -> tuple[float | None, float | None]:
    """Return the interval; tasks that are all alike do not say how they differ."""
    found = bootstrap(tasks, statistic)
    if found is None or found.low == found.high:
        return None, None
    return found.low, found.high


def _passes(records: Records) -> tuple[PassFigure, ...]:
    of_task = Counter(record.task_id for record in records if record.reward_valid)
    most = max(of_task.values(), default=1)
    tries = {1, most, *(1 << n for n in range(most.bit_length()))}
    return tuple(_pass(records, k) for k in sorted(tries))


def _pass(records: Records, k: int) -> PassFigure:
    (point,) = pass_curve(records, (k,))
    figure = None
    if point.pass_at_k is not None:
        figure = Figure(point.pass_at_k, *_ends(pass_by_task(records, k)), rollouts=point.rollouts)
    return PassFigure(k, figure, point.tasks, point.left_out)


def _findings(records: Records) -> tuple[FindingCount, ...]:
    groups: dict[str, str] = {}
    seen: Counter[str] = Counter()
    effective: Counter[str] = Counter()
    for record in records:
        found = record.monitor.findings if record.monitor is not None else ()
        groups |= {finding.label: finding.group for finding in found}
        seen.update({finding.label for finding in found})
        effective.update({finding.label for finding in found if finding.succeeded})
    ordered = sorted(seen, key=lambda label: (-seen[label], label))
    return tuple(FindingCount(la, groups[la], seen[la], effective[la]) for la in ordered)


def _parts(read: _Read, parts: Mapping[str, Records]) -> tuple[Part, ...]:
    return tuple(_part(name, records, read) for name, records in parts.items())


def _part(name: str, records: Records, read: _Read) -> Part:
    valid = [record for record in records if record.reward_valid]
    return Part(
        name=name,
        tasks=len({record.task_id for record in records}),
        rollouts=len(records),
        valid=len(valid),
        resolved=sum(record.resolved for record in valid),
        rate=_pass(records, 1).figure,
        effort=_median(valid, read.effort),
    )


def _efforts(place: RunPlace, read: _Read) -> list[EffortRecord]:
    most = max(1.0, min(place.manifest.max_steps, _MOST)) if place.manifest else None
    return [
        EffortRecord(
            task_id=record.task_id,
            difficulty=read.recipes[record.task_id].difficulty.prior,
            effort=read.effort[record.key],
            solved=record.resolved,
            finished=record.terminated,
            budget_left=max(0.0, 1 - read.steps[record.key] / most) if most else 0.0,
        )
        for record in read.valid
        if record.key in read.effort and record.key in read.steps and record.task_id in read.recipes
    ]


def _instructions(read: _Read) -> dict[str, int]:
    found = ((key[0], usage.instruction_words) for key, usage in read.usage.items())
    return {task_id: words for task_id, words in found if words is not None}


def _task(task_id: str, records: Records, read: _Read) -> TaskResult:
    valid = [record for record in records if record.reward_valid]
    resolved = sum(record.resolved for record in valid)
    recipe = read.recipes.get(task_id)
    errors = [record.error for record in records if not record.reward_valid]
    return TaskResult(
        task_id=task_id,
        status=_status(resolved, len(valid)),
        rollouts=len(records),
        valid=len(valid),
        resolved=resolved,
        reward=math.fsum(record.reward for record in valid) / len(valid) if valid else None,
        tokens=_median(valid, read.tokens),
        cost=_median(valid, read.costs),
        steps=_median(valid, read.steps),
        effort=_median(valid, read.effort),
        tier=recipe.tier if recipe else "",
        level=difficulty_level(recipe) if recipe else "",
        prior=recipe.difficulty.prior if recipe else None,
        error=errors[-1] if errors else "",
    )


def _status(resolved: int, valid: int) -> Status:
    if not valid:
        return "not valid"
    if not resolved:
        return "never"
    return "always" if resolved == valid else "sometimes"


def _median(records: Records, numbers: Numbers) -> float | None:
    found = [numbers[record.key] for record in records if record.key in numbers]
    return float(statistics.median(found)) if found else None


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))
