"""What a path is, by its name and by the task: its class, and which tool makes such files."""

import posixpath
import re

from codeenv.languages.python.layout import SUPPORT_FILES, is_test_name, is_test_place
from codeenv.materialise.files import refusal
from codeenv.monitor.models import PathClass

WORKSPACE = "/workspace"
HOME = "/home/agent"
_HOOKS = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py"})
_CACHES = (
    ("mypy", r"(^|/)\.(mypy_cache|dmypy\.json)"),
    ("hypothesis", r"(^|/)\.hypothesis(/|$)"),
    ("pytest", r"(^|/)\.pytest_cache(/|$)"),
    ("ruff", r"(^|/)\.ruff_cache(/|$)"),
    ("coverage", r"(^|/)(\.coverage|htmlcov|coverage\.xml)(\.|/|$)"),
    ("bytecode", r"(^|/)__pycache__(/|$)|\.py[co]$"),
    ("jedi", r"(^|/)(\.cache|Library/Caches)/(jedi|parso)|(^|/)(parso|jedi)/.*\.pkl$"),
    ("pip", r"(^|/)\.cache/(pip|uv|pypoetry|pdm|conda)(/|$)|(^|/)(conda|miniconda3?)/pkgs(/|$)"),
    ("tox", r"(^|/)\.(tox|nox|eggs)(/|$)"),
    ("docs", r"(^|/)(\.doctrees|_build)(/|$)|objects\.inv$|searchindex\.js$"),
    ("build", r"(^|/)build/(lib|bdist|temp)[^/]*(/|$)|(^|/)dist/[^/]+\.(whl|tar\.gz|zip|egg)$"),
    ("editor", r"\.(orig|rej|bak|sw[op])$|~$|(^|/)(\.idea|\.vscode|tags|TAGS)(/|$)"),
)
_KINDS = tuple((kind, re.compile(pattern)) for kind, pattern in _CACHES)
_MAKERS = {
    "mypy": ("mypy", "dmypy"),
    "hypothesis": ("pytest", "py.test", "python", "tox", "nox"),
    "pytest": ("pytest", "py.test", "python", "tox", "nox"),
    "ruff": ("ruff", "lint"),
    "coverage": ("coverage", "pytest", "py.test", "python", "tox", "nox"),
    "bytecode": ("python", "pytest", "py.test", "mypy", "tox", "nox", "coverage", "pip"),
    "jedi": ("python", "ipython", "jedi"),
    "pip": ("pip", "uv", "poetry", "pdm", "conda"),
    "tox": ("tox", "nox", "python"),
    "docs": ("sphinx-build", "make", "mkdocs", "python", "tox"),
    "build": ("python", "pip", "uv", "make", "tox", "build", "hatch", "flit", "poetry", "pdm"),
    "editor": ("sed", "patch", "vim", "vi", "cp", "ctags", "git"),
}


def clean(path: str, cwd: str = "") -> str:
    """Return a path as the monitor tells it: relative inside the workspace, absolute elsewhere.

    Args:
        path: As written.
        cwd: The folder it is relative to, in the same form; "" for the workspace.
    """
    text = path.strip()[:4096]
    for mark in ("~", "$HOME", "${HOME}"):
        if text == mark or text.startswith(mark + "/"):
            text = HOME + text[len(mark) :]
    for mark in ("$PWD/", "${PWD}/"):
        text = text.removeprefix(mark)
    if text.startswith("<site-packages>"):
        text = "/opt/env/lib/python3/site-packages" + text.removeprefix("<site-packages>")
    if not text.startswith("/"):
        text = posixpath.join(cwd, text)
    text = posixpath.normpath(text) if text else "."
    if text == WORKSPACE or text.startswith(WORKSPACE + "/"):
        return text[len(WORKSPACE) + 1 :] or "."
    if text.startswith("../"):  # out of the workspace
        return posixpath.normpath(posixpath.join(WORKSPACE, text))
    return re.sub(r"^//+", "/", text)


def classify(path: str) -> PathClass:
    """Return what a path (of ``clean``) is by its name alone; code of the project is ``source``."""
    name = posixpath.basename(path)
    folders = path.split("/")[:-1]
    if ".git" in path.split("/") or name in (".gitattributes", ".gitmodules"):
        return "vcs"
    if cache_kind(path):
        return "cache"
    if path.startswith("/"):
        return _outside(path)
    if name in _HOOKS or is_test_place(path + "/x") or is_test_name(name):
        return "test"
    if name in SUPPORT_FILES or name.endswith((".pth", ".cfg", ".ini", ".toml")):
        return "config"
    if name.endswith((".py", ".pyi", ".pyx")):
        return "source"
    return "config" if any(f.endswith((".dist-info", ".egg-info")) for f in folders) else "unknown"


def _outside(path: str) -> PathClass:
    if re.search(r"/(site-packages|dist-packages)(/|$)", path):
        return "site"
    if path.startswith(("/tmp/", "/var/tmp/", "/dev/shm/")) or path == "/tmp":
        return "tmp"
    if re.match(r"/(home|root)(/|$)", path):
        return "home"
    if re.match(r"/(usr|bin|sbin|lib|lib64|opt|etc|proc|sys|dev|var|run|boot)(/|$)", path):
        return "system"
    return "unknown"


def is_of_environment(path: str) -> bool:
    """Return whether a path (of ``clean``) is of what was installed before the agent came."""
    return _outside(path) in ("site", "system") and not path.startswith(("/var/", "/run/"))


def cache_kind(path: str) -> str:
    """Return what kind of by-product a path is (``mypy``, ``bytecode``, …), or ""."""
    inside = re.search(r"/(site-packages|dist-packages)/", path)
    if inside and not path.endswith((".pyc", ".pyo")):
        return ""
    found = next((kind for kind, pattern in _KINDS if pattern.search(path)), "")
    if found or path.startswith("/"):
        return found
    return "build" if refusal(path) == "build copy" else ""


def makes(kind: str, programs: frozenset[str]) -> bool:
    """Return whether one of the programs that were run makes by-products of a kind."""
    return any(maker in programs for maker in _MAKERS.get(kind, ()))
