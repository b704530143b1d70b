"""The table of tasks of the page: it can be sorted and filtered, and read without that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codeenv_harness.report import words
from codeenv_harness.report.facts import STATUSES, RunFacts, TaskResult
from codeenv_harness.report.markup import Child, Html, scrolled, tag, together

MOST = 5000
"""Rows of the table; the JSON has all."""
_CAPTION = "Tasks, one row for each run that played them"
_ERROR = 160


@dataclass(frozen=True)
class _Cell:
    """A cell; a number is sorted as one."""

    text: str
    value: float | None = None
    numeric: bool = False


def task_table(runs: Sequence[RunFacts]) -> Html:
    """Return the table with what filters it."""
    every = [(run, task) for run in runs for task in run.tasks]
    shown, names = every[:MOST], [words.visible(run.name) for run in runs]
    errors = any(task.error for _, task in shown)
    headings = ["task", "run", "solved", "of", "outcome", "reward", "tokens", "cost", "steps"]
    headings += ["effort", "difficulty", "tier", *(["error"] if errors else [])]
    head = tag("tr", *(_heading(heading) for heading in headings))
    body = (_row(run, task, errors) for run, task in shown)
    drawn = tag(
        "table",
        tag("caption", _CAPTION),
        tag("thead", head),
        tag("tbody", *body),
        id="task-table",
    )
    left = len(every) - len(shown)
    more = [tag("p", f"{left:,} more rows are in the JSON alone.", class_="none")] if left else []
    return together([_filters(names), scrolled(_CAPTION, drawn), *more])


def _heading(title: str) -> Html:
    return tag("th", tag("button", title, type="button"), scope="col", aria_sort="none")


def _row(run: RunFacts, task: TaskResult, errors: bool) -> Html:
    first = tag("th", words.visible(task.task_id), scope="row")
    cells = [*_cells(run, task)]
    if errors:
        cells.append(_Cell(words.visible(task.error, _ERROR)))
    return tag("tr", first, *map(_cell, cells))


def _cells(run: RunFacts, task: TaskResult) -> Iterator[_Cell]:
    yield _Cell(words.visible(run.name))
    yield _number(task.resolved)
    yield _number(task.valid)
    yield _Cell(task.status)
    yield _number(task.reward, 2)
    yield _number(task.tokens)
    yield _Cell(words.money(task.cost), task.cost, numeric=True)
    yield _number(task.steps, 1)
    yield _number(task.effort, 2)
    yield _Cell(task.level or words.NONE, task.prior, numeric=True)
    yield _Cell(task.tier or words.NONE)


def _number(value: float | None, digits: int = 0) -> _Cell:
    return _Cell(words.number(value, digits), value, numeric=True)


def _cell(cell: _Cell) -> Html:
    if not cell.numeric:
        return tag("td", cell.text)
    value = "" if cell.value is None else f"{cell.value:.6g}"
    return tag("td", cell.text, class_="n", data_value=value)


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
