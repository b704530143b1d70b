"""Whether a Python file parses, asked of the environment's own interpreter inside the box.

The host's interpreter may be older than the project's syntax, and parses nothing an agent wrote.
"""

from codeenv.sandbox.base import Sandbox

_ONLY_AST = 0x400
_CHECK = f"""
import sys
try:
    compile(sys.stdin.buffer.read(), "", "exec", {_ONLY_AST}, True)
except SyntaxError as error:
    print(f"line {{error.lineno}}: {{error.msg}}")
except (ValueError, RecursionError, MemoryError) as error:
    print(f"{{type(error).__name__}}: {{error}}")
"""
"""Imports nothing: the interpreter's start is all it costs."""
_LARGEST = 2 * 1024**2


def syntax_problem(sandbox: Sandbox, data: bytes) -> str:
    """Return what is wrong with Python source, or "" (also where no interpreter answers)."""
    if len(data) > _LARGEST:
        return ""
    command = ("python3", "-I", "-S", "-W", "ignore", "-X", "utf8", "-c", _CHECK)
    result = sandbox.exec(command, timeout=10.0, stdin=data, output_limit=4096)
    return result.text.strip() if result.exit_code == 0 else ""


def new_syntax_problem(sandbox: Sandbox, path: str, before: bytes | None, after: bytes) -> str:
    """Return a syntax problem of a ``.py`` file that its earlier content did not have."""
    if not path.endswith((".py", ".pyi")):
        return ""
    problem = syntax_problem(sandbox, after)
    if not problem or before is None:
        return problem
    return "" if syntax_problem(sandbox, before) else problem
