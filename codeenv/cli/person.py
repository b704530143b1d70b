"""A person as an agent: what is typed becomes calls, and is told what it gave."""

from collections import deque
from collections.abc import Callable, Iterable, MutableSet
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from rich.console import RenderableType

from codeenv.cli import stage
from codeenv.cli.difference import changes_of, difference, stat
from codeenv.cli.editing import Editor, edits, keep
from codeenv.cli.keyboard import Abandoned, ReadLine
from codeenv.cli.signals import on_interrupt
from codeenv.cli.terminal import Steps, Terminal
from codeenv.cli.typed import parse_line
from codeenv.env.episode import Episode
from codeenv.errors import PathError, UsageError
from codeenv.tools import ToolCall, ToolResult
from codeenv.tools.base import ToolError
from codeenv.tools.text import FileText, clean_path, is_binary
from codeenv_harness.agents.base import Briefing
from codeenv_harness.agents.stops import StopRun

HUMAN = "human"
"""A person's name in records."""
PROMPT = "codeenv> "
END_OF_TEXT = "."
_FEW = 5
"""Calls left from which on they are told."""


class Left(StopRun):
    """Raised when a person leaves without handing in: nothing is graded."""


@dataclass
class Hands:
    """How a person types.

    Attributes:
        read: Reads one line.
        editor: Opens a text for editing; None: texts are asked for line by line.
        confirms: Whether to ask before handing in.
    """

    read: ReadLine
    editor: Editor | None = None
    confirms: bool = False


@dataclass
class Person:
    """Plays by typing; draws what each call gave.

    Attributes:
        terminal: Where things are shown.
        episode: What is played.
        hands: How the person types.
        paths: Files for completion; those that the person makes are added.
    """

    terminal: Terminal
    episode: Episode
    hands: Hands
    paths: MutableSet[str] = field(default_factory=set)
    _waiting: deque[ToolCall] = field(default_factory=deque, init=False)
    _opening: str = field(default="", init=False)
    _written: tuple[str, str] | None = field(default=None, init=False)  # in the editor: path, text
    _known: set[str] = field(default_factory=set, init=False)
    _done: list[tuple[int, ToolCall, ToolResult]] = field(default_factory=list, init=False)
    _long: RenderableType | None = field(default=None, init=False)
    _given_up: int = field(default=0, init=False)
    _busy: ExitStack = field(default_factory=ExitStack, init=False)

    @property
    def name(self) -> str:
        """The name in records."""
        return HUMAN

    def reset(self, briefing: Briefing) -> None:
        """Show what is to be done, and what can be typed."""
        self._task()
        self.terminal.note(stage.WELCOME, "dim")

    def act(self, observation: ToolResult | None) -> ToolCall:
        """Return the next call.

        Raises:
            Left: If the person leaves.
        """
        while True:
            call = self._waiting.popleft() if self._waiting else self._next()
            if call is not None:
                self._wait_for(call)
                return call

    def show(self, number: int, action: object, result: ToolResult) -> None:
        """Show what a call gave."""
        self._busy.close()
        if not isinstance(action, ToolCall):
            return
        self._done.append((number, action, result))
        if action.tool in ("read_file", "edit_file") and result.ok:
            self._learn(str(action.arguments["path"]))
        over = self.episode.outcome is not None
        if not result.ok:
            self._opening = ""
        if action.tool != "submit" and (over or not self._opening):
            self._long = stage.answer(result)
            self.terminal.tell(stage.answer(result, self.terminal.rows))
            if self.episode.steps_left <= _FEW and not self._waiting:
                self._steps()
        if over or not result.ok:
            self._keep(made=result.ok)
        elif not self._waiting:
            self._written = None

    def close(self) -> None:
        """Stop waiting for a call; what was written in the editor and is not made is kept."""
        self._busy.close()
        self._keep(made=False)

    def _keep(self, *, made: bool) -> None:
        """Keep what was written in the editor, unless the last of its calls was made."""
        left_out, written = len(self._waiting), self._written
        self._waiting.clear()
        self._written = None
        if left_out:
            self.terminal.note(f"changes of the editor that were not made: {left_out}", "yellow")
        if written is not None and (left_out or not made):
            path, text = written
            self.terminal.note(f"what you wrote is in {keep(path, text.encode())}", "yellow")

    def _next(self) -> ToolCall | None:
        """Return the call of one line, if it is one that can be carried out at once."""
        try:
            if self._opening:
                return self._in_editor()
            line = self.hands.read(PROMPT)
            if line is None or line.strip() in ("quit", "exit"):
                raise Left("left")
            call = self._understood(line.strip())
        except UsageError as error:
            self._opening = ""
            self.terminal.note(f"error: {error.message}", "red")
            if error.hint:
                self.terminal.note(f"hint: {error.hint}")
            return None
        except Abandoned as error:
            self._give_up(error.line)
            return None
        self._given_up = 0
        return call

    def _give_up(self, line: str) -> None:
        """Drop a line; leave at the second Ctrl-C in a row on an empty one."""
        self._given_up = 0 if line.strip() else self._given_up + 1
        if self._given_up > 1:
            raise KeyboardInterrupt
        if self._given_up:
            self.terminal.note("Ctrl-C again, Ctrl-D or quit leaves without handing in", "dim")

    def _understood(self, line: str) -> ToolCall | None:
        word, _, rest = line.partition(" ")
        aside: dict[str, Callable[[], None]] = {
            "": lambda: None,
            "task": self._task,
            "more": self._more,
            "log": lambda: self.terminal.tell(stage.log(self._done)),
            "steps": self._steps,
            "help": lambda: self.terminal.aside(stage.commands(rest.strip())),
            "diff": lambda: self._diff(rest.split()),
        }
        if word in aside and (not rest or word in ("help", "diff")):
            aside[word]()
            return None
        if word == "edit" and self.hands.editor is not None and len(rest.split()) == 1:
            return self._edit(rest)
        call = parse_line(line, partial(_ask, self.hands.read))
        return call if call.tool != "submit" or self._confirmed() else None

    def _task(self) -> None:
        title = self.episode.task.recipe.title
        self._long = stage.statement(title, self.episode.instruction)
        self.terminal.tell(self._long)

    def _more(self) -> None:
        if self._long is not None:
            self.terminal.page(self._long)

    def _steps(self) -> None:
        left, most = self.episode.steps_left, self.episode.limits.max_steps
        self.terminal.note(f"{left} of {most} calls left", "yellow" if left <= _FEW else "")

    def _diff(self, places: Iterable[str]) -> None:
        wanted = tuple(place.removeprefix("./").rstrip("/") for place in places)
        below = tuple(f"{place}/" for place in wanted)
        found = (
            change
            for change in changes_of(self.episode)
            if not wanted or change.path in wanted or change.path.startswith(below)
        )
        self._long = difference(found)
        self.terminal.tell(self._long)

    def _confirmed(self) -> bool:
        """Show what would be handed in, and ask; where nobody looks there is nothing to ask."""
        if not self.hands.confirms:
            return True
        self.terminal.note("to hand in:")
        self.terminal.aside(stat(changes_of(self.episode)))
        answer = self.hands.read("hand in? [y/N] ")
        if answer is not None and answer.strip().lower() in ("y", "yes"):
            return True
        self.terminal.note("not handed in")
        return False

    def _edit(self, path: str) -> ToolCall | None:
        """Begin an edit: what the person has not seen yet is read by a call of its own first."""
        self._opening = path
        try:
            self._opening = clean_path(path.strip("\"'"), self.episode.sandbox.workspace)
        except ToolError as error:
            raise UsageError(error.message, hint="edit PATH") from None
        if self._opening in self._known or self._text() is None:
            return self._in_editor()
        return ToolCall(tool="read_file", arguments={"path": self._opening})

    def _in_editor(self) -> ToolCall | None:
        """Open the editor, and return the first call of what was changed there."""
        before, path = self._text(), self._opening
        assert self.hands.editor is not None
        after = self.hands.editor(path, before or "")
        self._opening = ""
        if after == (before or ""):
            self.terminal.note("nothing was changed", "dim")
            return None
        self._written = (path, after)
        self._waiting.extend(edits(path, before, after))
        return self._waiting.popleft()

    def _text(self) -> str | None:
        """Return the text of the file that is to be edited; None if there is none yet."""
        path = self._opening
        try:
            data = self.episode.sandbox.read_file(path)
            text = FileText.of(data).text
            text.encode()
        except PathError as error:
            if error.code == "not_found":
                return None
            raise UsageError(f"{path}: {error.message}", hint="edit PATH") from None
        except UnicodeEncodeError:
            raise UsageError(f"{path} is not UTF-8", hint="change it by a command") from None
        if is_binary(data):
            raise UsageError(f"{path} is a binary file", hint="change it by a command")
        return text

    def _learn(self, path: str) -> None:
        name = clean_path(path, self.episode.sandbox.workspace)
        self._known.add(name)
        if name in self.episode.task.workspace or self._done[-1][1].tool == "edit_file":
            self.paths.add(name)

    def _wait_for(self, call: ToolCall) -> None:
        """Show that a call goes on, until ``show`` or ``close``; the first Ctrl-C ends nothing."""
        what = "grading" if call.tool == "submit" else stage.arguments(call.arguments)
        shown: list[Steps] = []
        pressed: list[bool] = []

        def patient() -> None:
            if pressed:
                raise KeyboardInterrupt
            pressed.append(True)
            for steps in shown:
                steps.doing("still going on, until its time is up; Ctrl-C again leaves")

        if self.hands.confirms:
            self._busy.enter_context(on_interrupt(patient))
        shown.append(self._busy.enter_context(self.terminal.progress(what[:40])))


def _ask(read: ReadLine, what: str) -> str:
    """Ask for lines up to a line with a single full stop."""
    lines: list[str] = []
    prompt = f"{what}, then a line with {END_OF_TEXT!r}\n"
    while (line := read(prompt)) not in (None, END_OF_TEXT):
        lines.append(str(line))
        prompt = ""
    return "\n".join(lines)
