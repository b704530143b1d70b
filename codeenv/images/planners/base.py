"""What a planner is told, what it may do, and what comes of it.

A planner decides what is installed; it does not install.  All it does by hand, in a shell of a
build box, is to look around: only what it declares becomes the environment, so that it can be
locked.  It sees two thirds of the checks, and the environment is judged by the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from packaging.requirements import InvalidRequirement, Requirement
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from codeenv.errors import BuildError
from codeenv.images.allowed import is_package, is_variable
from codeenv.images.services import SERVERS, startup


class _Action(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Run(_Action):
    """Run a command in a build box that has the network and a copy of the repository.

    It starts from what was installed last; what it changes is gone afterwards.
    """

    action: Literal["run"] = "run"
    command: Annotated[str, Field(description="Bash, run at the root of the repository.")]


class Install(_Action):
    """Make the environment anew from exactly this, run all tests in it without network."""

    action: Literal["install"] = "install"
    requirements: Annotated[
        tuple[str, ...],
        Field(description="PEP 508 requirements, pytest among them; no addresses.", min_length=1),
    ]
    packages: Annotated[tuple[str, ...], Field(description="Debian packages.")] = ()
    variables: Annotated[
        dict[str, str], Field(description="Environment variables that tests run with.")
    ] = Field(default_factory=dict)

    services: Annotated[
        tuple[str, ...], Field(description=f"Servers that boxes start: {', '.join(SERVERS)}.")
    ] = ()

    @field_validator("requirements")
    @classmethod
    def _are_requirements(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            try:
                requirement = Requirement(value)
            except InvalidRequirement as error:
                raise ValueError(f"{value!r} is not a requirement: {error}") from None
            if requirement.url:
                raise ValueError(f"{value!r} has an address: it cannot be locked by its hash")
        return values

    @field_validator("packages")
    @classmethod
    def _are_packages(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not is_package(value):
                raise ValueError(f"{value!r} is not the name of a Debian package")
        return values

    @field_validator("services")
    @classmethod
    def _are_servers(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        try:
            startup(values)
        except BuildError as error:
            raise ValueError(f"{error.message}; {error.hint}") from None
        return values

    @field_validator("variables")
    @classmethod
    def _are_free(cls, values: dict[str, str]) -> dict[str, str]:
        for name, value in values.items():
            if not is_variable(name, value):
                raise ValueError(f"the variable {name!r} cannot be set")
        return values


class Done(_Action):
    """End: the environment in which most tests passed is taken."""

    action: Literal["done"] = "done"


Action = Annotated[Run | Install | Done, Field(discriminator="action")]
ACTIONS: TypeAdapter[Run | Install | Done] = TypeAdapter(Action)
"""Reads an action from JSON."""


@dataclass(frozen=True)
class Brief:
    """What a planner starts from.

    Attributes:
        project: Name and version.
        python: Version of the interpreter.
        facts: What the repository's files say: part -> values with their places.
        checks: Verification commands that it may see, with their places.
        log: What the rules have done.
        state: What is installed now, and what came of it.
    """

    project: str
    python: str
    facts: Mapping[str, Sequence[str]]
    checks: Sequence[Mapping[str, str]]
    log: Sequence[str]
    state: Mapping[str, object]


class Bench(Protocol):
    """Where a planner works."""

    def act(self, action: Run | Install) -> dict[str, object]:
        """Do it, and return what came of it, as JSON values."""
        ...


class Planner(Protocol):
    """Improves an environment."""

    def plan(self, brief: Brief, bench: Bench) -> None:
        """Act until nothing better is in sight.

        Raises:
            BuildError: If the planner itself fails; the message says how.
        """
        ...
