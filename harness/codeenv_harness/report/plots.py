"""The plots of a report; runs are told apart by number, colour and shape."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codeenv_harness.report import words
from codeenv_harness.report.drawing import BACK, MARKERS, SERIES, drawn
from codeenv_harness.report.facts import Figure, Part, Report, RunFacts

_LABELS = 12
"""So many bars a plot has at most; the table beside it has all."""
_HIGHEST = 16.0
"""Inches of a plot with many bars, which then have no numbers."""
_DOTS = 2000
"""So many dots of tasks a plot has at most; with more it has lines alone."""
Runs = Sequence[RunFacts]


@dataclass(frozen=True)
class Plot:
    """A plot and what it says.

    Attributes:
        name: Of letters.
        title: Of its section.
        told: What is seen, in words, for those who do not see it.
        svg: The plot; empty where nothing is known that could be drawn.
        missing: What could not be drawn, and why.
    """

    name: str
    title: str
    told: str
    svg: str
    missing: str = ""


def plots_of(report: Report) -> tuple[Plot, ...]:
    """Return the plots of a report, in the order of its page.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    return tuple(make(report.runs) for make in _ALL)


def _against_tokens(runs: Runs) -> Plot:
    title = "Score against completion tokens"
    known = [run for run in runs if run.score and run.tokens]
    label = "median completion tokens of a rollout"
    missing = "No run recorded its tokens."
    return _scatter("tokens", title, (runs, lambda run: run.tokens, label), known, missing)


def _against_cost(runs: Runs) -> Plot:
    title = "Score against cost"
    known = [run for run in runs if run.score and run.cost]
    label = "median cost of a rollout, USD"
    missing = "No run recorded its cost; --prices FILE says what tokens cost."
    return _scatter("cost", title, (runs, lambda run: run.cost, label), known, missing)


def _scatter(
    name: str,
    title: str,
    across: tuple[Runs, Callable[[RunFacts], Figure | None], str],
    known: Runs,
    missing: str,
) -> Plot:
    runs, figure_of, label = across
    if not known:
        return Plot(name, title, "", "", missing)

    def draw(axes: Any) -> None:  # noqa: ANN401 - matplotlib has no types where it is missing
        for number, run in enumerate(runs):
            x, y = figure_of(run), run.score
            if x is None or y is None:
                continue
            colour, marker = _look(number)
            axes.errorbar(
                [x.value], [100 * y.value], xerr=_bars(x), yerr=_bars(y, 100),
                color=colour, marker=marker, markersize=8, capsize=4, linewidth=1.4,
            )  # fmt: skip
            axes.annotate(
                str(number + 1), (x.value, 100 * y.value), (7, 6), textcoords="offset points"
            )
        axes.set_xlabel(label)
        axes.set_xlim(left=0)
        _percent(axes, "pass@1")

    told = "; ".join(f"{_name(runs, run)}: {words.score(run.score)}" for run in known)
    left = [_name(runs, run) for run in runs if run not in known]
    lacks = f"Not drawn, for it is not known: {', '.join(left)}." if left else ""
    return Plot(name, title, told, drawn(name, draw), lacks)


def _passes(runs: Runs) -> Plot:
    title = "Pass@k"
    if not any(run.score for run in runs):
        return Plot("passes", title, "", "", "No rollout is valid.")
    ks = sorted({one.k for run in runs for one in run.passes if one.figure})
    if len(ks) < 2:
        return Plot("passes", title, "", "", "No task has more than one valid rollout.")

    def draw(axes: Any) -> None:  # noqa: ANN401
        for number, run in enumerate(runs):
            found = [(one.k, one.figure) for one in run.passes if one.figure]
            _line(axes, number, len(runs), [(math.log2(k), figure) for k, figure in found])
        axes.set_xticks([math.log2(k) for k in ks], [str(k) for k in ks])
        axes.set_xlabel("k, tries")
        _percent(axes, "pass@k")

    told = "; ".join(
        f"{_name(runs, run)}: "
        + ", ".join(f"k = {one.k} {words.score(one.figure)}" for one in run.passes)
        for run in runs
    )
    return Plot("passes", title, told, drawn("passes", draw))


def _difficulty(runs: Runs) -> Plot:
    title = "Solved by difficulty"
    names = sorted({part.name for run in runs for part in run.levels if part.rate})
    if not names:
        return Plot("difficulty", title, "", "", _UNKNOWN)

    def draw(axes: Any) -> None:  # noqa: ANN401
        for number, run in enumerate(runs):
            found = [(names.index(part.name), part.rate) for part in run.levels if part.rate]
            _line(axes, number, len(runs), found)
        _ticks(axes, names)
        _percent(axes, "pass@1")

    return Plot("difficulty", title, _by_level(runs, _rate), drawn("difficulty", draw))


def _effort(runs: Runs) -> Plot:
    title = "Effort by difficulty"
    if not any(part.effort is not None for run in runs for part in run.levels):
        return Plot("effort", title, "", "", _UNKNOWN)
    dots = [[t for t in run.tasks if t.effort and t.prior is not None] for run in runs]

    def draw(axes: Any) -> None:  # noqa: ANN401
        for number, of in enumerate(dots):
            colour, marker = _look(number)
            if sum(map(len, dots)) <= _DOTS:
                x, y = [task.prior for task in of], [task.effort for task in of]
                axes.plot(x, y, marker, color=colour, markersize=4, alpha=0.4)
            levels = sorted({task.level for task in of})
            middle = [[t for t in of if t.level == level] for level in levels]
            x = [statistics.fmean(t.prior or 0.0 for t in level) for level in middle]
            y = [statistics.median(t.effort or 0.0 for t in level) for level in middle]
            axes.plot(x, y, marker=marker, color=colour, markersize=8, markeredgecolor=BACK)
            for at in zip(x[-1:], y[-1:], strict=True):
                axes.annotate(str(number + 1), at, (8, -3), textcoords="offset points")
        axes.set_yscale("log")
        for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            which(_plain_number)
        axes.set_xlim(-0.03, 1.05)
        axes.set_xlabel("prior probability of failure")
        axes.set_ylabel("median effort, 1,000 tokens")

    told = f"{_by_level(runs, _spent)}. A dot is a task, a line joins the fifths of difficulty"
    return Plot("effort", title, told, drawn("effort", draw))


def _reasons(runs: Runs) -> Plot:
    counts = [dict(run.reasons) for run in runs]
    return _bars_of("reasons", "Failures by reason", runs, counts, "Every rollout was resolved.")


def _findings(runs: Runs) -> Plot:
    counts = [{found.label: found.rollouts for found in run.findings} for run in runs]
    looked = any(run.monitored for run in runs)
    missing = "The monitor found nothing." if looked else "No run was played with --monitor."
    return _bars_of("findings", "Monitor findings", runs, counts, missing)


def _bars_of(
    name: str, title: str, runs: Runs, counts: Sequence[Mapping[str, int]], missing: str
) -> Plot:
    totals = {label: 0 for of in counts for label in of}
    for of in counts:
        for label, count in of.items():
            totals[label] += count
    labels = sorted(totals, key=lambda label: (-totals[label], label))[:_LABELS]
    if not labels:
        return Plot(name, title, "", "", missing)
    thick = 0.8 / len(runs)
    height = min(_HIGHEST, 1.2 + len(labels) * (0.1 + 0.22 * len(runs)))

    def draw(axes: Any) -> None:  # noqa: ANN401
        for number, of in enumerate(counts):
            at = [place + (number - (len(runs) - 1) / 2) * thick for place in range(len(labels))]
            width = [of.get(label, 0) for label in labels]
            bars = axes.barh(at, width, thick * 0.9, color=_look(number)[0])
            if height < _HIGHEST:
                axes.bar_label(bars, [f"{n} ({number + 1})" if n else "" for n in width], padding=3)
        axes.set_yticks(range(len(labels)), [_ascii(label) for label in labels])
        axes.invert_yaxis()
        axes.margins(x=0.12)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("rollouts")

    told = "; ".join(
        f"{_name(runs, run)}: "
        + (", ".join(f"{la} {of[la]}" for la in labels if la in of) or "none")
        for run, of in zip(runs, counts, strict=True)
    )
    return Plot(name, title, told, drawn(name, draw, height=height))


def _ascii(label: str) -> str:
    """Return what every font has of a label."""
    return words.visible(label.encode("ascii", "backslashreplace").decode(), 32)


def _line(axes: Any, number: int, runs: int, found: Sequence[tuple[float, Figure | None]]) -> None:  # noqa: ANN401
    """Draw one run's points and bars, moved a little so that bars do not hide each other."""
    colour, marker = _look(number)
    moved = (number - (runs - 1) / 2) * min(0.06, 0.3 / runs)
    known = [(x + moved, figure) for x, figure in found if figure is not None]
    axes.plot(
        [x for x, _ in known], [100 * figure.value for _, figure in known],
        color=colour, marker=marker, markersize=7, linewidth=1.6,
    )  # fmt: skip
    for x, figure in known:
        bars = _bars(figure, 100)
        axes.errorbar([x], [100 * figure.value], yerr=bars, color=colour, capsize=3, linewidth=1)
    for x, figure in known[-1:]:
        axes.annotate(str(number + 1), (x, 100 * figure.value), (8, -4), textcoords="offset points")


def _look(number: int) -> tuple[str, str]:
    return SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]


def _bars(figure: Figure, scale: float = 1.0) -> list[list[float]] | None:
    """Return the lengths of both halves of a bar."""
    if figure.low is None or figure.high is None:
        return None
    ends = (figure.value - figure.low, figure.high - figure.value)
    return [[max(0.0, scale * end)] for end in ends]


def _plain_number(value: float, _place: int) -> str:
    """Tell 1, 2 and 5 times a power of ten; the other lines of a logarithm say nothing."""
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""


def _percent(axes: Any, label: str) -> None:  # noqa: ANN401
    axes.set_ylim(-4, 104)
    axes.set_yticks(range(0, 101, 20), [f"{share}%" for share in range(0, 101, 20)])
    axes.set_ylabel(label)


def _ticks(axes: Any, names: Sequence[str]) -> None:  # noqa: ANN401
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xlabel("difficulty, fifths of the prior probability of failure")


def _by_level(runs: Runs, tell: Callable[[Part], str]) -> str:
    return "; ".join(
        f"{_name(runs, run)}: " + ", ".join(f"{part.name} {tell(part)}" for part in run.levels)
        for run in runs
    )


def _rate(part: Part) -> str:
    return words.score(part.rate)


def _spent(part: Part) -> str:
    return words.number(part.effort, 2)


def _name(runs: Runs, run: RunFacts) -> str:
    return f"{runs.index(run) + 1} {run.name}"


_UNKNOWN = "The difficulty of no task is known; --tasks TASKS says what was played."
_ALL = (_against_tokens, _against_cost, _passes, _difficulty, _effort, _reasons, _findings)
