"""Tests of the package in the ways that tests are written: calls, values, exceptions, callbacks."""

HEAD = """
import asyncio
import copy
import io
import math
import pickle
import re
import unittest
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from unittest import mock

import pytest

import shelf
from shelf import Base, Point, ShelfError, add
"""
VALUES = '''
def test_calls():
    assert add(1) == 2 and add(1, 2, 3, sign=-1, extra=4) == -10


@pytest.mark.parametrize(("a", "b", "wanted"), [(1, 2, 3), pytest.param(-1, 1, 0, id="x")])
def test_parameters(a, b, wanted):
    assert add(a, b) == wanted


@pytest.mark.parametrize("colour", list(shelf.Colour), ids=lambda c: c.name)
def test_parameters_of_the_package(colour):
    assert shelf.Colour(colour.value) is colour and shelf.Colour[colour.name] is colour


def test_raises():
    with pytest.raises(ShelfError, match="bad apple") as caught:
        shelf.fail("apple")
    assert (caught.value.what, caught.value.code, caught.type) == ("apple", 7, ShelfError)
    assert str(caught.value) == "bad apple" and caught.value.args == ("bad apple",)


def test_raises_below_a_standard_class():
    with pytest.raises(KeyError):
        shelf.lookup("k")
    try:
        shelf.lookup("k")
    except ShelfError as error:
        assert isinstance(error, shelf.MissingError)


def test_raises_with_a_cause():
    with pytest.raises(ValueError) as caught:
        shelf.chained()
    assert isinstance(caught.value.__cause__, KeyError)


def test_type_errors():
    with pytest.raises(TypeError):
        add()


def test_values():
    found = shelf.values()
    assert math.isnan(found.pop("nan"))
    assert found.pop("regex").findall("xAa") == ["Aa"]
    assert found == {
        "none": None, "big": 10**30, "real": 0.1, "complex": 1 + 2j, "bytes": b"\\x00\\xff",
        "text": "\\u20ac \\ud800", "tuple": (1, (2,)), "set": {1, 2}, "frozen": frozenset({3}),
        "decimal": Decimal("1.10"), "path": Path("a/b"), "range": range(3), "ordered": {"a": 1},
        "time": datetime(2020, 1, 2, tzinfo=timezone.utc), "dots": ...,
    }


@pytest.mark.parametrize("value", [None, 1, 2.5, "x", b"y", (1,), {1}, {"a": []}, Decimal(1)])
def test_classes_of_values(value):
    assert shelf.kind_of(value) == type(value).__name__


def test_dates():
    assert shelf.next_day(date(2020, 2, 28)) == date(2020, 2, 29)


def test_approx():
    assert add(0.1, 0.2) == pytest.approx(0.3)


def test_generators():
    found = shelf.count(3)
    assert next(found) == 0 and list(found) == [1, 2]
    with pytest.raises(StopIteration):
        next(found)


def test_context_managers(capsys, caplog):
    with caplog.at_level("INFO"), shelf.opened("box") as base:
        assert base.name == "box" and base.size == 3
    assert capsys.readouterr().out == "closed box\\n"
    assert caplog.messages == ["opening box"]


def test_callbacks():
    assert shelf.apply(lambda value: value * 2, [1, 2]) == [2, 4]
    assert shelf.apply(str.upper, ["a"]) == ["A"]


def test_callbacks_that_raise():
    class OwnError(Exception):
        pass

    def refuse(value):
        raise OwnError(value)

    with pytest.raises(OwnError) as caught:
        shelf.apply(refuse, [5])
    assert caught.value.args == (5,)


def test_callbacks_that_call_back():
    assert shelf.apply(lambda n: shelf.apply(lambda m: add(m, n), [1, 2]), [10]) == [[11, 12]]


def test_decorators():
    @shelf.twice
    def three(x, *, y=1):
        """Doc."""
        return x + y

    assert three(2) == 6 and three(2, y=2) == 8
    assert three.__name__ == "three" and three.__doc__ == "Doc."


def test_registries():
    registry = shelf.Registry()

    @registry.register("greet")
    def greet(name):
        return "hi " + name

    assert registry.run("greet", "you") == "hi you" and greet("me") == "hi me"


def test_changed_arguments():
    items = [1]
    assert shelf.fill(items, 2) is None
    assert items == [1, 2]
'''
