"""The table of tasks of the page: it can be sorted and filtered, and read without that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeenv_harness.report import words
from codeenv_harness.report.facts import STATUSES, RunFacts, TaskResult
from codeenv_harness.report.markup import Child, Html, scrolled, tag, together

MOST = 5000
"""Rows of the table; the JSON has all."""
_CAPTION = "Tasks, one row for each run that played them"
_ERROR = 160


@dataclass(frozen=True)
class _Column:
    """A column; ``value`` is what a number is sorted by."""

    title: str
    tell: Callable[[RunFacts, TaskResult], str]
    value: Callable[[TaskResult], float | None] | None = None
    kind: str = ""


def _number(title: str, value: Callable[[TaskResult], float | None], digits: int = 0) -> _Column:
    return _Column(title, lambda _, task: words.number(value(task), digits), value, "n")


_COLUMNS = (
    _Column("run", lambda run, _: words.visible(run.name)),
    _number("solved", lambda task: task.resolved),
    _number("of", lambda task: task.valid),
    _Column("outcome", lambda _, task: task.status),
    _number("reward", lambda task: task.reward, 2),
    _number("tokens", lambda task: task.tokens),
    _Column("cost, USD", lambda _, task: words.money(task.cost), lambda task: task.cost, "n"),
    _number("steps", lambda task: task.steps, 1),
    _number("effort", lambda task: task.effort, 2),
    _Column("difficulty", lambda _, task: task.level, lambda task: task.prior, "n"),
    _Column("tier", lambda _, task: task.tier),
    _Column("error", lambda _, task: words.visible(task.error, _ERROR), kind="long"),
)


def task_table(runs: Sequence[RunFacts]) -> Html:
    """Return the table with what filters it; a column of which nothing is known is left out."""
    every = [(run, task) for run in runs for task in run.tasks]
    shown, names = every[:MOST], [words.visible(run.name) for run in runs]
    known = [c for c in _COLUMNS if any(c.tell(*row) not in ("", words.NONE) for row in shown)]
    head = tag("tr", *(_heading(title) for title in ("task", *(c.title for c in known))))
    drawn = tag(
        "table",
        tag("caption", _CAPTION),
        tag("thead", head),
        tag("tbody", *(_row(run, task, known) for run, task in shown)),
        id="task-table",
    )
    left = len(every) - len(shown)
    more = [tag("p", f"{left:,} more rows are in the JSON alone.", class_="none")] if left else []
    return together([_filters(names), scrolled(_CAPTION, drawn), *more])


def _heading(title: str) -> Html:
    return tag("th", tag("button", title, type="button"), scope="col", aria_sort="none")


def _row(run: RunFacts, task: TaskResult, columns: Sequence[_Column]) -> Html:
    first = tag("th", words.visible(task.task_id), scope="row")
    return tag("tr", first, *(_cell(run, task, column) for column in columns))


def _cell(run: RunFacts, task: TaskResult, column: _Column) -> Html:
    text = column.tell(run, task) or words.NONE
    if column.value is None:
        return tag("td", text, class_=column.kind or None)
    value = column.value(task)
    return tag("td", text, class_=column.kind, data_value="" if value is None else f"{value:.6g}")


def _filters(names: Sequence[str]) -> Html:
    """Return the filters; the page's script shows them, for without it they do nothing."""
    text = tag("input", type="search", id="filter-text", autocomplete="off")
    return tag(
        "form",
        _labelled("Task or error", "filter-text", text),
        _labelled("Outcome", "filter-outcome", _choice("filter-outcome", STATUSES)),
        _labelled("Run", "filter-run", _choice("filter-run", names)),
        tag("output", id="filter-count", for_="filter-text filter-outcome filter-run"),
        id="filters",
        hidden=True,
    )


def _labelled(title: str, of: str, control: Child) -> Html:
    return tag("div", tag("label", title, for_=of), control)


def _choice(name: str, values: Sequence[str]) -> Html:
    options = (tag("option", value, value=value) for value in values)
    return tag("select", tag("option", "all", value=""), *options, id=name)
