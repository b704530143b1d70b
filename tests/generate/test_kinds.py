"""Features that grow from groups of tests, and from two features."""

from pathlib import Path

import pytest

from codeenv.generate.features import overlap, propose_features
from codeenv.generate.models import GenerateOptions
from codeenv.generate.reach import map_reach
from codeenv.languages.base import CoverageMap, Unit
from codeenv.tree import Entry, Tree

LINES = 6
"""Lines of every unit; five of them are executable."""


class Shop:
    """A made-up repository: units in files, and which tests run each."""

    def __init__(self, stable: tuple[str, ...]) -> None:
        self.stable = stable
        self.units: list[Unit] = []
        self.runs: dict[Unit, frozenset[int]] = {}
        self.text: dict[str, list[str]] = {}

    def add(self, path: str, name: str, tests: str, *, uses: str = "") -> None:
        lines = self.text.setdefault(path, [])
        start = len(lines) + 1
        lines += [f"def {name}():", f"    {uses or 'pass'}", *(["    pass"] * (LINES - 2))]
        body = tuple(range(start + 1, start + LINES))
        public = not name.startswith("_")
        made = Unit(
            path, name, "function", start, start + 1, start + LINES - 1, body, public=public
        )
        self.units.append(made)
        self.runs[made] = frozenset(self.stable.index(t) for t in tests.split())

    def propose(self, *kinds: str, **options: object):
        lines: dict[str, dict[int, frozenset[int]]] = {}
        for unit, tests in self.runs.items():
            lines.setdefault(unit.path, {}).update(dict.fromkeys(unit.lines, tests))
        reach = map_reach(self.units, CoverageMap(self.stable, lines, {}), self.stable)
        tree = Tree({p: Entry("\n".join(t).encode()) for p, t in self.text.items()})
        wanted = GenerateOptions(Path("unused"), kinds=kinds, **options)
        return propose_features(tree, self.units, reach, wanted)


def members(feature):
    return [unit.name for unit in feature.members]


COLOR = ("t.py::TestColor::test_red", "t.py::TestColor::test_blue")
OTHERS = tuple(f"t.py::test_{n}" for n in range(10))


@pytest.fixture
def shop():
    shop = Shop((*COLOR, *OTHERS))
    shop.add("a.py", "paint", " ".join(COLOR))
    shop.add("a.py", "_mix", COLOR[0])
    shop.add("b.py", "mend", f"{COLOR[1]} {OTHERS[0]}")
    shop.add("b.py", "walk", f"{OTHERS[1]} {OTHERS[2]}", uses="paint()")
    shop.add("c.py", "stroll", f"{OTHERS[3]}")
    return shop


def test_code_that_one_test_class_has_to_itself_is_a_feature(shop):
    (found,) = shop.propose("tests")
    assert members(found) == ["paint", "_mix"]
    assert found.tests == COLOR
    assert (found.seed.name, found.kind) == ("paint", "tests")


def test_tests_are_grouped_by_the_first_words_of_their_names():
    stable = ("t.py::test_color_a", "t.py::test_color_b", *OTHERS)
    shop = Shop(stable)
    shop.add("a.py", "one", stable[0])
    shop.add("a.py", "two", stable[1])
    (found,) = shop.propose("tests")
    assert members(found) == ["one", "two"]


def test_a_group_that_is_most_of_the_suite_is_no_feature():
    shop = Shop(COLOR)
    shop.add("a.py", "one", COLOR[0])
    shop.add("a.py", "two", COLOR[1])
    assert shop.propose("tests") == ()


def test_a_group_with_a_single_unit_of_its_own_is_that_units_feature(shop):
    shop.units.pop(1)
    assert shop.propose("tests") == ()


def test_code_that_names_the_other_is_merged_across_files(shop):
    (found, *_) = [f for f in shop.propose("merged") if "walk" in members(f)]
    assert members(found) == ["paint", "walk"]
    assert found.kind == "merged"
    assert set(found.tests) == {*COLOR, OTHERS[1], OTHERS[2]}


def test_features_without_kinship_are_not_merged(shop):
    assert not [f for f in shop.propose("merged") if "stroll" in members(f)]


def test_no_feature_is_merged_twice_and_none_is_mostly_another(shop):
    merged = shop.propose("merged")
    every = [name for f in merged for name in members(f)]
    assert len(every) == len(set(every))
    assert all(overlap(one, both) <= 2 / 3 for one in shop.propose("function") for both in merged)


def test_a_merged_feature_is_within_the_budget_of_lines(shop):
    assert not shop.propose("merged", max_lines=9)
    assert shop.propose("merged", max_lines=10)


def test_all_kinds_are_mixed_from_the_start(shop):
    kinds = [f.kind for f in shop.propose("function", "tests", "merged")]
    assert kinds[0] == kinds[-1] == "function"
    assert {"tests", "merged"} <= set(kinds)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_proposes_the_same(shop, seed):
    wanted = ("function", "tests", "merged")
    assert shop.propose(*wanted, seed=seed) == shop.propose(*wanted, seed=seed)
