"""Answers of calls: equal for equal values, and none for what is no data."""

import collections
import dataclasses
import datetime
import enum
import itertools
import json
import subprocess
import sys

import pytest

from codeenv.guest.replay_values import answer_of, perform, raised


class Word(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Colour(enum.Enum):
    RED = 1


class Bag(dict):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    _seen: int = 0


Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"b", "a", "c"}, {"c", "b", "a"}),
        (0.1 + 0.2, 0.3),
        (iter([1, 2]), iter([1, 2])),
        ({1: 2}.items(), {1: 2}.items()),
        (Colour.RED, Colour.RED),
        (Pair(1, [2]), Pair(1, [2])),
    ],
)
def test_equal_values_have_one_answer(one, other):
    assert answer_of(one, False) == answer_of(other, False) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ([1], (1,)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (Word("a"), Word("b")),
        (Bag(a=1), Bag(a=2)),
        ("raises ValueError", raised(ValueError())),
    ],
)
def test_different_values_have_different_answers(one, other):
    told = other if other == raised(ValueError()) else answer_of(other, False)
    assert answer_of(one, False) != told


def test_an_object_is_no_answer():
    assert answer_of(object(), True) is None
    assert answer_of([Point(1)], False) is None


def test_a_data_object_is_its_public_fields_where_that_is_asked_for():
    assert answer_of(Point(1, _seen=1), True) == answer_of(Point(1, _seen=2), True)
    assert answer_of(Point(1), True) != answer_of(Point(2), True)


def test_an_endless_iterator_has_an_answer():
    assert answer_of(itertools.count(), False) is not None


def test_a_script_works_on_what_its_steps_give():
    steps = [
        ["collections:OrderedDict", [["list", ["tuple", "a", 1], ["tuple", "b", 2]]]],
        [[0, "move_to_end"], ["a"]],
        [[0, "popitem"], [], {"last": False}],
    ]
    assert perform(steps) == [("b", 2)]
    assert perform([["datetime:timedelta", [1]], [[0, "days"]]]) == [1]
    assert perform([["functools:reduce", [["named", "operator:add"], ["list", 1, 2]]]])[0] == 3


def test_what_a_call_changes_is_part_of_its_answer():
    assert perform([["bisect:insort", [["list", 1, 3], 2]]]) == [None, [1, 2, 3]]
    assert perform([["bisect:bisect", [["list", 1, 3], 2]]]) == [1]


_STRANGE = """
import json, sys
from codeenv.guest.replay_world import Chance, shift_clock
import time
real = time.time()
shift_clock(401 * 86400)
chance = Chance()
import datetime, random
from random import random as draw
now = datetime.datetime.now()
told = {
    "days": round((time.time() - real) / 86400),
    "later": (now - datetime.datetime.fromtimestamp(real)).days,
    "today": str(datetime.date.today()) == str(now.date()),
    "kinds": isinstance(now, datetime.datetime) and isinstance(now, datetime.date),
    "made": type(datetime.datetime(2020, 1, 2)).__name__ + str(datetime.date(2020, 1, 2)),
    "year": time.localtime().tm_year - time.localtime(real).tm_year,
}
drawn = random.random()
chance.forbidden = True
shuffled = lambda: random.Random(3).sample([1, 2], 1)
asked = {"chance": random.random, "kept": draw, "shuffled": shuffled}
for name, ask in asked.items():
    try:
        told[name] = ask()
    except RuntimeError:
        told[name] = "refused"
json.dump(told, sys.stdout)
"""


def test_in_another_world_it_is_another_day_and_nothing_is_left_to_chance():
    text = subprocess.run(
        [sys.executable, "-c", _STRANGE], check=True, capture_output=True, text=True
    ).stdout
    told = json.loads(text)

    assert told["days"] == 401
    assert told["later"] in (400, 401)
    assert (told["today"], told["kinds"]) == (True, True)
    assert told["made"] == "datetime2020-01-02"
    assert told["year"] in (1, 2)
    assert {told[name] for name in ("chance", "kept", "shuffled")} == {"refused"}


def test_the_real_world_is_left_alone():
    assert datetime.datetime.__module__ == "datetime"
    assert type(datetime.datetime.now()) is datetime.datetime
