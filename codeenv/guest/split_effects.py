"""What code does beside giving answers: it prints, warns, logs, and looks at its surroundings.

All of that happens on the tests' side, where the tests look for it.
"""

import io
import logging
import os
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

from codeenv.guest.split_wire import Wire


class Teller(Protocol):
    """What can speak to the tests' side."""

    def encode(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return a value for the wire."""
        ...

    def tell(self, message: list[Wire]) -> None:
        """Send what wants no answer."""
        ...

    def exchange(self, message: list[Wire]) -> list[Wire]:
        """Ask."""
        ...


def adopt(ambient: dict[str, Any], decode: Callable[[Wire], Any]) -> None:
    """Take over what changed in the surroundings of the tests."""
    for name, value in ambient.get("environ", {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if "argv" in ambient:
        sys.argv[:] = ambient["argv"]
    if "cwd" in ambient and os.path.isdir(ambient["cwd"]):
        os.chdir(ambient["cwd"])
    if "stdin" in ambient:
        given = decode(ambient["stdin"])
        sys.stdin = sys.__stdin__ if given is None else given


def forward(peer: Teller) -> None:
    """Let what is printed, warned of and logged happen on the tests' side."""
    sys.stdout, sys.stderr = _Output(peer, "stdout"), _Output(peer, "stderr")
    _forward_warnings(peer)
    root = logging.getLogger()
    root.addHandler(_Records(peer))
    root.setLevel(1)


class _Output(io.TextIOBase):
    """A stream that is written on the tests' side."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, peer: Teller, name: str) -> None:
        self._peer, self.name = peer, f"<{name}>"
        self._stream = name
        self.buffer = _Bytes(peer, name)

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._peer.tell(["output", self._stream, str(text)])
        return len(text)

    def writable(self) -> bool:
        return True


class _Bytes(io.RawIOBase):
    """The binary side of such a stream."""

    def __init__(self, peer: Teller, name: str) -> None:
        self._peer, self._stream = peer, name

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        text = bytes(data).decode("latin-1")
        self._peer.tell(["output", self._stream, ["bytes", text]])
        return len(text)

    def writable(self) -> bool:
        return True


class _Records(logging.Handler):
    """Passes log records on."""

    def __init__(self, peer: Teller) -> None:
        super().__init__()
        self._peer = peer

    def emit(self, record: logging.LogRecord) -> None:
        told = [record.name, record.levelno, record.getMessage(), record.pathname, record.lineno]
        self._peer.tell(["log", *told])


def _forward_warnings(peer: Teller) -> None:
    usual, filters = warnings.warn, warnings.filters

    def warn(
        message: Any,  # noqa: ANN401 - as warnings.warn
        category: Any = None,  # noqa: ANN401 - as warnings.warn
        stacklevel: int = 1,
        source: Any = None,  # noqa: ANN401 - as warnings.warn
        **kwargs: Any,  # noqa: ANN401 - of later versions
    ) -> None:
        if warnings.filters is not filters:  # the code under test looks at its own warnings
            usual(message, category, stacklevel + 1, source, **kwargs)
            return
        if isinstance(message, Warning):
            category = type(message)
        elif category is None:
            category = UserWarning
        elif not (isinstance(category, type) and issubclass(category, Warning)):
            raise TypeError(f"category must be a Warning subclass, not '{category!r}'")
        frame = _caller(stacklevel)
        name = frame.f_globals.get("__name__", "<sys>") if frame else "<sys>"
        place = [frame.f_code.co_filename, frame.f_lineno] if frame else ["<sys>", 1]
        told = [peer.encode(message), peer.encode(category), *place, name]
        peer.exchange(["warn", *told])

    warnings.warn = warn


def _caller(stacklevel: int) -> FrameType | None:
    """Return the frame of the code that a warning is about."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(max(stacklevel, 1) - 1):
        frame = frame.f_back if frame else None
    return frame
