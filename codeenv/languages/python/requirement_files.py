"""Read requirements files and tox's dependency lists."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from codeenv.languages.python.manifests import Manifests, strings, table, text_of
from codeenv.tree import Tree

NOT_TEST_GROUP = re.compile(r"(?i)doc|lint|typ(e|ing)|mypy|bench|format|release|style|build")
"""Names of groups that are not for tests whatever else they say."""
FACTOR = re.compile(r"^[\w.,!{}-]+:\s+")
"""What tells for which of tox's environments a line is."""
_REQUIREMENTS = re.compile(r"(?i)^(requirements|requires|reqs?)[-_.]?|[-_.]?(requirements|reqs?)$")
_BASE_KINDS = frozenset({"base", "main", "install", "requirements", "prod", "all"})


def requirement_files(tree: Tree, is_test_group: Callable[[str], bool]) -> Iterator[str]:
    """Yield the requirements files that speak of the code or of its tests."""
    for path in tree:
        where = PurePosixPath(path)
        if where.suffix not in (".txt", ".in", ".pip") or len(where.parts) > 3:
            continue
        if where.suffix == ".txt" and str(where.with_suffix(".in")) in tree:
            continue
        kind = _kind(where)
        if kind is not None and (is_test_group(kind) or kind.lower() in _BASE_KINDS):
            yield path


def _kind(where: PurePosixPath) -> str | None:
    """Return what a requirements file is for by its name, or None if it is none."""
    folder = where.parent.name.lower()
    stem = _REQUIREMENTS.sub("", where.stem)
    if folder in ("requirements", "reqs") and str(where.parent.parent) == ".":
        return where.stem
    if stem != where.stem and folder in ("", "test", "tests", "testing"):
        return stem or ("tests" if folder else "base")
    return None


def read_requirements(tree: Tree, path: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the lines of a requirements file and of what it includes by ``-r``."""
    if path in seen:
        return
    content = text_of(tree, path).replace("\\\r\n", " ").replace("\\\n", " ")
    for raw in content.splitlines():
        line = raw.strip()
        include = re.match(r"(?:-r|--requirement)[\s=]*(\S+)", line)
        if include:
            target = _join(path, include.group(1))
            if not NOT_TEST_GROUP.search(PurePosixPath(target).stem):
                yield from read_requirements(tree, target, seen | {path})
        elif line and not line.startswith(("#", "-")):
            yield re.split(r"\s--?[a-zA-Z]", line)[0].strip()


def _join(path: str, relative: str) -> str:
    parts = list(PurePosixPath(path).parent.parts)
    for part in PurePosixPath(relative).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def tox_requirements(
    tree: Tree, manifests: Manifests, is_test_group: Callable[[str], bool]
) -> Iterator[str]:
    """Yield the ``deps`` of tox environments that run tests."""
    for section, values in manifests.tox.items():
        if section == "testenv" or (section.startswith("testenv:") and is_test_group(section[8:])):
            for raw in values.get("deps", "").splitlines():
                yield from _tox_line(tree, FACTOR.sub("", raw.strip()))
    yield from strings(table(manifests.pyproject, "tool", "tox", "env_run_base").get("deps"))


def _tox_line(tree: Tree, line: str) -> Iterator[str]:
    include = re.match(r"-r\s*(?:\{toxinidir\}/)?(\S+)", line)
    if include:
        yield from read_requirements(tree, _join("tox.ini", include.group(1)))
    elif line:
        yield line
