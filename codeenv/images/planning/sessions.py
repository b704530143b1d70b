"""tox and nox: the commands of their environments, and the variables they set."""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator

from codeenv.images.planning.facts import Fact, Place, Script
from codeenv.images.planning.ini_lines import ini_lines
from codeenv.languages.python.requirement_files import FACTOR
from codeenv.languages.python.syntax import parse_module

_NOT_TESTS = re.compile(r"(?i)doc|lint|typ(e|ing)|mypy|format|release|style|build|pre-?commit|pkg")
_COMMANDS = frozenset({"commands", "commands_pre"})
_VARIABLES = frozenset({"setenv", "set_env"})


def read_tox(path: str, text: str) -> Iterator[Script | Fact]:
    """Yield what ``tox.ini`` (or the tox sections of ``setup.cfg``) runs and sets for tests."""
    for line in ini_lines(text):
        name = line.section.removeprefix("tox:")
        if not name.startswith("testenv") or _NOT_TESTS.search(name):
            continue
        place, value = Place(path, line.line), FACTOR.sub("", line.text)
        if line.key in _COMMANDS:
            yield Script(value, place)
        elif line.key in _VARIABLES and "{" not in value:
            name, sign, told = value.partition("=")
            if sign:
                yield Fact("variable", f"{name.strip()}={told.strip()}", place)


def read_pyproject(path: str, text: str) -> Iterator[Script | Fact]:
    """Yield the commands of ``pyproject.toml`` that speak of tests: tox, hatch, pdm, poe."""
    try:
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return
    for found in _strings_below(tool):
        if "test" in found:
            yield Script(found, Place(path, _line_of(text, found)))


def _strings_below(table: object, *, named: bool = False) -> Iterator[str]:
    """Yield the strings, and lists of words, under keys that hold commands."""
    if isinstance(table, dict):
        for key, value in table.items():
            commands = key in ("commands", "scripts", "cmd", "shell", "tasks", "legacy_tox_ini")
            yield from _strings_below(value, named=named or commands)
    elif isinstance(table, list) and named:
        if table and all(isinstance(word, str) for word in table):
            yield shlex.join(table) if len(table) > 1 else table[0]
        for item in table:
            if not isinstance(item, str):
                yield from _strings_below(item, named=True)
    elif isinstance(table, str) and named:
        yield table


def _line_of(text: str, command: str) -> int:
    """Return the line that names the first long word of a command, or 0."""
    first = next((word for word in command.split() if "test" in word), command)
    lines = text.splitlines()
    return next((n for n, line in enumerate(lines, start=1) if first in line), 0)


def read_nox(path: str, text: str) -> Iterator[Script | Fact]:
    """Yield what the sessions of ``noxfile.py`` install, run and set; nothing is executed."""
    module = parse_module(text.encode())
    for node in ast.walk(module) if module else ():
        if isinstance(node, ast.FunctionDef) and not _NOT_TESTS.search(node.name):
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    yield from _session_call(path, call, call.func.attr)


def _session_call(path: str, call: ast.Call, method: str) -> Iterator[Script | Fact]:
    words = [str(a.value) for a in call.args if isinstance(a, ast.Constant)]
    place = Place(path, call.lineno)
    if method in ("run", "run_always") and words:
        yield Script(shlex.join(words), place)
        for keyword in call.keywords:
            if keyword.arg == "env" and isinstance(keyword.value, ast.Dict):
                yield from _variables(keyword.value, place)
    elif method == "install" and words:
        yield Script(shlex.join(["pip", "install", *words]), place)


def _variables(table: ast.Dict, place: Place) -> Iterator[Fact]:
    for key, value in zip(table.keys, table.values, strict=True):
        match key, value:
            case ast.Constant(value=str(name)), ast.Constant(value=str(told)):
                yield Fact("variable", f"{name}={told}", place)
