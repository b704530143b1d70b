"""What the study's packages are made of: words, functions, idioms."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """What one package speaks of: a thing, many of it, numbers and texts each has."""

    many: str
    one: str
    numbers: Sequence[str]
    texts: Sequence[str]


@dataclass(frozen=True)
class Function:
    """One function: name, parameters, docstring, body lines, lines of its test."""

    name: str
    parameters: str
    doc: str
    body: Sequence[str]
    test: Sequence[str]


Idiom = Callable[[Words, random.Random], Function]
