"""A report as Markdown, for a terminal, a comment or the summary of a CI job."""

import re
from collections.abc import Callable, Iterable, Sequence

from codeenv_harness.report import words
from codeenv_harness.report.facts import STATUSES, FindingCount, Part, Report, RunFacts

NAMED = 10
"""So many tasks are named of each kind; the page and the JSON have all."""
Cell = Callable[[RunFacts], str]
Measures = Callable[[RunFacts], Sequence[tuple[str, str]]]
_HEAD: tuple[tuple[str, Cell], ...] = (
    ("valid rollouts", words.valid),
    ("pass@1 [95%]", lambda run: words.score(run.score)),
    ("pass@k [95%]", words.tries),
    ("mean reward", words.reward),
    ("median tokens", words.tokens),
    ("median cost, USD", words.cost),
    ("median steps", words.steps),
    ("truncated", lambda run: words.percent(run.truncated)),
)


def markdown(report: Report) -> str:
    """Return the report; text that comes from the runs stands in code spans and does nothing."""
    runs = report.runs
    blocks = [
        "# Report",
        f"Figures are over {report.over}. Intervals are 95%, by drawing tasks. "
        "Tokens are those that the agent wrote; what is not known is "
        f"{words.NONE} and never 0.",
        _overview(runs),
        *_notes(runs),
        *_section("Failures by reason", _reasons(runs)),
        *_section("Monitor findings", _findings(runs)),
        *_section("By tier", _parts(runs, lambda run: run.tiers, "tier")),
        *_section("By difficulty", _parts(runs, lambda run: run.levels, "difficulty")),
        *_section("Effort and difficulty", _measures(runs, words.effort)),
        *_section("Size of tasks and changes (medians)", _measures(runs, words.sizes)),
        *_section("Behaviour", _measures(runs, words.behaviour)),
        "## Tasks",
        *(block for run in runs for block in _tasks(run)),
    ]
    return "\n\n".join(blocks) + "\n"


def code(text: str) -> str:
    """Return a code span of text that may be anything; it can end no span, cell or line."""
    told = re.sub(r"[`|<]", lambda found: f"\\x{ord(found[0]):02x}", words.visible(text))
    return f"`{told or ' '}`"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown already."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _overview(runs: Sequence[RunFacts]) -> str:
    rows = [[code(run.name), *(cell(run) for _, cell in _HEAD)] for run in runs]
    return table(["run", *(title for title, _ in _HEAD)], rows)


def _notes(runs: Sequence[RunFacts]) -> list[str]:
    lines = [f"- {code(run.name)}: {note}" for run in runs for note in words.notes(run)]
    return ["\n".join(lines)] if lines else []


def _section(title: str, body: str) -> list[str]:
    return [f"## {title}", body] if body else []


def _across(first: str, runs: Sequence[RunFacts], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a column for each run; nothing if it has no row."""
    every = list(rows)
    return table([first, *(code(run.name) for run in runs)], every) if every else ""


def _reasons(runs: Sequence[RunFacts]) -> str:
    names = sorted({reason for run in runs for reason in run.reasons})
    rows = ([code(name), *(str(run.reasons.get(name, 0)) for run in runs)] for name in names)
    return _across("not resolved", runs, rows)


def _findings(runs: Sequence[RunFacts]) -> str:
    if not any(run.monitored for run in runs):
        return ""
    by_run = [{found.label: found for found in run.findings} for run in runs]
    labels = sorted({label for found in by_run for label in found})
    rows = [["rollouts looked at", *(str(run.monitored) for run in runs)]]
    rows += [[code(name), *(_finding(of.get(name)) for of in by_run)] for name in labels]
    return _across("finding", runs, rows)


def _finding(found: FindingCount | None) -> str:
    return f"{found.rollouts} ({found.succeeded} with effect)" if found else "0"


def _parts(
    runs: Sequence[RunFacts], parts: Callable[[RunFacts], Sequence[Part]], first: str
) -> str:
    by_run = [{part.name: part for part in parts(run)} for run in runs]
    names = sorted({name for found in by_run for name in found})
    rows = ([code(name), *(words.part(found.get(name)) for found in by_run)] for name in names)
    return _across(first, runs, rows)


def _measures(runs: Sequence[RunFacts], told: Measures) -> str:
    by_run = [dict(told(run)) for run in runs]
    titles = list(dict.fromkeys(title for found in by_run for title in found))
    rows = ([title, *(found.get(title, words.NONE) for found in by_run)] for title in titles)
    return _across("", runs, rows)


def _tasks(run: RunFacts) -> list[str]:
    rows = []
    for status in STATUSES:
        ids = run.of_status(status)
        if ids or status != "not valid":
            rows.append([f"solved {status}" if status != "not valid" else status, _names(ids)])
    lines = "\n".join(f"- {title}: {told}" for title, told in rows)
    return [f"### {code(run.name)}", lines]


def _names(ids: Sequence[str]) -> str:
    if not ids:
        return "0"
    more = len(ids) - NAMED
    names = ", ".join(map(code, ids[:NAMED])) + (f" and {more} more" if more > 0 else "")
    return f"{len(ids)} ({names})"
