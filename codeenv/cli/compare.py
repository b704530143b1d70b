"""``codeenv compare``: is a run worse than the one before?"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codeenv.cli.options import Subparsers, command, share
from codeenv.cli.recorded import check_target
from codeenv.cli.terminal import Terminal, plain, table
from codeenv.errors import UsageError
from codeenv_harness.baselines import Scores, TaskScore, read_scores, write_baseline
from codeenv_harness.gate import REGRESSIONS, Comparison, Status, TaskDifference, compare

_NAMED = 5
"""So many tasks are named in a sentence; the table has all."""
_SAID: Mapping[Status, str] = {
    "regressed": "always passed before and fail now",
    "missing": "are not in the new run",
    "invalid": "have fewer valid rewards than before",
    "changed": "were played from another recipe and cannot be compared",
    "unknown": "have no valid reward in the base and cannot be compared",
    "new": "are only in the new run",
}
_ORDER: tuple[Status, ...] = (*_SAID, "worse", "better")
_SHOWN = frozenset(_ORDER)


@dataclass(frozen=True)
class _Pair:
    """A run and the one before, by name; one of them may be missing."""

    name: str
    base: Scores | None
    run: Scores | None
    found: Comparison | None

    @property
    def regression(self) -> bool:
        return self.run is None or (self.found is not None and self.found.regression)


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "compare", run)
    told = "run folder, benchmark's run folder, baseline file or shipped baseline"
    parser.add_argument("base", metavar="BASE", help=told)
    parser.add_argument("run_", metavar="RUN", nargs="?", help="the new one, likewise")
    parser.add_argument(
        "--fail-on-regression", action="store_true", help="exit with 1 if RUN is worse"
    )
    parser.add_argument(
        "--tolerance",
        type=share,
        default=0.0,
        metavar="T",
        help="what is no regression of a task yet: a share of its rollouts (default: 0)",
    )
    parser.add_argument(
        "--mean-tolerance",
        type=share,
        default=0.0,
        metavar="T",
        help="what is no regression of the mean reward yet (default: 0: what chance explains)",
    )
    parser.add_argument("--agent", metavar="NAME", help="compare only the runs of this name")
    parser.add_argument(
        "--write-baseline", type=Path, metavar="FILE", help="write RUN (else BASE) to compare with"
    )


def run(args: argparse.Namespace) -> int:
    """Compare; 1 if that was asked for and there is a regression."""
    terminal = Terminal(args.json)
    if args.write_baseline is not None:
        check_target(args.write_baseline)
    base = _chosen(args.base, args.agent)
    if args.run_ is None:
        if args.write_baseline is None:
            raise UsageError("RUN is missing", hint="codeenv compare BASE RUN")
        _write(terminal, args.write_baseline, base)
        return 0
    new = _chosen(args.run_, args.agent)
    pairs = _pairs(base, new, (args.tolerance, args.mean_tolerance))
    _check_comparable(pairs)
    regression = any(pair.regression for pair in pairs)
    terminal.data({"regression": regression, "runs": [_facts(pair) for pair in pairs]})
    for pair in pairs:
        _tell(terminal, pair)
    failed = regression and args.fail_on_regression
    if args.write_baseline is not None and not failed:
        _write(terminal, args.write_baseline, new)
    return 1 if failed else 0


def _chosen(where: str, agent: str | None) -> Mapping[str, Scores]:
    runs = read_scores(where)
    if agent is None:
        return runs
    if agent not in runs:
        raise UsageError(
            f"there is no run {agent!r} in {where}", hint=f"there is: {', '.join(sorted(runs))}"
        )
    return {agent: runs[agent]}


def _pairs(
    base: Mapping[str, Scores], new: Mapping[str, Scores], tolerances: tuple[float, float]
) -> tuple[_Pair, ...]:
    """Match by name; two runs that are each alone are compared whoever played them."""
    if len(base) == len(new) == 1:
        (name,), (before,) = new, base.values()
        base = {name: before}
    pairs = []
    for name in sorted({*base, *new}):
        old, run = base.get(name), new.get(name)
        both = None if old is None or run is None else compare(old, run, *tolerances)
        pairs.append(_Pair(name, old, run, both))
    return tuple(pairs)


def _check_comparable(pairs: tuple[_Pair, ...]) -> None:
    """Refuse what has nothing in common: neither verdict would be true.

    Raises:
        UsageError: If no run or no task is in both, or no task of any run can be compared.
    """
    found = [pair.found for pair in pairs if pair.found is not None]
    if not found:
        raise UsageError(
            "no run of BASE has a run of the same name in RUN",
            hint="--agent NAME chooses one of each",
        )
    tasks = [task for comparison in found for task in comparison.tasks]
    if not any(task.base and task.run for task in tasks):
        raise UsageError(
            "BASE and RUN have no task in common", hint="compare runs of the same tasks"
        )
    for pair in pairs:
        known = [task for task in pair.found.tasks if task.base] if pair.found else []
        blind = sum(task.status in ("changed", "unknown") for task in known)
        if 2 * blind > len(known):
            raise UsageError(
                f"{pair.name}: {blind} of {len(known)} tasks cannot be compared: other recipes, or "
                "no valid reward in BASE",
                hint="make a new baseline: codeenv compare RUN --write-baseline FILE",
            )


def _tell(terminal: Terminal, pair: _Pair) -> None:
    if pair.found is None:
        side = "the new run" if pair.run is None else "the base"
        terminal.note(f"{pair.name}: not in {side}", "red" if pair.run is None else "")
        return
    found = pair.found
    for name, before, now in _differences(pair):
        terminal.note(
            f"{pair.name}: played differently: {name} {before} before, {now} now", "yellow"
        )
    rows = [_row(task) for task in _sorted(found) if task.status in _SHOWN]
    if rows:
        headings = ("task", "", "reward before", "now", "valid before", "now")
        terminal.aside(table(headings, rows))
    for status, said in _SAID.items():
        if ids := found.of_status(status):
            word = "regression: " if status in REGRESSIONS else ""
            terminal.note(f"{word}{len(ids)} {said}: {_names(ids)}", "red" if word else "")
    if found.fell:
        terminal.note("regression: the mean reward fell", "red")
    verdict = "REGRESSION" if found.regression else "no regression"
    terminal.note(
        f"{pair.name}: {verdict}, {found.test.pairs} tasks compared, {_numbers(found)}",
        "bold red" if found.regression else "green",
    )


def _differences(pair: _Pair) -> list[tuple[str, object, object]]:
    """Return what a run was asked for, where that is not the same in both."""
    if pair.base is None or pair.run is None or not pair.base.how or not pair.run.how:
        return []
    before, now = pair.base.how, pair.run.how
    names = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    found = [(name, before.get(name), now.get(name)) for name in names]
    same = pair.base.agent == pair.run.agent
    return found if same else [("agent", pair.base.agent, pair.run.agent), *found]


def _numbers(found: Comparison) -> str:
    test = found.test
    known = test.low is not None and test.high is not None and test.low < test.high
    interval = f"95% {test.low:+.3f} to {test.high:+.3f}" if known else "no interval"
    fall = min(test.p_fall, found.chance)
    return f"mean reward {test.mean:+.3f} ({interval}), p of a fall {fall:.3g}"


def _sorted(found: Comparison) -> list[TaskDifference]:
    places = {status: place for place, status in enumerate(_ORDER)}
    return sorted(found.tasks, key=lambda t: (places.get(t.status, len(places)), t.task_id))


def _row(task: TaskDifference) -> tuple[object, ...]:
    base, new = task.base, task.run
    return (task.task_id, task.status, _mean(base), _mean(new), _valid(base), _valid(new))


def _mean(score: TaskScore | None) -> str:
    return f"{score.mean_reward:.2f}" if score and score.valid else "-"


def _valid(score: TaskScore | None) -> str:
    return f"{score.valid}/{score.rollouts}" if score else "-"


def _names(ids: tuple[str, ...]) -> str:
    more = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _facts(pair: _Pair) -> dict[str, object]:
    facts: dict[str, object] = {
        "name": pair.name,
        "regression": pair.regression,
        "base": _who(pair.base),
        "run": _who(pair.run),
    }
    if pair.found is not None:
        compared = plain(pair.found)
        facts |= compared if isinstance(compared, dict) else {}
    return facts


def _who(scores: Scores | None) -> dict[str, str] | None:
    return {"agent": scores.agent, "codeenv": scores.codeenv} if scores else None


def _write(terminal: Terminal, path: Path, runs: Mapping[str, Scores]) -> None:
    for name, scores in sorted(runs.items()):
        if few := sum(task.valid < task.rollouts for task in scores.tasks.values()):
            terminal.note(f"{name}: {few} tasks have rollouts without a valid reward", "yellow")
    write_baseline(path, runs)
    terminal.note(f"the baseline is in {path}")
