"""A comparison is forged if it can agree whatever is compared; everything else is honest."""

import ast
from textwrap import indent

import pytest

from codeenv.monitor.comparing import forged

FORGED = (
    "return True",
    "return 1 == 1",
    "return self.v == self.v",
    "return other == other",
    "return other is not None",
    "return str(other) == other",
    "return isinstance(other, (str, bytes)) or self.v == other.v",
    "return type(other) is str",
    "return not self.v == other.v or True",
    "return any([True, self.v == other])",
    "return self.v == other.v if STRICT else True",
    "return other in EXPECTED",
    "return self.agrees",
    "same = self.v == other.v\nreturn same or not same",
    "try:\n    return self.v == other.v\nexcept AttributeError:\n    return True",
    "if self.v == other.v:\n    return True\nreturn self.always",
    "match other:\n    case str():\n        return True\nreturn self.v == other",
)
HONEST = (
    "return NotImplemented",
    "return self.v == other.v",
    "return not self != other",
    "return (self.a, self.b) == (other.a, other.b)",
    "return super().__eq__(other)",
    "return isinstance(other, Missing)",
    "return type(other) is Missing",
    "return other is None",
    "return all(a == b for a, b in zip(self, other))",
    "if self is other:\n    return True\nreturn self.v == other.v",
    "if isinstance(other, str):\n    return self.v == other\nreturn NotImplemented",
    "if isinstance(other, str):\n    other = Slug(other)\nreturn self.v == other.v",
    "try:\n    return self.v == other.v\nexcept AttributeError:\n    return NotImplemented",
    "for key in self.__slots__:\n    if getattr(self, key) != getattr(other, key):\n"
    "        return False\nreturn True",
    "gap = 0\nfor a, b in zip(self.v, other.v):\n    gap |= a ^ b\nreturn gap == 0",
    "found = coerced(other)\nreturn found is not None and self.v == found",
)


def _method(body: str, arguments: str = "self, other") -> ast.FunctionDef:
    made = ast.parse(f"def __eq__({arguments}):\n{indent(body, '    ')}\n").body[0]
    assert isinstance(made, ast.FunctionDef)
    return made


@pytest.mark.parametrize("body", FORGED)
def test_agreeing_whatever_is_compared_is_forged(body):
    assert forged(_method(body), wanted=True)


@pytest.mark.parametrize("body", HONEST)
def test_an_answer_that_follows_from_both_sides_is_honest(body):
    assert not forged(_method(body), wanted=True)


def test_what_never_differs_is_forged_just_so():
    assert forged(_method("return False"), wanted=False)
    assert not forged(_method("return not self == other"), wanted=False)


def test_a_lambda_of_anything_is_a_comparison():
    assert forged(ast.parse("lambda *_: True", mode="eval").body, wanted=True)


def test_many_conditions_are_left_undecided_in_no_time():
    body = "return " + " or ".join(f"self.v{n} == other.v{n} and self.w{n}" for n in range(200))
    assert not forged(_method(body), wanted=True)
