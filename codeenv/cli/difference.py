"""What was changed so far, drawn: by our own comparison of trees, not by a program in the box."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from codeenv.cli.terminal import printable
from codeenv.env.episode import Episode
from codeenv.errors import PathError, UsageError
from codeenv.feedback.options import counts_in
from codeenv.languages import get_language
from codeenv.materialise.files import refusal
from codeenv.materialise.models import Task
from codeenv.tools.text import line_changes
from codeenv.trajectory import FileChange, changes_between

_NOISE = ("bytecode", "cache")
_STYLES = {"+++": "bold", "---": "bold", "+": "green", "-": "red", "@": "cyan", "\\": "dim"}


def changes_of(episode: Episode) -> tuple[FileChange, ...]:
    """Return what an open episode has changed so far, traces of running code left out.

    The tree is read from outside the box, as for grading; that is no step.

    Raises:
        SandboxError: If the box failed.
        UsageError: If there are more files than can be read.
    """
    task = episode.task
    try:
        found = changes_between(task.workspace, episode.sandbox.export())
    except PathError as error:
        raise UsageError(f"the files cannot be compared: {error.message}") from None
    counts = counted(task)
    return tuple(
        change.model_copy(update={"counted": counts(change.path)})
        for change in found.files
        if refusal(change.path) not in _NOISE
    )


def counted(task: Task) -> Callable[[str], bool]:
    """Return what tells whether changes of a path can count, as the statement says it."""
    in_place, language = counts_in(task), get_language(task.recipe.language)
    return lambda path: in_place(path) and language.admissible(task.layout, path)


def difference(changes: Iterable[FileChange]) -> RenderableType:
    """Draw changes as a unified diff."""
    lines = [line for change in changes for line in _lines(change)]
    styled = (Text(printable(line), _style(line)) for line in lines)
    return Group(*styled) if lines else Text("nothing is changed", "dim")


def stat(changes: Sequence[FileChange]) -> RenderableType:
    """Draw one line for each changed file: how many lines came and went, and whether it counts."""
    rows = []
    for change in changes:
        row = Text(f"  {printable(change.path)}  ")
        added, removed = _sizes(change)
        row.append(f"+{added}", "green").append(" ").append(f"-{removed}", "red")
        row.append("" if change.kind == "changed" else f"  {change.kind}", "dim")
        rows.append(row.append("" if change.counted else "  does not count", "yellow"))
    return Group(*rows) if rows else Text("  nothing is changed", "dim")


def _sizes(change: FileChange) -> tuple[int, int]:
    return line_changes(change.before or "", change.after or "")


def _style(line: str) -> str:
    return _STYLES.get(line[:3], "") or _STYLES.get(line[:1], "")


def _lines(change: FileChange) -> Iterator[str]:
    old_name, new_name = f"a/{change.path}", f"b/{change.path}"
    if change.kind == "added":
        old_name = "/dev/null"
    if change.kind == "deleted":
        new_name = "/dev/null"
    gone = change.before is None and change.kind != "added"
    come = change.after is None and change.kind != "deleted"
    if gone or come:
        yield f"{change.path}: {change.kind}, no text to show"
        return
    old, new = ((text or "").split("\n") for text in (change.before, change.after))
    pair = (_ended(old), _ended(new))
    drawn = [*difflib.unified_diff(*pair, old_name, new_name, lineterm="")]
    yield from drawn or [f"{change.path}: {change.kind}, {change.mode or 'no text to show'}"]


def _ended(lines: list[str]) -> list[str]:
    """Return a text's lines, with a mark where the last one has no end."""
    *whole, last = lines
    return [*whole, f"{last}\n\\ no newline at the end"] if last else whole
