"""Numbers that only the deleted code knew and that its tests use: a statement must tell them."""

import re
from collections.abc import Iterable, Iterator

from codeenv.languages.base import Language
from codeenv.tree import Tree

GUESSABLE: frozenset[complex] = frozenset(
    {*range(-10, 101), 1000, *(2**power for power in range(7, 13)), 0.1, 0.5}
)
"""Small integers, a thousand, powers of two up to 4096, a tenth and a half; 64.0 is 64."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?j?(?!\w)")


def expected_numbers(
    deleted: Iterable[complex], tested: Iterable[complex], damaged: Tree, language: Language
) -> tuple[complex, ...]:
    """Return which numbers nobody could guess, as tests write them.

    A minus sign makes no difference to what is known.

    Args:
        deleted: Numbers of the deleted code.
        tested: Numbers of its tests.
        damaged: What the agent gets; what its code spells out needs no telling.
        language: Of the repository.
    """
    gone = {_magnitude(number) for number in deleted}
    needed = [n for n in tested if n not in GUESSABLE and _magnitude(n) in gone]
    if not needed:
        return ()
    known = {
        _magnitude(value)
        for path, entry in damaged.items()
        for value in language.literals(path, entry.data) or ()
        if not isinstance(value, str)
    }
    return tuple(number for number in needed if _magnitude(number) not in known)


def spelt(number: complex) -> str:
    """Return a literal as code spells it."""
    return repr(number) if isinstance(number, int | float) else f"{number.imag!r}j"


def untold_numbers(expected: Iterable[complex], statement: str) -> list[complex]:
    """Return the numbers of which the statement says nothing."""
    told = set(_numbers_of(statement))
    return [number for number in expected if _magnitude(number) not in told]


def _numbers_of(text: str) -> Iterator[complex]:
    for word in _NUMBER.findall(text):
        yield int(word) if word.isdigit() else complex(word)


def _magnitude(number: complex) -> complex:
    return abs(number) if isinstance(number, int | float) else complex(0, abs(number.imag))
