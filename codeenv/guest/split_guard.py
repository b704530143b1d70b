"""Keeps what the code under test answers from being run in the tests' process.

Tests may evaluate a text, unpickle bytes or start a program that they got from the code under test;
here that would let it decide about itself.  What it takes for it is refused, and a test that needs
it is no test to be split.
"""

import ast
import builtins
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from codeenv.guest.split_wire import CLASSES

_PROCESSES = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"}
    | {"os.forkpty", "pty.spawn", "marshal.loads", "code.__new__", "ctypes.dlopen"}
    | {"ctypes.dlsym", "sys.setprofile", "sys.settrace", "cpython.run_command"}
)
_NODES = (
    *(ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.BinOp),
    *(ast.unaryop, ast.operator, ast.Call, ast.keyword, ast.Name, ast.Attribute, ast.Load),
    *(ast.Starred, ast.JoinedStr),
)
_HARMLESS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and name != "type"
)
_DATA = frozenset({"datetime", "decimal", "collections", "fractions", "uuid", "pathlib", "re"})


class RefusedError(RuntimeError):
    """Raised where a test would run what the code under test has made."""


def guard(workspace: str, packages: frozenset[str]) -> None:
    """Refuse from now on, in this process, to run what may come from the code under test."""
    root = os.path.realpath(workspace) + os.sep
    ours = __name__.rpartition(".")[0]
    texts = _Texts(root, packages)
    checks: dict[str, Callable[[tuple[Any, ...]], None]] = {
        "compile": texts.compiled,
        "exec": texts.executed,
        "function.__new__": texts.executed,
        "pickle.find_class": lambda args: _check_class(args, ours),
    }

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in _PROCESSES and _is_below(root, directly=False):
            raise RefusedError(f"{event} is not for tests that are split from their code")
        check = checks.get(event)
        if check is not None:
            check(args)

    sys.addaudithook(hook)


def _check_class(args: tuple[Any, ...], ours: str) -> None:
    module, name = args[0], args[1]
    if f"{module}:{name}" not in CLASSES and module != f"{ours}.split_remote":
        raise RefusedError(f"{module}.{name} is not unpickled beside tests")


class _Texts:
    """Lets tests compile what they like, and then run nothing but values and constructors."""

    def __init__(self, root: str, packages: frozenset[str]) -> None:
        self._root, self._packages = root, packages
        self._doubtful = False

    def compiled(self, args: tuple[Any, ...]) -> None:
        """Remember a text that does more than to make a value."""
        source = args[0]
        if self._doubtful or source is None or not _is_below(self._root, directly=True):
            return
        text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
        self._doubtful = not (isinstance(text, str) and _is_constructor(text, self._packages))

    def executed(self, args: tuple[Any, ...]) -> None:
        """Refuse to run what may be such a text: which one it was cannot be told."""
        if self._doubtful and _is_below(self._root, directly=False):
            raise RefusedError("only values and constructors are evaluated beside tests")


def _is_below(root: str, *, directly: bool) -> bool:
    """Return whether the code that does it is of the tests, directly or through a library."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith("<"):
            if "_pytest" in path:
                return False
            if os.path.realpath(path).startswith(root):
                return True
            if directly:
                return False
        elif "importlib" in path:
            return False
        frame = frame.f_back
    return False


def _is_constructor(text: str, packages: frozenset[str]) -> bool:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_allowed(node, packages) for node in ast.walk(tree))


def _is_allowed(node: ast.AST, packages: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _HARMLESS or not (hasattr(builtins, node.id) or node.id.startswith("_"))
    if isinstance(node, ast.Attribute):
        return not node.attr.startswith("_") and _root_of(node) in packages | _DATA
    return isinstance(node, _NODES)


def _root_of(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
