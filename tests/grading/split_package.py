"""A package of many kinds of things."""

PACKAGE = '''
"""A shelf of things."""
import contextlib
import dataclasses
import datetime
import enum
import functools
import logging
import os
import random
import re
import sys
import warnings
from collections import namedtuple, OrderedDict
from decimal import Decimal
from pathlib import Path

LIMIT = 3
log = logging.getLogger(__name__)


class ShelfError(Exception):
    def __init__(self, what, code=0):
        super().__init__(f"bad {what}")
        self.what, self.code = what, code


class MissingError(ShelfError, KeyError):
    pass


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0

    def moved(self, dx):
        return Point(self.x + dx, self.y)


class Label(str):
    @property
    def loud(self):
        return Label(self.upper() + "!")


class Bag(dict):
    def total(self):
        return sum(self.values())


class Base:
    greeting = "hello"

    def __init__(self, name="nobody"):
        self.name = name

    def greet(self):
        return f"{self.greeting} {self.title()}"

    def title(self):
        return self.name

    @classmethod
    def named(cls, name):
        return cls(name)

    @staticmethod
    def plus(a, b):
        return a + b

    @property
    def size(self):
        return len(self.name)

    def __len__(self):
        return len(self.name)

    def __getitem__(self, index):
        return self.name[index]

    def __contains__(self, letter):
        return letter in self.name

    def __lt__(self, other):
        return self.name < other.name


def add(a, b=1, *rest, sign=1, **named):
    return sign * (a + b + sum(rest) + sum(named.values()))


def fail(what):
    raise ShelfError(what, code=7)


def lookup(key):
    raise MissingError(key)


def chained():
    try:
        {}["x"]
    except KeyError as error:
        raise ValueError("no x") from error


def count(n):
    for i in range(n):
        yield i


@contextlib.contextmanager
def opened(name):
    log.info("opening %s", name)
    yield Base(name)
    print("closed", name)


def apply(function, values):
    return [function(value) for value in values]


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2
    return wrapper


def fill(items, value):
    items.append(value)


def old():
    warnings.warn("old is old", DeprecationWarning, stacklevel=2)
    return 1


def shout(text):
    print(text.upper())
    print("quiet", file=sys.stderr)


def home():
    return os.environ.get("SHELF_HOME", "none")


def limited():
    return LIMIT


def write_to(stream, text):
    stream.write(text + "\\n")


def read_all():
    return sys.stdin.read()


def next_day(day):
    return day + datetime.timedelta(days=1)


def values():
    return {
        "none": None, "big": 10**30, "real": 0.1, "nan": float("nan"), "complex": 1 + 2j,
        "bytes": b"\\x00\\xff", "text": "\\u20ac \\ud800", "tuple": (1, (2,)), "set": {1, 2},
        "frozen": frozenset({3}), "decimal": Decimal("1.10"), "path": Path("a/b"),
        "regex": re.compile("a+", re.I), "range": range(3), "ordered": OrderedDict(a=1),
        "time": datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc), "dots": ...,
    }


def kind_of(value):
    return type(value).__name__


def visit(node):
    return node.accept(lambda text: text[::-1])


async def later(value):
    return value


class Registry:
    def __init__(self):
        self.handlers = {}

    def register(self, name):
        def decorate(function):
            self.handlers[name] = function
            return function
        return decorate

    def run(self, name, *args):
        return self.handlers[name](*args)
'''
