"""Whether Python code that is given on a command line runs tests, and which."""

import ast
import shlex
from collections.abc import Iterator, Mapping, Sequence

_RUNNERS = frozenset(
    "pytest.main pytest.console_main unittest.main unittest.TestProgram unittest.TextTestRunner "
    "doctest.testmod doctest.testfile".split()
)
_SHELLS = frozenset(
    "os.system os.popen subprocess.run subprocess.call subprocess.check_call "
    "subprocess.check_output subprocess.Popen subprocess.getoutput "
    "subprocess.getstatusoutput".split()
)
_LONGEST = 20_000  # characters; more is not read


def test_runs(code: str) -> list[Sequence[str] | None]:
    """Return the arguments of each call of a test runner; None where they cannot be told."""
    given = [_given(call) for name, call in _calls(code) if name in _RUNNERS]
    return [one if isinstance(one, list) else None for one in given]


def command_lines(code: str) -> list[str]:
    """Return the command lines that code runs, as far as they are literal."""
    given = [_given(call) for name, call in _calls(code) if name in _SHELLS]
    return [shlex.join(one) if isinstance(one, list) else one for one in given if one]


def _calls(code: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls in code, and the full name of what is called where it is imported."""
    try:
        nodes = [*ast.walk(ast.parse(code if len(code) <= _LONGEST else ""))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    known = {name: full for node in nodes for name, full in _imported(node)}
    for node in nodes:
        if isinstance(node, ast.Call):
            yield _name(node.func, known), node


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for one in node.names:
            full = one.name if one.asname else one.name.partition(".")[0]
            yield one.asname or full, full
    elif isinstance(node, ast.ImportFrom):
        for one in node.names:
            yield one.asname or one.name, f"{node.module}.{one.name}"


def _name(node: ast.expr, known: Mapping[str, str]) -> str:
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    return f"{_name(node.value, known)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _given(call: ast.Call) -> list[str] | str | None:
    """Return the first argument, if it is a literal text or texts."""
    try:
        given = ast.literal_eval(call.args[0]) if call.args else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    if isinstance(given, list | tuple) and all(isinstance(word, str) for word in given):
        return [*given]
    return given if isinstance(given, str) else None
