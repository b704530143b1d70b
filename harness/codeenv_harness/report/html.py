"""A report as one page that needs nothing else: no network, no other file, no store."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files

from codeenv_harness.report import words
from codeenv_harness.report.facts import FindingCount, Part, Report, RunFacts
from codeenv_harness.report.markup import Child, Html, table, tag, together
from codeenv_harness.report.plots import Plot, plots_of
from codeenv_harness.report.tasks import task_table

_SHAPES = "●■▲◆▼✚✖★"
"""As ``drawing.MARKERS``."""
Runs = Sequence[RunFacts]
Measures = Callable[[RunFacts], Sequence[tuple[str, str]]]


def page(report: Report) -> str:
    """Return the page; the same report gives the same bytes.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    runs = report.runs
    beside = {
        "passes": _passes(runs),
        "difficulty": _parts(runs, [run.levels for run in runs], "difficulty"),
        "effort": _measures(runs, words.effort, "Whether effort follows difficulty"),
        "reasons": _reasons(runs),
        "findings": _findings(runs),
    }
    tiers = _parts(runs, [run.tiers for run in runs], "tier")
    sizes = _measures(runs, words.sizes, "Medians: of the tasks, then of the valid rollouts")
    conduct = _measures(runs, words.behaviour, "What agents did in valid rollouts")
    sections = [
        _section("Overview", _overview(runs), _notes(runs), name="overview"),
        *(_plot(plot, runs, beside.get(plot.name, ())) for plot in plots_of(report)),
        *([_section("Solved by tier", *tiers, name="tiers")] if tiers else []),
        *([_section("Size of tasks and changes", *sizes, name="sizes")] if sizes else []),
        *([_section("Behaviour", *conduct, name="behaviour")] if conduct else []),
        _section("Tasks", task_table(runs), name="tasks"),
    ]
    lead = tag(
        "p",
        f"Figures are over {report.over}, unless they say otherwise. Intervals are 95%, by drawing "
        f"tasks. Tokens are those that the agent wrote. What is not known is {words.NONE}.",
    )
    body = tag(
        "body",
        tag("a", "To the figures", href="#main", class_="skip"),
        tag("header", tag("h1", "Report"), lead),
        tag("main", *sections, id="main"),
        tag("script", _asset("page.js")),
    )
    document = tag("html", _head(), body, lang="en")
    return f"<!DOCTYPE html>\n{document.text}\n"


def _head() -> Html:
    style = together([_asset("colours.css"), _asset("page.css")])
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", "codeenv report"),
        tag("style", style),
    )


def _asset(name: str) -> Html:
    """Return a file that lies beside this module; it is ours, so it goes in as it is."""
    return Html(files("codeenv_harness.report").joinpath(name).read_text("utf-8"))


def _section(title: str, *inner: Child, name: str) -> Html:
    return tag("section", tag("h2", title, id=name), *inner, aria_labelledby=name)


def _plot(plot: Plot, runs: Runs, beside: Sequence[Html]) -> Html:
    lacks = [tag("p", plot.missing, class_="none")] if plot.missing else []
    if not plot.svg:
        return _section(plot.title, *lacks, *beside, name=plot.name)
    picture = tag("div", Html(plot.svg), role="img", aria_label=f"{plot.title}. {plot.told}")
    figure = tag("figure", picture, tag("figcaption", _legend(runs)), class_="plot")
    return _section(plot.title, figure, *lacks, *beside, name=plot.name)


def _legend(runs: Runs) -> Html:
    rows = (tag("li", _name(number, run)) for number, run in enumerate(runs))
    return tag("ul", *rows, class_="legend")


def _name(number: int, run: RunFacts) -> Html:
    """Return a run's number and name, and the shape and colour that plots have for it."""
    place = number % len(_SHAPES)
    shape = tag("span", _SHAPES[place], class_=f"series-{place + 1}", aria_hidden="true")
    return together([shape, f" {number + 1} {words.visible(run.name)}"])


def _names(runs: Runs) -> list[Html]:
    return [_name(number, run) for number, run in enumerate(runs)]


def _overview(runs: Runs) -> Html:
    headings = (
        "run", "valid rollouts", "pass@1 [95%]", "pass@k [95%]", "mean reward", "median tokens",
        "median cost, USD", "median steps", "truncated",
    )  # fmt: skip
    rows = [
        (
            name, words.valid(run), words.score(run.score), words.tries(run), words.reward(run),
            words.tokens(run), words.cost(run), words.steps(run), words.percent(run.truncated),
        )
        for name, run in zip(_names(runs), runs, strict=True)
    ]  # fmt: skip
    return table("What each run gave", headings, rows)


def _notes(runs: Runs) -> Html:
    lines = [tag("li", f"{words.visible(run.name)}: {t}") for run in runs for t in words.notes(run)]
    return tag("ul", *lines, class_="notes") if lines else Html("")


def _across(caption: str, first: str, runs: Runs, rows: Iterable[Sequence[Child]]) -> list[Html]:
    """Return a table with a column for each run; none if it has no row."""
    every = list(rows)
    return [table(caption, [first, *_names(runs)], every)] if every else []


def _passes(runs: Runs) -> list[Html]:
    by_run = [{one.k: one for one in run.passes} for run in runs]
    ks = sorted({k for found in by_run for k in found})
    rows = []
    for k in ks:
        cells = [found.get(k) for found in by_run]
        told = [
            f"{words.score(one.figure)} ({words.counted(one.tasks, 'task')})" if one else words.NONE
            for one in cells
        ]
        rows.append([f"pass@{k}", *told])
    return _across("Pass@k over the tasks with at least k valid rollouts", "k", runs, rows)


def _parts(runs: Runs, parts: Sequence[Sequence[Part]], first: str) -> list[Html]:
    by_run = [{part.name: part for part in of} for of in parts]
    names = sorted({name for found in by_run for name in found})
    rows = [[name, *(words.part(found.get(name)) for found in by_run)] for name in names]
    return _across(f"Pass@1 by {first}", first, runs, rows)


def _measures(runs: Runs, told: Measures, caption: str) -> list[Html]:
    by_run = [dict(told(run)) for run in runs]
    titles = list(dict.fromkeys(title for found in by_run for title in found))
    rows = [[title, *(found.get(title, words.NONE) for found in by_run)] for title in titles]
    return _across(caption, "measure", runs, rows)


def _reasons(runs: Runs) -> list[Html]:
    names = sorted({reason for run in runs for reason in run.reasons})
    rows = [[name, *(str(run.reasons.get(name, 0)) for run in runs)] for name in names]
    caption = "Rollouts that were not resolved, those without a valid reward included"
    return _across(caption, "reason", runs, rows)


def _findings(runs: Runs) -> list[Html]:
    if not any(run.monitored for run in runs):
        return []
    by_run = [{found.label: found for found in run.findings} for run in runs]
    labels = sorted({label for found in by_run for label in found})
    rows = [["rollouts looked at", *(str(run.monitored) for run in runs)]]
    rows += [[label, *(_finding(found.get(label)) for found in by_run)] for label in labels]
    return _across("Rollouts with each finding", "finding", runs, rows)


def _finding(found: FindingCount | None) -> str:
    return f"{found.rollouts} ({found.succeeded} with effect)" if found else "0"
