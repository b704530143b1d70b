from dataclasses import replace

import pytest

from codeenv.generate.models import Feature, Reason, Verdict
from codeenv.generate.selection import select
from codeenv.languages.base import Unit


def feature(name, start, end, path="m.py"):
    unit = Unit(path, name, "function", start, start + 1, end, tuple(range(start + 1, end + 1)))
    return Feature(unit, (unit,), ("t",), end - start, "function")


def judge(bad="", seen=None):
    """Accept every feature of a batch but one, and note the batches."""

    def all_of(batch):
        if seen is not None:
            seen.append([f.seed.name for f in batch])
        return [
            Verdict(f, Reason.NO_FAILURE if f.seed.name == bad else Reason.EMITTED) for f in batch
        ]

    return all_of


def reasons(features, *, bad="", limit=None, seen=None):
    return [v.reason.value for v in select(features, judge(bad, seen), limit=limit)]


APART = [feature(f"f{i}", 10 * i + 1, 10 * i + 9) for i in range(6)]
TWINS = [feature("a", 1, 10), feature("b", 2, 10), feature("c", 50, 60)]


def test_every_candidate_ends_with_exactly_one_reason():
    assert len(reasons(APART, limit=2)) == len(APART)


def test_candidates_after_the_limit_are_not_tried():
    seen = []
    assert reasons(APART, limit=2, seen=seen) == ["emitted"] * 2 + ["not_tried"] * 4
    assert seen == [["f0", "f1"]]


def test_a_rejected_candidate_makes_room_for_the_next():
    seen = []
    assert reasons(APART, bad="f1", limit=2, seen=seen)[:3] == ["emitted", "no_failure", "emitted"]
    assert seen == [["f0", "f1"], ["f2"]]


def test_a_feature_like_an_accepted_one_is_a_duplicate():
    assert reasons(TWINS) == ["emitted", "duplicate", "emitted"]


def test_a_feature_like_a_rejected_one_is_not_a_duplicate():
    assert reasons(TWINS, bad="a") == ["no_failure", "emitted", "emitted"]


def test_features_that_are_alike_are_never_proven_side_by_side():
    seen = []
    reasons(TWINS, bad="a", seen=seen)
    assert seen == [["a", "c"], ["b"]]


def test_a_feature_that_waits_holds_up_those_like_itself_and_no_others():
    chain = [feature("a", 1, 10), feature("b", 4, 13), feature("c", 7, 16), feature("d", 90, 99)]
    seen = []
    found = reasons(chain, seen=seen)
    assert seen[0] == ["a", "d"]
    assert found == ["emitted", "duplicate", "emitted", "emitted"]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_the_verdicts_do_not_depend_on_the_size_of_the_batches(size, monkeypatch):
    features = [*TWINS, *APART]
    expected = reasons(features, bad="a", limit=4)
    monkeypatch.setattr("codeenv.generate.selection._BATCH", size)
    assert reasons(features, bad="a", limit=4) == expected


def test_one_deletion_told_at_two_levels_is_no_duplicate():
    told = [replace(TWINS[0], level=level) for level in ("L2", "L1", "L1")]
    assert reasons(told) == ["emitted", "emitted", "duplicate"]
