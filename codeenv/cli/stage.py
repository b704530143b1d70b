"""How an episode looks in the terminal: the statement, the agent's steps, the reward."""

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from codeenv.cli.terminal import printable
from codeenv.grading.models import Outcome, TestStatus
from codeenv.tools import ToolCall, ToolResult

_SHOWN_LINES = 12
_SHOWN_COLUMNS = 160
_SHOWN_TESTS = 8


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
    line.append(_arguments(call.arguments))
    answer = _shortened(result.text)
    style = "red" if not result.ok else "dim"
    return Group(line, Padding(Text(answer, style), (0, 0, 0, 4)))


def verdict(outcome: Outcome) -> RenderableType:
    """Draw how the episode ended."""
    line = Text("reward ", "bold")
    if outcome.reward_valid:
        line.append(f"{outcome.reward:g}", "bold green" if outcome.reward == 1 else "bold red")
    else:
        line.append(f"not valid: {printable(outcome.error)}", "bold yellow")
    steps = "1 step" if outcome.n_steps == 1 else f"{outcome.n_steps} steps"
    line.append(f"   {outcome.reason} after {steps}", "dim")
    if outcome.grade is None:
        return line
    grade = outcome.grade
    lines = [
        line,
        Text(f"  tests of the feature   {_count({**grade.weak, **grade.fail_to_pass})}"),
        Text(f"  all other tests        {_count(grade.pass_to_pass)}"),
    ]
    bad = sorted(grade.not_passed.items())[:_SHOWN_TESTS]
    lines += [Text(f"  {status:<9} {printable(name)}", "dim") for name, status in bad]
    if grade.ignored_paths:
        lines.append(Text(f"  did not count: {', '.join(map(printable, grade.ignored_paths))}"))
    return Group(*lines)


def _arguments(arguments: Mapping[str, object]) -> str:
    parts = []
    told = {name: value for name, value in arguments.items() if value not in ("", None)}
    for name, value in told.items():
        text = printable(str(value))
        if "\n" in text:
            text = f"({len(text.splitlines())} lines)"
        parts.append(f"{name}={text}" if len(told) > 1 else text)
    return "  ".join(parts)[:_SHOWN_COLUMNS]


def _shortened(text: str) -> str:
    lines = [line[:_SHOWN_COLUMNS] for line in printable(text).splitlines()]
    if len(lines) <= _SHOWN_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[: _SHOWN_LINES - 1], f"… {len(lines) - _SHOWN_LINES + 1} more lines"])


def _count(statuses: Mapping[str, TestStatus]) -> str:
    passed = sum(status == "passed" for status in statuses.values())
    return f"{passed} of {len(statuses)} passed"
