"""What files say about how a repository is set up and tested, each fact with its place."""

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["apt", "variable", "service", "test", "requirement", "python"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file of the repository; line 0 is the file as a whole."""

    path: str
    line: int = 0

    def __str__(self) -> str:
        """Return ``path:line``."""
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing a file says.

    Attributes:
        kind: What it is about.
        value: A Debian package, ``NAME=value``, a service, a shell command that runs tests, a
            requirement, or a Python version.
        place: Where it stands.
    """

    kind: Kind
    value: str
    place: Place


@dataclass(frozen=True, slots=True)
class Script:
    """Shell commands that stand in a file.

    Attributes:
        text: The commands; its first line stands at ``place``.
        place: Where.
        user: Whether the file is for people, who may be told of several ways to do a thing.
    """

    text: str
    place: Place
    user: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a command must do.

    Attributes:
        exit_codes: One of these.
        output: Regular expression that is found in its output, or "".
    """

    exit_codes: tuple[int, ...] = (0,)
    output: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A command that shows whether the environment is as it should be.

    Attributes:
        command: Bash, run at the root of the repository.
        expect: What it must do.
        place: The line that it was derived from.
        why: The same in words.
    """

    command: str
    place: Place
    why: str
    expect: Expectation = field(default_factory=Expectation)
