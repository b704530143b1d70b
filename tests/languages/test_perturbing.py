import ast
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.languages.python.perturbing import apart, perturbed
from codeenv.languages.python.tolerances import moved, tolerance

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def value(node: ast.expr) -> object:
    return ast.literal_eval(ast.unparse(ast.fix_missing_locations(node)))


@given(PLAIN, st.integers(0, 50))
def test_a_perturbed_value_is_never_equal(original, seed):
    node = parse(repr(original))
    before = ast.dump(node)
    found = perturbed(node, Random(seed))
    assert ast.dump(node) == before
    assert found is not None or (isinstance(original, float) and abs(original) > 1e307)
    if found is not None:
        assert value(found) != original


@given(PLAIN, st.integers(0, 50))
def test_the_same_seed_gives_the_same_value(original, seed):
    node = parse(repr(original))
    first, second = (perturbed(node, Random(seed)) for _ in range(2))
    assert (first and ast.dump(first)) == (second and ast.dump(second))


@given(st.sets(st.integers() | st.text(max_size=3), min_size=1), st.integers(0, 20))
def test_a_set_gets_an_element_that_it_does_not_have(original, seed):
    found = perturbed(parse(repr(original)), Random(seed))
    if found is not None:
        assert value(found) > original


@given(st.text(min_size=2), st.integers(0, 50))
def test_a_text_changes_by_one_character_inside(original, seed):
    found = value(perturbed(parse(repr(original)), Random(seed)))
    assert len(found) == len(original) + 1
    assert (found[0], found[-1]) == (original[0], original[-1])


@given(st.floats(-1e9, 1e9), st.floats(0, 1e3), st.floats(0, 0.4))
def test_what_is_near_a_number_is_not_near_the_moved_one(original, absolute, relative):
    found = value(moved(parse(repr(original)), absolute + relative))
    apart_by = abs(found - original)
    assert apart_by > 2 * absolute
    assert apart_by > relative * (abs(original) + abs(found))


@pytest.mark.parametrize(
    ("text", "slack"),
    [
        ("approx(1.5)", 0.0),
        ("approx(1.5, 0.1)", 0.1),
        ("approx(1.5, rel=0.1, abs=2)", 2.1),
        ("approx(1.5, rel=0.5)", None),
        ("approx(1.5, abs=x)", None),
        ("approx(1.5, nan_ok=True)", 0.0),
    ],
)
def test_tolerances_are_read_where_another_value_can_be_out_of_reach(text, slack):
    call = parse(text)
    assert isinstance(call, ast.Call)
    assert tolerance(call, from_argument=1) == slack


@pytest.mark.parametrize(
    "text", ["f(1)", "x", "x.y", "x[0]", "lambda: 1", "Point(x)", "Point()", "Point(None)"]
)
def test_what_is_not_spelt_out_has_no_other_value(text):
    assert perturbed(parse(text), Random(0)) is None


@pytest.mark.parametrize(
    ("text", "is_changed"),
    [
        ('Decimal("1.5")', True),
        ("datetime.timedelta(days=1)", True),
        ('"a b".split()', True),
        ('"-".join(["a", "b"])', True),
        ('"{} b".format(x)', True),
        ('"%d b" % x', True),
        ('f"{x} b"', True),
        ("[x, y]", True),
        ("x + 1", True),
        ("-x", False),
        ("pytest.approx(1.5, rel=x)", False),
    ],
)
def test_what_is_built_of_literals_changes_in_one_of_them(text, is_changed):
    assert (perturbed(parse(text), Random(1)) is not None) == is_changed


@pytest.mark.parametrize(("text", "other"), [("'a'", False), ("'ab'", True), ("3", True)])
def test_what_others_may_hold_as_well_is_no_other_value(text, other):
    assert (apart(parse(text), Random(0)) is not None) == other


@pytest.mark.parametrize("text", ["Point(1)", "shapes.Point(x=1)", "Line(Point(1), None)"])
def test_an_object_of_the_repository_is_made_of_other_values(text):
    other = ast.unparse(perturbed(parse(text), Random(0)))

    assert other != text
    assert other.partition("(")[0] == text.partition("(")[0]
