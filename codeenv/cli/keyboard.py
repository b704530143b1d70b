"""A person's keyboard: lines with editing, history and completion, and what Ctrl-C means."""

import os
import sys
from collections.abc import Callable, Iterable, Set
from io import TextIOWrapper

from codeenv.cli.signals import on_interrupt
from codeenv.cli.terminal import printable
from codeenv.cli.typed import COMMANDS
from codeenv.tools.registry import tools_of

ReadLine = Callable[[str], str | None]
"""Prompts for one line; None at the end of input."""
_DELIMITERS = " \t\n=\"'`$><;|&("


class Abandoned(Exception):
    """Raised where a person gives a line up with Ctrl-C."""

    def __init__(self, line: str) -> None:
        """Keep what was typed."""
        super().__init__(line)
        self.line = line


def read_anything() -> None:
    """Let bytes on standard input that are no text come as replacement marks."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


def read_plain(prompt: str) -> str | None:
    """Read one line from standard input; the prompt goes to standard error, if at all."""
    if sys.stdin.isatty():
        sys.stderr.write(prompt)
        sys.stderr.flush()
    line = sys.stdin.readline()
    return line.removesuffix("\n") if line else None


def keyboard(paths: Set[str]) -> ReadLine:
    """Return what reads lines with editing, history (up) and completion (Tab).

    Args:
        paths: Files that completion knows; they may become more.
    """
    import readline

    completer = Completer(paths)
    readline.set_completer_delims(_DELIMITERS)
    readline.set_completer(lambda text, n: completer(readline.get_line_buffer(), text, n))
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    readline.parse_and_bind("set show-all-if-ambiguous on")
    readline.set_auto_history(False)
    styled = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def read(prompt: str) -> str | None:
        *above, prompt = prompt.split("\n")
        if any(above):
            sys.stdout.write("\n".join(above) + "\n")
        try:
            with on_interrupt(lambda: _abandon(readline.get_line_buffer())):
                line = input(f"\001\033[1m\002{prompt}\001\033[0m\002" if styled else prompt)
        except Abandoned:
            sys.stdout.write("^C\n")
            raise
        except EOFError:
            sys.stdout.write("\n")
            return None
        last = readline.get_current_history_length()
        if line.strip() and (not last or readline.get_history_item(last) != line):
            readline.add_history(line)
        return line

    return read


class Completer:
    """Completes first words to commands, other words to paths and names of arguments."""

    def __init__(self, paths: Set[str]) -> None:
        """Know these files."""
        self._paths = paths
        self._found: list[str] = []

    def __call__(self, line: str, text: str, number: int) -> str | None:
        """Return a completion of the word ``text`` of a line by its number; None after the last."""
        if number == 0:
            self._found = self._all(line.lstrip(), text)
        return self._found[number] if number < len(self._found) else None

    def _all(self, line: str, text: str) -> list[str]:
        tools = tools_of()
        first, _, rest = line.partition(" ")
        if not rest and not line.endswith(" "):
            return sorted(f"{w} " for w in {*COMMANDS, *tools} if w.startswith(text))
        if first == "help":
            return sorted(w for w in {*COMMANDS, *tools} if w.startswith(text))
        names = tools[first].arguments.model_fields if first in tools else ()
        named = [f"{name}=" for name in names if name.startswith(text)]
        return [*named, *sorted(set(self._below(text)))]

    def _below(self, text: str) -> Iterable[str]:
        """Return the files and folders that a path may go on with, one level deep."""
        start = text.rfind("/") + 1
        for path in self._paths:
            hidden = path[start:].startswith(".") and not text[start:].startswith(".")
            if path.startswith(text) and not hidden and printable(path) == path and " " not in path:
                name, slash, _ = path[start:].partition("/")
                yield text[:start] + name + (slash or " ")


def _abandon(line: str) -> None:
    raise Abandoned(line)
