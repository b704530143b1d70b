"""The house rules that no linter knows."""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULE_LINES = 300
FUNCTION_LINES = 40
# Spelt in pieces: this file is searched as well.
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("debian", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
    )
)

MODULES = sorted(
    path
    for folder in ("codeenv", "harness", "scripts", "tests")
    for path in (ROOT / folder).rglob("*.py")
    if "data" not in path.relative_to(ROOT).parts
)
LIBRARY = [p for p in MODULES if p.relative_to(ROOT).parts[0] in ("codeenv", "harness", "scripts")]


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body, docstring excluded."""
    statements = function.body
    if ast.get_docstring(function) is not None:
        statements = statements[1:]
    if not statements:
        return 0
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_is_read_in_one_sitting(path):
    assert len(path.read_text("utf-8").splitlines()) <= MODULE_LINES


@pytest.mark.parametrize("path", LIBRARY, ids=_name)
def test_a_function_fits_on_a_screen(path):
    tree = ast.parse(path.read_text("utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]

    too_long = {f.name: _body_lines(f) for f in functions if _body_lines(f) > FUNCTION_LINES}

    assert too_long == {}


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_nothing_is_mocked(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}

    assert not {n for n in names if n.startswith(("unittest.mock", "mock.")) or n == "mock"}


@pytest.mark.parametrize("path", LIBRARY, ids=_name)
def test_types_are_imported_for_real(path):
    assert "TYPE_CHECKING" not in path.read_text("utf-8")


CONTAINERS = [p for p in LIBRARY if p.relative_to(ROOT).parts[1] in ("images", "sandbox")]


@pytest.mark.parametrize("path", CONTAINERS, ids=_name)
def test_no_container_is_asked_to_be_of_another_machine(path):
    """The Docker daemon takes what fits its own processor, unless a call or a word says else."""
    tree = ast.parse(path.read_text("utf-8"))
    named = {
        f"{ast.unparse(call.func)}({keyword.arg}={ast.unparse(keyword.value)})"
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "platform"
    }
    words = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}

    assert {name for name in named if not name.startswith("EnvironmentLock(")} == set()
    assert not {w for w in words if isinstance(w, str) and w.startswith(("--platform", "linux/"))}


def test_no_tracked_file_names_a_package_registry():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, timeout=60
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    found = []
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            content = path.read_bytes()
            found += [(name, host) for host in REGISTRY_HOSTS if host.encode() in content]

    assert found == []


def test_the_docker_folder_is_data_and_never_a_package():
    assert not list((ROOT / "docker").rglob("__init__.py"))


def test_shipped_tasks_hold_no_code():
    assert not list((ROOT / "tasks").rglob("*.py"))
