"""Where a command's words go: data to standard output, everything else to standard error."""

import dataclasses
import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TextIO

from pydantic import BaseModel
from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

_WIDE = 4000
"""Columns of data where nobody looks: tables in a file or a pipe are not cut."""
_PAGE = 100
"""Columns of an episode where nobody looks."""


class Terminal:
    """One command's output.

    Args:
        json_wanted: Whether standard output carries JSON and nothing else.
    """

    def __init__(self, json_wanted: bool = False) -> None:
        """Write to the process's own streams, as they are now."""
        self.json_wanted = json_wanted
        self._out = _console(sys.stdout)
        self._err = _console(sys.stderr)

    @property
    def lively(self) -> bool:
        """Whether somebody looks at standard error, so that moving pictures make sense."""
        return self._err.is_terminal

    @property
    def _people(self) -> Console:
        """Where episodes are shown."""
        return self._err if self.json_wanted else self._out

    @property
    def rows(self) -> int | None:
        """Lines that an episode may take without scrolling away; None where nobody looks."""
        console = self._people
        return max(1, console.height - 4) if console.is_terminal else None

    def data(self, value: object) -> None:
        """Write one JSON document on one line, if JSON is wanted."""
        if self.json_wanted:
            sys.stdout.write(json.dumps(plain(value), sort_keys=True) + "\n")
            sys.stdout.flush()

    def show(self, what: RenderableType) -> None:
        """Write data for people, unless JSON is wanted."""
        if not self.json_wanted:
            _draw(self._out, what)

    def document(self, text: str) -> None:
        """Write a document as it is, unless JSON is wanted; lines are not cut or wrapped."""
        if not self.json_wanted:
            sys.stdout.write(text)
            sys.stdout.flush()

    def aside(self, what: RenderableType) -> None:
        """Show something on standard error, JSON or not."""
        _draw(self._err, what)

    def note(self, text: str, style: str = "") -> None:
        """Say something on standard error."""
        self._err.print(Text(printable(text), style))

    def tell(self, what: RenderableType) -> None:
        """Show an episode to people, beside the JSON if JSON is wanted."""
        console = self._people
        console.print(what, width=None if console.is_terminal else _PAGE)

    def page(self, what: RenderableType) -> None:
        """Show something in the person's pager; as it is where nobody looks."""
        if self.rows is None:
            self.tell(what)
            return
        console = self._people
        with console.pager():
            console.print(what)

    @contextmanager
    def live(self, what: RenderableType) -> Iterator[None]:
        """Keep something below all that is said meanwhile, drawn anew; nothing where nobody looks.

        It is gone in the end.
        """
        if not self.lively:
            yield
            return
        with Live(what, console=self._err, transient=True, refresh_per_second=4):
            yield

    @contextmanager
    def progress(self, title: str, total: int | None = None) -> Iterator["Steps"]:
        """Show how far a long work is; plain lines where nobody looks."""
        if not self.lively:
            yield Steps(self, None, None)
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            _Bar(bar_width=24),
            _Count(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self._err, transient=True) as bars:
            yield Steps(self, bars, title, total)


class _Bar(BarColumn):
    """A bar, once it is known how much there is."""

    def render(self, task: Task) -> ProgressBar:
        """Draw nothing before that."""
        bar = super().render(task)
        bar.width = 0 if task.total is None else self.bar_width
        return bar


class _Count(ProgressColumn):
    """``3/20``, once it is known how much there is."""

    def render(self, task: Task) -> Text:
        """Draw nothing before that."""
        return Text("" if task.total is None else f"{int(task.completed)}/{int(task.total)}")


class Steps:
    """Progress of one piece of work."""

    def __init__(
        self, terminal: Terminal, bars: Progress | None, title: str | None, total: int | None = None
    ) -> None:
        """Start at nothing done."""
        self._terminal = terminal
        self._bars = bars
        self._bar = bars.add_task(title or "", total=total) if bars else None

    def advance(self, text: str = "") -> None:
        """Count one step as done, and say what it gave."""
        if self._bars is not None and self._bar is not None:
            self._bars.advance(self._bar)
        if text:
            self.say(text)

    def say(self, text: str) -> None:
        """Say something above the bar."""
        self._terminal.note(text)

    def doing(self, text: str, total: int | None = None, done: int | None = None) -> None:
        """Say what is being done, beside the bar."""
        if self._bars is not None and self._bar is not None:
            self._bars.update(self._bar, description=printable(text), total=total, completed=done)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a plain table: no frame, numbers to the right, names in one piece on the left."""
    cells = [[*row] for row in rows]
    drawn = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headings))
    for index, heading in enumerate(headings):
        numeric = bool(cells) and all(isinstance(row[index], int | float) for row in cells)
        side: Literal["left", "right"] = "right" if numeric else "left"
        drawn.add_column(heading, justify=side, overflow="fold", no_wrap=index == 0)
    for row in cells:
        drawn.add_row(*(cell if isinstance(cell, Text) else Text(_cell(cell)) for cell in row))
    return drawn


def printable(text: str) -> str:
    """Return text whose control characters cannot steer the terminal."""
    return "".join(c if c in "\n\t" or not _steers(c) else f"\\x{ord(c):02x}" for c in text)


def plain(value: object) -> object:
    """Return a value as JSON can say it: models, dataclasses, paths and sets included."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(str(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, Path) else value


def _draw(console: Console, what: RenderableType) -> None:
    """Print without the blanks that fill up lines."""
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().removesuffix("\n").split("\n"):
        console.file.write(line.rstrip() + "\n")


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else printable(str(value))


def _steers(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs")


def _console(stream: TextIO) -> Console:
    looked_at = stream.isatty()
    return Console(
        file=stream, width=None if looked_at else _WIDE, markup=False, highlight=False, emoji=False
    )
