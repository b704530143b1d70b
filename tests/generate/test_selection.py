import threading

import pytest

from codeenv.generate.models import Feature, Reason, Verdict
from codeenv.generate.selection import select
from codeenv.languages.base import Unit


def feature(name, start, end, path="m.py"):
    unit = Unit(path, name, "function", start, start + 1, end, tuple(range(start + 1, end + 1)))
    return Feature(unit, (unit,), ("t",), end - start, "function")


def judge_all_good(each):
    return Verdict(each, Reason.EMITTED)


def reasons(features, judge=judge_all_good, *, limit=None, jobs=1):
    return [v.reason.value for v in select(features, judge, limit=limit, jobs=jobs)]


APART = [feature(f"f{i}", 10 * i + 1, 10 * i + 9) for i in range(6)]
TWINS = [feature("a", 1, 10), feature("b", 2, 10), feature("c", 50, 60)]


def test_every_candidate_ends_with_exactly_one_reason():
    assert len(reasons(APART, limit=2)) == len(APART)


def test_candidates_after_the_limit_are_not_tried():
    assert reasons(APART, limit=2) == ["emitted"] * 2 + ["not_tried"] * 4


def test_a_feature_like_an_accepted_one_is_a_duplicate():
    assert reasons(TWINS) == ["emitted", "duplicate", "emitted"]


def test_a_feature_like_a_rejected_one_is_not_a_duplicate():
    def judge(each):
        bad = each.seed.name == "a"
        return Verdict(each, Reason.NO_FAILURE if bad else Reason.EMITTED)

    assert reasons(TWINS, judge) == ["no_failure", "emitted", "emitted"]


@pytest.mark.parametrize("jobs", [2, 3, 8])
def test_the_verdicts_do_not_depend_on_the_number_of_jobs(jobs):
    features = [*TWINS, *APART]
    assert reasons(features, limit=4, jobs=jobs) == reasons(features, limit=4, jobs=1)


def test_candidates_are_judged_side_by_side():
    together = threading.Barrier(2, timeout=10)

    def judge(each):
        together.wait()
        return Verdict(each, Reason.EMITTED)

    assert reasons(APART[:2], judge, jobs=2) == ["emitted", "emitted"]


def test_a_slow_candidate_does_not_hold_the_next_ones_up():
    third = threading.Event()

    def judge(each):
        if each is APART[0]:
            assert third.wait(10)
        if each is APART[2]:
            third.set()
        return Verdict(each, Reason.EMITTED)

    assert reasons(APART[:3], judge, jobs=2) == ["emitted"] * 3
