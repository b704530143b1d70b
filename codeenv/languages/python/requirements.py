"""Collect what a repository's manifests say it needs, for its code and for its tests."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from codeenv.languages.python.manifests import (
    Manifests,
    Table,
    as_table,
    strings,
    table,
    text,
)
from codeenv.languages.python.poetry import poetry_requirements
from codeenv.languages.python.requirement_files import (
    NOT_TEST_GROUP,
    read_requirements,
    requirement_files,
    tox_requirements,
)
from codeenv.tree import Tree

TEST_GROUPS = re.compile(
    r"(?i)^(.*[-_.])?(tests?|testing|unit-?tests?|pytest|dev|develop(ment)?|ci)([-_.].*)?$"
)
_TOOLS = re.compile(
    r"^(flake8.*|pyflakes|pycodestyle|pydocstyle|black|isort|ruff|pylint.*|mypy|pyright|pytype|pyre-check"
    r"|pre-commit.*|sphinx.*|furo|mkdocs.*|.*-theme|numpydoc|myst-.*|docutils|doc8|towncrier|tox.*|nox"
    r"|maturin|pip-compile-multi|iniconfig|pluggy|twine|build|wheel|setuptools|setuptools-scm|pip|pip-tools|uv|hatch|hatchling|poetry.*|pdm|flit.*"
    r"|bump.*|python-semantic-release|commitizen|codecov|coveralls|coverage|pytest-cov|pytest-xdist"
    r"|pytest-(flake8|black|pylint|mypy.*|ruff|isort|checkdocs|enabler|sugar|randomly|random-order|pycodestyle)"
    r"|types-.*|.*-stubs|ipython|ipdb|ipykernel|jupyter.*|notebook|pudb|check-manifest|pyroma|bandit"
    r"|safety|vulture|autoflake|pyupgrade|yapf|autopep8|interrogate|codespell|check-wheel-contents"
    r"|cibuildwheel|readme-renderer|restructuredtext-lint|virtualenv|invoke|zest.releaser|changelist)$"
)
_OPTION = re.compile(r"\s+(--?[a-zA-Z].*|#.*)$")


@dataclass(frozen=True, slots=True)
class Need:
    """One requirement as it was found.

    Attributes:
        requirement: Parsed.
        source: The file, and the table in it, that names it.
        rank: 0 for what the code needs, higher for less binding sources.
    """

    requirement: Requirement
    source: str
    rank: int


def collect(tree: Tree, manifests: Manifests) -> Mapping[str, str]:
    """Return requirement -> source, sorted; one entry per distribution and marker."""
    best: dict[tuple[str, str], Need] = {}
    own = canonicalize_name(manifests.name) if manifests.name else ""
    for need in _needs(tree, manifests):
        name = canonicalize_name(need.requirement.name)
        if name == own or (need.rank and _TOOLS.match(name)):
            continue
        key = (name, str(need.requirement.marker or ""))
        if key not in best or _better(need, best[key]):
            best[key] = need
    chosen = {_spelled(n): n.source for n in _without_shadowed(best)}
    return dict(sorted(chosen.items()))


def optional_requirements(manifests: Manifests) -> tuple[str, ...]:
    """Return what all extras ask for, without markers, sorted."""
    tables = (
        table(manifests.project, "optional-dependencies"),
        table(manifests.pyproject, "tool", "flit", "metadata", "requires-extra"),
        manifests.setup_cfg.get("options.extras_require", {}),
        as_table(manifests.setup_py.get("extras_require")),
    )
    lines = [line for extras in tables for value in extras.values() for line in strings(value)]
    lines += [line for line in manifests.pkg_info.get("requires-dist", ()) if "extra" in line]
    found = set[str]()
    for requirement in filter(None, map(parse_requirement, lines)):
        requirement.marker = None
        found.add(str(requirement))
    return tuple(sorted(found))


def _better(need: Need, other: Need) -> bool:
    if bool(need.requirement.specifier) != bool(other.requirement.specifier):
        return bool(need.requirement.specifier)
    return need.rank < other.rank


def _without_shadowed(best: Mapping[tuple[str, str], Need]) -> list[Need]:
    """Drop requirement-file entries of distributions that the metadata speaks of."""
    lowest: dict[str, int] = {}
    for (name, _), need in best.items():
        lowest[name] = min(need.rank, lowest.get(name, need.rank))
    return [n for (name, _), n in best.items() if n.rank == lowest[name] or n.rank < 2]


def _spelled(need: Need) -> str:
    requirement = Requirement(str(need.requirement))
    requirement.name = canonicalize_name(requirement.name)
    return str(requirement)


def _needs(tree: Tree, manifests: Manifests) -> Iterator[Need]:
    for source, rank, line in _lines(tree, manifests):
        requirement = parse_requirement(line)
        if requirement is not None:
            yield Need(requirement, source, rank)


def parse_requirement(line: str) -> Requirement | None:
    """Return a line of a requirements list, or None for URLs, paths, options and nonsense."""
    line = _OPTION.sub("", line.strip().rstrip("\\").strip())
    if not line or line.startswith(("-", "#", ".", "/", "{")) or "://" in line or "@" in line:
        return None
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def _lines(tree: Tree, manifests: Manifests) -> Iterator[tuple[str, int, str]]:
    yield from _from_project(manifests)
    yield from _from_groups(manifests)
    yield from _from_setup(manifests)
    yield from _from_metadata(manifests)
    yield from _from_pytest(manifests)
    for path in requirement_files(tree, is_test_group):
        yield from ((path, 2, line) for line in read_requirements(tree, path))
    yield from (("tox.ini", 3, line) for line in tox_requirements(tree, manifests, is_test_group))


def is_test_group(name: str) -> bool:
    """Return whether an extra or a dependency group is there for the tests."""
    return bool(TEST_GROUPS.match(name)) and not NOT_TEST_GROUP.search(name)


def _from_project(manifests: Manifests) -> Iterator[tuple[str, int, str]]:
    where = "pyproject.toml"
    extras = {k: strings(v) for k, v in table(manifests.project, "optional-dependencies").items()}
    for line in strings(manifests.project.get("dependencies")):
        yield f"{where} [project]", 0, line
    for line in _extra_lines(manifests.name, extras):
        yield f"{where} [project.optional-dependencies]", 1, line
    flit = table(manifests.pyproject, "tool", "flit", "metadata")
    for line in strings(flit.get("requires")):
        yield f"{where} [tool.flit]", 0, line
    for name, value in table(flit, "requires-extra").items():
        if is_test_group(name):
            yield from ((f"{where} [tool.flit]", 1, line) for line in strings(value))
    for line, runtime in poetry_requirements(manifests.poetry, is_test_group):
        yield f"{where} [tool.poetry]", 0 if runtime else 1, line


def _extra_lines(own: str, extras: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield what the test extras hold, following references to the project's other extras."""
    queue, seen = [n for n in extras if is_test_group(n)], set()
    while queue:
        name = queue.pop(0)
        if name in seen:
            continue
        seen.add(name)
        for line in extras.get(name, ()):
            found = parse_requirement(line)
            if found and own and canonicalize_name(found.name) == canonicalize_name(own):
                queue += sorted(found.extras)
            else:
                yield line


def _from_groups(manifests: Manifests) -> Iterator[tuple[str, int, str]]:
    groups = table(manifests.pyproject, "dependency-groups")
    for name in groups:
        if is_test_group(name):
            for line in _group(groups, name, frozenset()):
                yield "pyproject.toml [dependency-groups]", 1, line
    yield from _from_tools(table(manifests.pyproject, "tool"))


def _from_tools(tool: Table) -> Iterator[tuple[str, int, str]]:
    for line in strings(table(tool, "uv").get("dev-dependencies")):
        yield "pyproject.toml [tool.uv]", 1, line
    for name, value in table(tool, "pdm", "dev-dependencies").items():
        if is_test_group(name):
            yield from (("pyproject.toml [tool.pdm]", 1, line) for line in strings(value))
    for name, value in table(tool, "hatch", "envs").items():
        if is_test_group(name) or name == "default":
            environment = as_table(value)
            for key in ("dependencies", "extra-dependencies"):
                for line in strings(environment.get(key)):
                    yield "pyproject.toml [tool.hatch]", 1, line


def _group(groups: Table, name: str, seen: frozenset[str]) -> Iterator[str]:
    value = groups.get(name)
    if name in seen or not isinstance(value, list):
        return
    for item in value:
        if isinstance(item, str):
            yield item
        else:
            included = text(as_table(item).get("include-group"))
            if included and not NOT_TEST_GROUP.search(included):
                yield from _group(groups, included, seen | {name})


def _from_setup(manifests: Manifests) -> Iterator[tuple[str, int, str]]:
    options = manifests.setup_cfg.get("options", {})
    for key, rank in (("install_requires", 0), ("tests_require", 1)):
        for line in strings(options.get(key)):
            yield f"setup.cfg {key}", rank, line
        for line in strings(manifests.setup_py.get(key)):
            yield f"setup.py {key}", rank, line
    for name, value in manifests.setup_cfg.get("options.extras_require", {}).items():
        if is_test_group(name):
            yield from (("setup.cfg extras_require", 1, line) for line in strings(value))
    extras = as_table(manifests.setup_py.get("extras_require"))
    for line in _extra_lines(manifests.name, {k: strings(v) for k, v in extras.items()}):
        yield "setup.py extras_require", 1, line


def _from_metadata(manifests: Manifests) -> Iterator[tuple[str, int, str]]:
    for line in manifests.pkg_info.get("requires-dist", ()):
        match = re.search(r"""extra\s*==\s*['"]([^'"]+)['"]""", line)
        if match is None:
            yield "PKG-INFO", 0, line
        elif is_test_group(match.group(1)):
            yield "PKG-INFO", 1, _without_extra(line)


def _without_extra(line: str) -> str:
    head, _, marker = line.partition(";")
    rest = re.sub(r"""\s*(and\s+)?extra\s*==\s*['"][^'"]+['"](\s+and)?\s*""", " ", marker).strip()
    rest = rest.removeprefix("and ").removesuffix(" and").strip()
    return f"{head.strip()}; {rest}" if rest and rest != "()" else head.strip()


def _from_pytest(manifests: Manifests) -> Iterator[tuple[str, int, str]]:
    value = manifests.pytest_options.get("required_plugins")
    for name in value.split() if isinstance(value, str) else strings(value):
        yield "pytest required_plugins", 1, name
