"""How figures are told, and how text that comes from runs is made harmless to look at."""

import unicodedata

from codeenv_harness.report.facts import Figure, Part, PassFigure, RunFacts

NONE = "–"
_STEERS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_LONGEST = 200


def visible(text: str, longest: int = _LONGEST) -> str:
    """Return text on one line in which no character steers others, cut if it is too long."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(_told(c) if unicodedata.category(c) in _STEERS else c for c in cut)


def percent(share: float | None) -> str:
    """Return a share: ``45.1%``."""
    return NONE if share is None else f"{share:.1%}"


def number(value: float | None, digits: int = 0) -> str:
    """Return a number with so many digits behind the point."""
    return NONE if value is None else f"{value:,.{digits}f}"


def money(value: float | None) -> str:
    """Return USD, without the sign: two of those on a line are a formula to some renderers."""
    return number(value, 4)


def score(figure: Figure | None) -> str:
    """Return a share with its interval: ``45.1% [22.2%, 68.8%]``."""
    if figure is None:
        return NONE
    return percent(figure.value) + interval(figure)


def interval(figure: Figure) -> str:
    """Return the interval of a share; nothing where there is none."""
    if figure.low is None or figure.high is None:
        return ""
    return f" [{percent(figure.low)}, {percent(figure.high)}]"


def most_tries(run: RunFacts) -> PassFigure | None:
    """Return pass@k for the most tries, if a task had more than one."""
    last = run.passes[-1] if run.passes else None
    return last if last is not None and last.k > 1 else None


def tries(run: RunFacts) -> str:
    """Return pass@k for the most tries: ``63.6% (k = 4, 11 tasks)``."""
    last = most_tries(run)
    if last is None:
        return NONE
    return f"{score(last.figure)} (k = {last.k}, {counted(last.tasks, 'task')})"


def valid(run: RunFacts) -> str:
    """Return how many rollouts are valid, of all that ended."""
    return f"{run.valid} of {run.rollouts}"


def cost(run: RunFacts) -> str:
    """Return the cost of a rollout and of all."""
    if run.cost is None:
        return NONE
    return f"{money(run.cost.value)} ({money(run.cost_total)} in all){_few(run.cost, run)}"


def tokens(run: RunFacts) -> str:
    """Return the median of the completion tokens."""
    return NONE if run.tokens is None else f"{number(run.tokens.value)}{_few(run.tokens, run)}"


def steps(run: RunFacts) -> str:
    """Return the median of the tool calls."""
    return NONE if run.steps is None else f"{run.steps.value:g}"


def reward(run: RunFacts) -> str:
    """Return the mean reward."""
    return NONE if run.reward is None else f"{run.reward.value:.3f}"


def part(found: Part | None) -> str:
    """Return pass@1 of one kind of tasks, and over how much."""
    if found is None:
        return NONE
    over = f"{counted(found.tasks, 'task')}, {found.resolved} of {found.valid}"
    return f"{score(found.rate)} ({over})"


def effort(run: RunFacts) -> tuple[tuple[str, str], ...]:
    """Return what is known of how effort follows difficulty."""
    found = run.effort
    if found is None or not found.rollouts:
        return ()
    return (
        ("rank correlation of effort and difficulty", number(found.rho, 2)),
        ("slope of log effort over difficulty", number(found.slope, 2)),
        ("median effort of solved easy tasks", number(found.overthinking, 2)),
        ("failed hard tasks given up early", percent(found.underthinking)),
    )


def sizes(run: RunFacts) -> tuple[tuple[str, str], ...]:
    """Return what is known of the size of tasks and solutions."""
    found = run.sizes
    rows = (
        ("words of the instruction", found.instruction_words),
        ("lines deleted", found.deleted_lines),
        ("files they are in", found.deleted_files),
        ("tests that must pass", found.failing_tests),
        ("lines added", found.lines_added),
        ("lines removed", found.lines_removed),
        ("files changed", found.files_changed),
        ("seconds of a rollout", found.seconds),
    )
    return tuple((title, f"{value:,.6g}") for title, value in rows if value is not None)


def behaviour(run: RunFacts) -> tuple[tuple[str, str], ...]:
    """Return what is known of how agents worked."""
    found = run.behaviour
    if found is None or not found.actions:
        return ()
    shares = (
        ("actions that were no valid call", percent(found.invalid_rate)),
        ("edits that failed", percent(found.failed_edit_rate)),
        ("test runs per edit", number(found.test_runs_per_edit, 2)),
        ("handed in after a test run", percent(found.tested_rate)),
        ("handed in with untried edits", percent(found.unverified_rate)),
        ("words of the last message (median)", number(found.final_words)),
    )
    mistakes = (
        (f"{visible(kind)} per 100 actions", number(rate, 2))
        for kind, rate in found.mistakes_per_100.items()
    )
    return tuple(row for row in (*shares, *mistakes) if row[1] != NONE)


def notes(run: RunFacts) -> tuple[str, ...]:
    """Return what a reader must know before believing the figures of a run."""
    found = []
    if run.rollouts > run.valid:
        found.append(
            f"{counted(run.rollouts - run.valid, 'rollout')} without a valid reward; no figure "
            "counts them but the failures by reason and the monitor's findings"
        )
    if run.missing:
        found.append(f"{counted(run.missing, 'rollout')} asked for that never ended")
    if run.unread:
        found.append(f"{counted(run.unread, 'valid rollout')} without a trajectory to read")
    if run.unknown and run.rollouts:
        found.append(
            f"{counted(run.unknown, 'task')} of unknown tier and difficulty; --tasks names them"
        )
    return tuple(found)


def counted(how_many: int, thing: str) -> str:
    """Return ``1 task`` or ``2 tasks``."""
    return f"{how_many:,} {thing}{'s' if how_many != 1 else ''}"


def _few(figure: Figure, run: RunFacts) -> str:
    return f", known of {figure.rollouts} of {run.valid}" if figure.rollouts < run.valid else ""


def _told(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
