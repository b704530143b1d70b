"""What somebody else proposes to delete, and what a deletion is like: values of ``base``."""

from dataclasses import dataclass

from codeenv.tasks.models import Operation

Symbol = tuple[str, str]
"""Path and qualified name of a unit."""


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes ``[start, end)`` of a file and what somebody proposes instead of them.

    ``new`` is None where the whole file is to go.
    """

    path: str
    start: int
    end: int
    new: bytes | None


@dataclass(frozen=True, slots=True)
class Reduction:
    """A deletion that somebody else made, as the generator's own values.

    Attributes:
        operations: Its edits.
        members: The units that are gone or have lost code, in file order; none lies in another.
        cut: The members that stay, with a part of their code.
        problem: Why what is left is not consistent, or "".
    """

    operations: tuple[Operation, ...]
    members: tuple[Symbol, ...]
    cut: frozenset[Symbol] = frozenset()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Measures:
    """Static facts of deleted code that make it hard to write again.

    Attributes:
        branches: Decisions in it: the cyclomatic complexity of its functions, less one for each.
        call_sites: Uses of its names in the code that stays.
    """

    branches: int = 0
    call_sites: int = 0
