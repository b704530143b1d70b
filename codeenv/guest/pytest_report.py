"""The private channel from a test run to the host, and what is told of an exception.

Runs inside a sandbox beside the repository's tests.  One JSON document per line goes to a
descriptor that only this process knows; a crash keeps every line written before it.
"""

import fcntl
import json
import os
import re
import traceback
from collections.abc import Iterator
from types import CodeType, TracebackType
from typing import Any

MESSAGE_LIMIT = 300
_SYMBOL_LIMIT = 40
_CHAIN_LIMIT = 8
_QUOTED = re.compile(r"'([A-Za-z_][\w.]*)'")
_NAMING = (NameError, AttributeError, ImportError, NotImplementedError, TypeError)


class Channel:
    """Writes records to a descriptor, from the process that made it only."""

    def __init__(self, descriptor: int) -> None:
        """Move the descriptor out of reach of child processes, and close the well-known number."""
        self._descriptor = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 200)
        os.close(descriptor)
        self._owner = os.getpid()

    def close(self) -> None:
        """Let go of the descriptor, in a forked process that has a channel of its own."""
        os.close(self._descriptor)

    def send(self, record: dict[str, Any]) -> None:
        """Write one record at once."""
        if os.getpid() != self._owner:
            return
        data = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]


def message_of(error: BaseException) -> str:
    """Return the exception's type and the first line of its text."""
    name = type(error).__name__
    argname = getattr(error, "argname", None)
    if name == "FixtureLookupError" and argname:
        return f"fixture '{argname}' not found"
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001 - the text is made by the code under test
        lines = ["<unprintable>"]
    return (f"{name}: {lines[0]}" if lines else name)[:MESSAGE_LIMIT]


def symbols_of(error: BaseException, workspace: str) -> list[str]:
    """Return names the exception chain speaks of, and ``path::function`` of its frames."""
    found: dict[str, None] = {}
    for link in _chain(error):
        for name in _names(link):
            found[name] = None
        for place in _places(link.__traceback__, workspace):
            found[place] = None
    return list(found)[-_SYMBOL_LIMIT:]


def root_cause(error: BaseException) -> BaseException:
    """Return the import error behind pytest's own collection error."""
    cause = error.__cause__
    return cause if type(error).__name__ == "CollectError" and cause is not None else error


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(_CHAIN_LIMIT):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _names(error: BaseException) -> Iterator[str]:
    if not isinstance(error, _NAMING):
        return
    yield type(error).__name__
    for attribute in ("name", "name_from"):
        value = getattr(error, attribute, None)
        if isinstance(value, str):
            yield value
    try:
        yield from _QUOTED.findall(str(error)[:1000])
    except Exception:  # noqa: BLE001 - the text is made by the code under test
        return


def _places(trace: TracebackType | None, workspace: str) -> Iterator[str]:
    root = os.path.realpath(workspace) + os.sep
    for frame, _ in traceback.walk_tb(trace):
        name = frame.f_code.co_filename
        path = os.path.realpath(name)
        if path.startswith(root) and not name.startswith("<"):
            yield f"{path[len(root) :]}::{_qualified_name(frame.f_code)}"


def _qualified_name(code: CodeType) -> str:
    name: str = getattr(code, "co_qualname", code.co_name)
    return name.split(".<locals>")[0]
