"""A person's own editor, and what it did to a file as calls of the edit tool.

The editor works on a copy outside the box; what the person did there comes back as exact
replacements, so that it counts and is recorded like an agent's.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from codeenv.cli.signals import on_interrupt
from codeenv.errors import UsageError
from codeenv.tools import ToolCall

Editor = Callable[[str, str], str]
"""Takes a file's name and text, and returns the text as the person left it."""
_FALLBACKS = ("nano", "vim", "vi", "emacs")
_NEAR = 3
"""Lines between two changes that are still sent as one."""


def editor_command() -> list[str]:
    """Return the person's editor: ``VISUAL``, ``EDITOR``, or one that is there; [] for none.

    Raises:
        UsageError: If one of them is no command.
    """
    for name in ("VISUAL", "EDITOR"):
        told = os.environ.get(name, "")
        try:
            words = shlex.split(told)
        except ValueError as error:
            raise UsageError(
                f"{name}={told!r} is no command: {error}", hint=f"set {name} to another one"
            ) from None
        if words:
            return words
    found = next((name for name in _FALLBACKS if shutil.which(name)), "")
    return [found] if found else []


def in_editor(name: str, text: str) -> str:
    """Let the person edit a text in their editor.

    Raises:
        UsageError: If the editor cannot be started, fails, or leaves what is no text; it says where
            what the person left is kept.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="codeenv-edit-") as folder:
        file = Path(folder, PurePosixPath(name).name)
        file.write_bytes(text.encode())
        try:
            with on_interrupt(lambda: None):  # Ctrl-C is for the editor alone
                status = subprocess.run([*command, str(file)], check=False).returncode
            left = file.read_bytes()
        except OSError as error:
            raise UsageError(f"{command[0]}: {error}", hint="set EDITOR to another one") from None
    try:
        if not status:
            return left.decode().replace("\r\n", "\n")
        why = f"ended with {status}"
    except UnicodeDecodeError:
        why = "left what is not UTF-8"
    kept = f"; what you wrote is in {keep(name, left)}" if left != text.encode() else ""
    raise UsageError(f"{command[0]} {why}: nothing was changed{kept}", hint="edit PATH")


def keep(name: str, left: bytes) -> Path:
    """Return a new file that holds what a person wrote, which only they can read."""
    number, path = tempfile.mkstemp(prefix="codeenv-kept-", suffix=f"-{PurePosixPath(name).name}")
    with os.fdopen(number, "wb") as file:
        file.write(left)
    return Path(path)


def edits(path: str, before: str | None, after: str) -> list[ToolCall]:
    """Return the calls that turn one text of a file into another, one for each place.

    Args:
        path: The file.
        before: Its text; None if there is none yet.
        after: What it is to be.
    """
    if before is None or (not before and after):
        return [_call(path, "", after)]
    calls, text = [], before
    for old, new in _hunks(before, after):
        if not _unique(text, old):
            return [_call(path, before, after)]
        calls.append(_call(path, old, new))
        text = text.replace(old, new)
    return calls


def _call(path: str, old: str, new: str) -> ToolCall:
    return ToolCall(tool="edit_file", arguments={"path": path, "old_str": old, "new_str": new})


def _hunks(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield replacements from the top to the bottom, each of a text that is there once then."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    done, made = 0, 0  # lines of ``old`` that have become lines of ``new`` already, and these
    for first, last, start, end in _places(old, new):
        above, below = first, last
        text = "".join(new[:made] + old[done:])
        while not _unique(text, "".join(old[above:below])) and (above > done or below < len(old)):
            above, below = max(done, above - 1), min(len(old), below + 1)
        yield (
            "".join(old[above:below]),
            "".join([*old[above:first], *new[start:end], *old[last:below]]),
        )
        done, made = last, end


def _unique(text: str, part: str) -> bool:
    return bool(part) and text.find(part) == text.rfind(part)


def _places(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """Return what differs, as ranges of lines; what is near is one."""
    found: list[tuple[int, int, int, int]] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        if found and first - found[-1][1] <= _NEAR:
            first, start = found[-1][0], found[-1][2]
            found.pop()
        found.append((first, last, start, end))
    return found
