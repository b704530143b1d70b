"""The surroundings that tests prepare for the code they test: told when they change."""

import os
import sys
from collections.abc import Callable
from typing import Any

from codeenv.guest.split_wire import Wire

_OWN = frozenset({"PYTEST_CURRENT_TEST", "PWD", "OLDPWD"})


class Ambient:
    """Compares environment, folder, arguments and standard input with what was told last."""

    def __init__(self) -> None:
        """Take what a new process has of its own."""
        self._environ, self._raw = dict(os.environ), _raw()
        self._cwd = os.getcwd()
        self._argv = list(sys.argv)
        self._stdin: Any = None

    def changes(self, encode: Callable[[Any], Wire]) -> dict[str, Any]:
        """Return what changed since it was asked for last."""
        changed: dict[str, Any] = {}
        raw = _raw()
        if raw != self._raw:
            now, self._raw = dict(os.environ), raw
            names = (now.keys() | self._environ.keys()) - _OWN
            told = {n: now.get(n) for n in names if now.get(n) != self._environ.get(n)}
            self._environ = now
            changed |= {"environ": told} if told else {}
        if sys.argv != self._argv:
            changed["argv"] = self._argv = [str(argument) for argument in sys.argv]
        changed |= self._folder()
        stdin = None if _is_of_pytest(sys.stdin) else sys.stdin
        if stdin is not self._stdin:
            self._stdin = stdin
            changed["stdin"] = encode(stdin)
        return changed

    def _folder(self) -> dict[str, Any]:
        try:
            cwd = os.getcwd()
        except OSError:
            return {}
        if cwd == self._cwd:
            return {}
        self._cwd = cwd
        return {"cwd": cwd}


def _raw() -> dict[Any, Any]:
    """Return a copy of the environment as the interpreter keeps it: this is asked at every call."""
    return dict(getattr(os.environ, "_data", os.environ))


def _is_of_pytest(stream: Any) -> bool:  # noqa: ANN401 - whatever stands for standard input
    return stream is None or stream is sys.__stdin__ or "_pytest" in type(stream).__module__
