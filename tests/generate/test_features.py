from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.generate.features import overlap, propose_features
from codeenv.generate.models import GenerateOptions
from codeenv.generate.reach import known_units, map_reach
from codeenv.languages.base import CoverageMap, Unit
from codeenv.tree import Entry, Tree

CODE = b"""\
def shared():
    return 1

def alpha():
    x = shared()
    y = x + helper()
    return y

def helper():
    a = 2
    b = 3
    return a * b

def beta():
    x = shared()
    y = 2
    return x + y

class Box:
    def put(self):
        a = 1
        b = 2
        return a + b

    def get(self):
        a = 1
        b = 2
        return a - b
"""
TREE = Tree({"m.py": Entry(CODE)})
ONE_UNIT = ("function", "method", "class")


def unit(name, start, end, kind="function", lines=None, parent="", **facts):
    lines = tuple(range(start + 1, end + 1)) if lines is None else lines
    return Unit("m.py", name, kind, start, start + 1, end, lines, parent, **facts)


UNITS = (
    unit("shared", 1, 2),
    unit("alpha", 4, 7),
    unit("helper", 9, 12),
    unit("beta", 14, 17),
    unit("Box", 19, 28, "class", lines=()),
    unit("Box.put", 20, 23, "method", parent="Box"),
    unit("Box.get", 25, 28, "method", parent="Box"),
)
TESTS = ("t_alpha", "t_alpha2", "t_beta", "t_put", "t_get", "t_other1", "t_other2")
RUNS = {
    "shared": {0, 1, 2},
    "alpha": {0, 1},
    "helper": {0},
    "beta": {2},
    "Box.put": {3},
    "Box.get": {3, 4},
}


def coverage(imported=()):
    lines = {}
    for each in UNITS:
        for line in each.lines:
            lines[line] = frozenset(RUNS.get(each.name, ()))
    return CoverageMap(TESTS, {"m.py": lines}, {"m.py": frozenset(imported)})


def features(**options):
    options = {"out": Path("unused"), "kinds": ONE_UNIT, **options}
    reach = map_reach(UNITS, coverage(), TESTS)
    proposed = propose_features(TREE, UNITS, reach, GenerateOptions(**options))
    return {f.seed.name: f for f in proposed}


def names(feature):
    return [u.name for u in feature.members]


def test_a_closure_takes_along_what_only_its_tests_run():
    assert names(features()["alpha"]) == ["alpha", "helper"]


def test_code_that_other_tests_run_stays():
    assert all("shared" not in names(f) for n, f in features().items() if n != "shared")


def test_a_class_is_one_member_and_its_methods_are_not_listed_again():
    box = features()["Box"]
    assert names(box) == ["Box"]
    assert box.tests == ("t_put", "t_get")
    assert box.line_count == 6


def test_the_predicted_tests_are_those_that_run_the_seed():
    assert features()["alpha"].tests == ("t_alpha", "t_alpha2")


def test_small_units_are_no_features():
    assert "helper" not in features(min_lines=4)


def test_units_of_kinds_not_asked_for_are_no_seeds():
    assert set(features(kinds=("class",))) == {"Box"}


def test_a_unit_that_most_tests_run_is_no_feature():
    everything = CoverageMap(
        TESTS, {"m.py": {line: frozenset(range(7)) for line in range(1, 29)}}, {}
    )
    reach = map_reach(UNITS, everything, TESTS)
    assert not propose_features(TREE, UNITS, reach, GenerateOptions(out=Path("unused")))


def test_a_unit_that_runs_at_import_is_never_deleted():
    reach = map_reach(UNITS, coverage(imported={5}), TESTS)
    proposed = propose_features(TREE, UNITS, reach, GenerateOptions(out=Path("unused")))
    assert not [f for f in proposed if "alpha" in names(f)]


def test_a_unit_that_can_be_read_elsewhere_is_never_deleted():
    known = known_units(UNITS, [("m.py", 10), ("m.py", 21), ("other.py", 5)])
    assert {u.name for u in known} == {"helper", "Box", "Box.put"}
    reach = replace(map_reach(UNITS, coverage(), TESTS), known=known)
    proposed = propose_features(TREE, UNITS, reach, GenerateOptions(out=Path("unused")))
    assert not [f for f in proposed if set(names(f)) & {"helper", "Box", "Box.put"}]


def test_tests_that_are_not_stable_do_not_count():
    stable = tuple(t for t in TESTS if t != "t_alpha2")
    reach = map_reach(UNITS, coverage(), stable)
    assert {stable[i] for i in reach.tests[UNITS[1]]} == {"t_alpha"}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_order_depends_on_the_seed_alone(seed):
    reach = map_reach(UNITS, coverage(), TESTS)
    options = GenerateOptions(out=Path("unused"), seed=seed)
    first = propose_features(TREE, UNITS, reach, options)
    assert propose_features(TREE, UNITS, reach, options) == first


def test_overlap_is_the_share_of_common_lines():
    every = features()
    assert overlap(every["alpha"], every["alpha"]) == 1.0
    assert overlap(every["alpha"], every["beta"]) == 0.0
    assert 0.3 < overlap(every["Box"], every["Box.put"]) < 0.5


def test_a_closure_grows_no_further_than_its_tests_can_tell(monkeypatch):
    monkeypatch.setattr("codeenv.generate.closure._LINES_ANYWAY", 5)
    monkeypatch.setattr("codeenv.generate.closure._LINES_PER_TEST", 2)
    assert names(features()["alpha"]) == ["alpha"]

    monkeypatch.setattr("codeenv.generate.closure._LINES_PER_TEST", 3)
    assert names(features()["alpha"]) == ["alpha", "helper"]


def closure(code, *units):
    """The feature of the first unit, all of them run by one test alone."""
    lines = {line: frozenset({0}) for line in range(1, code.count(b"\n") + 1)}
    reach = map_reach(units, CoverageMap(("t",), {"m.py": lines}, {}), ("t", "u", "v", "w"))
    options = GenerateOptions(out=Path("unused"), min_lines=1)
    found = propose_features(Tree({"m.py": Entry(code)}), units, reach, options)
    return names(next(f for f in found if f.seed is units[0]))


def test_a_name_that_many_units_have_ties_none_of_them():
    code = b"def use(x):\n    return x.run()\n" + b"def run():\n    return 1\n" * 3
    use = unit("use", 1, 2)
    runs = [
        unit(f"{owner}.run", n, n + 1, parent=owner)
        for owner, n in zip("ABC", (3, 5, 7), strict=True)
    ]
    assert closure(code, use, *runs) == ["use"]
    assert closure(code, use, *runs[:2]) == ["use", "A.run", "B.run"]


def test_in_a_class_a_shared_name_is_the_class_s_own():
    code = b"def use(x):\n    return x.run()\n" + b"def run():\n    return 1\n" * 3
    use = unit("A.use", 1, 2, "method", parent="A")
    runs = [
        unit(f"{owner}.run", n, n + 1, parent=owner)
        for owner, n in zip("ABC", (3, 5, 7), strict=True)
    ]
    assert closure(code, use, *runs) == ["A.use", "A.run"]


def test_a_method_is_tied_to_code_that_names_it_as_an_attribute_alone():
    code = b"def use(lines):\n    return next(lines)\ndef next(self):\n    return 1\n"
    use = unit("use", 1, 2)
    method = unit("A.next", 3, 4, "method", parent="A")
    assert closure(code, use, method) == ["use"]
    assert closure(code.replace(b"next(lines)", b"lines.next()"), use, method) == ["use", "A.next"]
    function = unit("next", 3, 4)
    assert closure(code, use, function) == ["use", "next"]
