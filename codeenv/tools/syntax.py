"""Whether a Python file parses, asked of the environment's own interpreter inside the box.

The host's interpreter may be older than the project's syntax, and parses nothing an agent wrote.
"""

import json

from codeenv.sandbox.base import Sandbox

_CHECK = """
import ast, json, sys, warnings
warnings.simplefilter("ignore")
try:
    ast.parse(sys.stdin.buffer.read())
    found = ""
except SyntaxError as error:
    found = f"line {error.lineno}: {error.msg}"
except (ValueError, RecursionError, MemoryError) as error:
    found = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""
_LARGEST = 2 * 1024**2


def syntax_problem(sandbox: Sandbox, data: bytes) -> str:
    """Return what is wrong with Python source, or "" (also where no interpreter answers)."""
    if len(data) > _LARGEST:
        return ""
    command = ("python3", "-I", "-S", "-c", _CHECK)
    result = sandbox.exec(command, timeout=10.0, stdin=data, output_limit=4096)
    if result.exit_code != 0:
        return ""
    try:
        found = json.loads(result.text)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""


def new_syntax_problem(sandbox: Sandbox, path: str, before: bytes | None, after: bytes) -> str:
    """Return a syntax problem of a ``.py`` file that its earlier content did not have."""
    if not path.endswith((".py", ".pyi")):
        return ""
    problem = syntax_problem(sandbox, after)
    if not problem or before is None:
        return problem
    return "" if syntax_problem(sandbox, before) else problem
