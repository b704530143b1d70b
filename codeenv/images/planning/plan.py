"""The plan of an environment: everything the files say, and how to see that it was done."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codeenv.images.planning.checks import derive_checks
from codeenv.images.planning.detect import detect
from codeenv.images.planning.facts import Check, Fact
from codeenv.languages.base import InstallPlan, Language, Layout
from codeenv.tree import Tree

_OF_TOOLS = re.compile(
    r"^(PIP_|UV_|TOX_|NOX_|CODECOV|COVERALLS|COVERAGE_|GITHUB_|CI$|FORCE_COLOR|PY_COLORS|MYPY_|TWINE_"
    r"|POETRY_|HATCH_|DEBIAN_FRONTEND|PATH$|HOME$|PYTHONPATH$|PYTHON_VERSION|PYTHONDONTWRITE"
    r"|PYTHONHASHSEED)|TOKEN|SECRET|PASSWORD"
)
_NAME = re.compile(r"^[A-Z_][A-Z0-9_]*$")
_SERVICES = {
    "postgres": "postgresql", "postgis": "postgresql", "postgresql": "postgresql",
    "redis": "redis", "redis-server": "redis", "valkey": "redis", "memcached": "memcached",
}  # fmt: skip
HELD_OUT_EVERY = 3


@dataclass(frozen=True)
class EnvironmentPlan:
    """What an environment needs, each part with the line it was read from.

    Attributes:
        install: The project's own metadata and the requirements to install.
        pythons: Python versions that the repository is tested with.
        apt: Debian packages that its files install.
        variables: Variables that its tests are run with, and that its code or tests read.
        services: Servers that its tests are run beside.
        tests: Commands that run its tests.
        checks: Verification commands.
        database: Kind (``user``, ``database``) and name of what a database server is given.
    """

    install: InstallPlan
    pythons: tuple[Fact, ...]
    apt: tuple[Fact, ...]
    variables: tuple[Fact, ...]
    services: tuple[Fact, ...]
    tests: tuple[Fact, ...]
    checks: tuple[Check, ...]
    database: tuple[tuple[str, str], ...] = ()

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers among the services, with the user and database that go with them."""
        found = {service_of(fact.value) for fact in self.services}
        found |= {service_of(fact.value) for fact in self.apt}
        named = " ".join(f"{kind}={name}" for kind, name in self.database)
        return tuple(
            f"{server} {named}".strip() if server == "postgresql" else server
            for server in sorted(found - {""})
        )

    @property
    def shown(self) -> tuple[Check, ...]:
        """The checks that whoever builds the environment may see."""
        return tuple(c for number, c in enumerate(self.checks) if number % HELD_OUT_EVERY)

    @property
    def held_out(self) -> tuple[Check, ...]:
        """The checks that only judge it."""
        return self.checks[::HELD_OUT_EVERY]


def make_environment_plan(tree: Tree, language: Language, layout: Layout) -> EnvironmentPlan:
    """Read all files that say how the repository is set up; nothing is executed."""
    install = language.plan(tree, layout)
    facts = detect(tree)
    variables = tuple(_used_variables(tree, _of_kind(facts, "variable")))
    kept = [fact for fact in facts if fact.kind != "variable"]
    return EnvironmentPlan(
        install,
        pythons=_of_kind(facts, "python"),
        apt=_of_kind(facts, "apt"),
        variables=variables,
        services=tuple(f for f in _of_kind(facts, "service") if service_of(f.value)),
        tests=_of_kind(facts, "test"),
        checks=derive_checks(tree, layout, install, [*kept, *variables]),
        database=_database(facts),
    )


def service_of(image: str) -> str:
    """Return the server that an image or a service's name stands for, or ""."""
    name = image.rpartition("/")[2].partition(":")[0].partition("-alpine")[0].lower()
    return _SERVICES.get(name, "")


def _of_kind(facts: Iterable[Fact], kind: str) -> tuple[Fact, ...]:
    """Return the first fact of every value."""
    first: dict[str, Fact] = {}
    for fact in facts:
        if fact.kind == kind:
            first.setdefault(fact.value, fact)
    return tuple(first.values())


def _database(facts: Iterable[Fact]) -> tuple[tuple[str, str], ...]:
    """Return the user and the database that services of PostgreSQL are started with."""
    values = dict(fact.value.partition("=")[::2] for fact in facts if fact.kind == "variable")
    named = (("user", values.get("POSTGRES_USER", "")), ("database", values.get("POSTGRES_DB", "")))
    return tuple((kind, name) for kind, name in named if re.fullmatch(r"\w+", name))


def _used_variables(tree: Tree, facts: Sequence[Fact]) -> Iterable[Fact]:
    """Yield the variables that Python code of the repository names, the first value of each."""
    names = {fact.value.partition("=")[0] for fact in facts}
    wanted = {name for name in names if _NAME.match(name) and not _OF_TOOLS.search(name)}
    code = [entry.data for path, entry in tree.items() if path.endswith(".py")]
    used = {name for name in wanted if any(name.encode() in data for data in code)}
    for fact in facts:
        name = fact.value.partition("=")[0]
        if name in used:
            used.discard(name)
            yield fact
