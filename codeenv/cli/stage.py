"""How an episode looks in the terminal: the statement, the agent's steps, the reward."""

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from codeenv.cli.terminal import printable, table
from codeenv.cli.typed import COMMANDS, Command
from codeenv.errors import UsageError
from codeenv.grading.models import Grade, Outcome, TestStatus
from codeenv.tools import ToolCall, ToolResult

_SHOWN_LINES = 12
_SHOWN_COLUMNS = 160
_SHOWN_TESTS = 8
_FEWEST_ROWS = 20
WELCOME = """\
read, search, edit and run are your tools; test runs the tests that you can see;
diff shows what you changed; submit hands in.  help says more, Tab completes."""
"""What a person is told at the start."""
_REASONS: Mapping[str, str] = {
    "missing": "did not run: its file could not be imported, or it is gone",
    "error": "failed outside of the test itself",
    "skipped": "was skipped, which is no pass",
    "xfailed": "was expected to fail, which is no pass",
    "xpassed": "was expected to fail and did not",
}


def statement(title: str, instruction: str) -> RenderableType:
    """Draw what the agent is told."""
    text = instruction.removeprefix(f"# {title}\n").strip()
    return Panel(
        Markdown(printable(text), code_theme="ansi_dark"),
        title=Text(printable(title), "bold"),
        title_align="left",
        border_style="dim",
        padding=(0, 1),
    )


def step(number: int, call: ToolCall, result: ToolResult) -> RenderableType:
    """Draw one call and what came of it."""
    line = Text(f"{number:>3} ", "dim")
    line.append(f"{printable(call.tool)} ", "bold cyan")
    line.append(arguments(call.arguments))
    answer = _shortened(result.text)
    style = "red" if not result.ok else "dim"
    return Group(line, Padding(Text(answer, style), (0, 0, 0, 4)))


def answer(result: ToolResult, rows: int | None = None) -> RenderableType:
    """Draw what a person's call gave: all of it, or head and tail of what is far over a screen."""
    style = "" if result.ok else "red"
    lines = printable(result.text).splitlines()
    most = max(_FEWEST_ROWS, rows or 0)
    if rows is None or len(lines) <= most:
        return Text("\n".join(lines), style)
    tail = most // 3
    head = most - tail - 1
    hidden = Text(f"… {len(lines) - head - tail} lines are left out: more shows all …", "dim")
    return Group(
        Text("\n".join(lines[:head]), style), hidden, Text("\n".join(lines[-tail:]), style)
    )


def commands(word: str = "") -> RenderableType:
    """Draw what can be typed, or one word of it.

    Raises:
        UsageError: If there is no such word.
    """
    chosen = [command for name, command in COMMANDS.items() if word in ("", name)]
    if not chosen:
        raise UsageError(f"{word!r} is none of what can be typed", hint="help lists all")
    parts: list[RenderableType] = []
    for costs, title in ((True, "these count as steps:"), (False, "these do not:")):
        rows = [_command(command) for command in chosen if command.costs == costs]
        if rows:
            parts += [Text(title, "bold"), Padding(table(("", ""), rows), (0, 0, 0, 2))]
    if not word:
        parts.append(Text(_FORMS, "dim"))
    return Group(*parts)


_FORMS = """\
A tool can also be called by its name, as an agent does: read_file path=a.py start_line=3,
or with its arguments as a JSON object.  A line that begins with a well-known program (ls, git,
python …) is run as it is.  Ctrl-C gives a line up."""


def log(done: Iterable[tuple[int, ToolCall, ToolResult]]) -> RenderableType:
    """Draw what was done so far, a line each."""
    rows = [
        (number, Text(call.tool, "cyan"), _told(call, result)[:60], _short(result))
        for number, call, result in done
    ]
    return table(("", "", "", ""), rows) if rows else Text("nothing so far", "dim")


def verdict(outcome: Outcome, seconds: float | None = None) -> RenderableType:
    """Draw how the episode ended, and how long it took if that is known."""
    line = Text("reward ", "bold")
    if outcome.reward_valid:
        line.append(f"{outcome.reward:g}", "bold green" if outcome.reward == 1 else "bold red")
    else:
        line.append(f"not valid: {printable(outcome.error)}", "bold yellow")
    steps = "1 step" if outcome.n_steps == 1 else f"{outcome.n_steps} steps"
    took = "" if seconds is None else f", {_time(seconds)}"
    line.append(f"   {outcome.reason} after {steps}{took}", "dim")
    if outcome.grade is None:
        return line
    grade = outcome.grade
    lines = [
        line,
        Text(f"  tests of the feature   {_count({**grade.weak, **grade.fail_to_pass})}"),
        Text(f"  all other tests        {_count(grade.pass_to_pass)}"),
    ]
    if "replay" in grade.components:
        lines.append(Text(f"  calls played again     {grade.components['replay']:.0%} as expected"))
    lines += _failures(grade)
    if grade.ignored_paths:
        lines.append(Text(f"  did not count: {', '.join(map(printable, grade.ignored_paths))}"))
    return Group(*lines)


def arguments(arguments: Mapping[str, object]) -> str:
    """Return a call's arguments on one line."""
    parts = []
    told = {name: value for name, value in arguments.items() if value not in ("", None)}
    for name, value in told.items():
        text = printable(str(value))
        if "\n" in text:
            text = f"({len(text.splitlines())} lines)"
        parts.append(f"{name}={text}" if len(told) > 1 else text)
    return "  ".join(parts)[:_SHOWN_COLUMNS]


def _failures(grade: Grade) -> list[Text]:
    """Draw the tests that did not pass, those of the feature first, each with a short reason."""
    bad = grade.not_passed
    names = [*(name for name in grade.fail_to_pass if name in bad)]
    names += sorted(name for name in bad if name not in grade.fail_to_pass)
    lines = []
    for name in names[:_SHOWN_TESTS]:
        lines.append(Text(f"  {bad[name]:<9} {printable(name)}", "dim"))
        if name in grade.caught:
            controls = ", ".join(map(printable, grade.caught[name]))
            lines.append(Text(f"            passed where it must not: {controls}", "yellow"))
    if len(names) > _SHOWN_TESTS:
        lines.append(Text(f"  … and {len(names) - _SHOWN_TESTS} more", "dim"))
    said = sorted({bad[name] for name in names} & _REASONS.keys())
    return lines + [Text(f"  {status}: {_REASONS[status]}", "yellow") for status in said]


def _command(command: Command) -> tuple[Text, Text]:
    meaning = Text(command.meaning)
    if command.example:
        meaning.append(f"\n{command.example}", "dim italic")
    return Text(command.usage, "cyan"), meaning


def _told(call: ToolCall, result: ToolResult) -> str:
    """Return what a call did in a few words."""
    if call.tool == "edit_file" and result.ok:
        return printable(result.text.partition("\n")[0])
    kept = ("command",) if call.tool == "run_command" else tuple(call.arguments)
    return arguments({n: call.arguments[n] for n in kept if n in call.arguments})


def _short(result: ToolResult) -> str:
    if not result.ok:
        return result.error
    return f"exit code {result.exit_code}" if result.exit_code else "ok"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _shortened(text: str) -> str:
    lines = [line[:_SHOWN_COLUMNS] for line in printable(text).splitlines()]
    if len(lines) <= _SHOWN_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[: _SHOWN_LINES - 1], f"… {len(lines) - _SHOWN_LINES + 1} more lines"])


def _count(statuses: Mapping[str, TestStatus]) -> str:
    passed = sum(status == "passed" for status in statuses.values())
    return f"{passed} of {len(statuses)} passed"
