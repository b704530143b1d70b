"""What a sampler asks the generator for, and how often."""

import pytest

from codeenv.errors import UsageError
from codeenv_harness.curriculum import (
    HarderChildren,
    RicherStatement,
    SamplerOptions,
    Status,
    TaskSampler,
)

NEVER, ALWAYS = [0.0] * 8, [1.0] * 8


def teach(sampler, rewards, *task_ids, times=3):
    for task_id in task_ids:
        for _ in range(times):
            sampler.update(task_id, rewards)


def settled(sampler):
    """The requests, all answered."""
    found = sampler.requests()
    for request in found:
        sampler.settle(request)
    return found


def test_a_quarantined_task_is_asked_for_once_one_statement_level_richer():
    sampler = TaskSampler("abc", statements=["L1", "L3", "L4"])
    teach(sampler, NEVER, "a", "b")
    assert settled(sampler) == (RicherStatement("a", "L2"), RicherStatement("b", "L4"))
    teach(sampler, [1.0], "a", times=1)
    assert sampler.status("a").status == Status.ACTIVE
    teach(sampler, NEVER, "a", "c", times=12)
    assert sampler.requests() == (RicherStatement("c", "L5"),)


def test_a_request_comes_again_until_it_is_settled():
    sampler = TaskSampler("abcd", statements=["L3"] * 4, levels=list("xyyy"))
    teach(sampler, NEVER, "a")
    teach(sampler, ALWAYS, "b", "c")
    told, harder = sampler.requests()
    for state in (sampler.state_dict(), sampler.state_dict(plain=False)):
        assert sampler.requests() == (told, harder)
        assert TaskSampler.from_state(state).requests() == (told, harder)

    assert (told, harder) == (RicherStatement("a", "L4"), HarderChildren(("b", "c"), "y"))
    sampler.settle(told)
    assert sampler.requests() == (harder,)
    sampler.settle(harder)
    assert sampler.requests() == ()
    with pytest.raises(UsageError, match="no task 'z'"):
        sampler.settle(RicherStatement("z", "L4"))


def test_a_level_is_not_learnt_before_half_of_its_tasks_were_tried():
    ids = [f"t{n}" for n in range(17)]
    sampler = TaskSampler(ids, priors=[0.9] * 17)
    for n in range(8):
        teach(sampler, ALWAYS, ids[n], times=1)
        assert sampler.requests() == ()  # eight may be luck, and nine priors are no evidence
    teach(sampler, ALWAYS, ids[8], times=1)

    (request,) = sampler.requests()
    assert request.parents == tuple(ids[:8])
    eager = TaskSampler(ids, priors=[0.9] * 17, options=SamplerOptions(harder_tried=0.0))
    teach(eager, ALWAYS, ids[0], times=1)
    assert eager.requests() == (HarderChildren((ids[0],), ""),)


def test_of_a_task_that_shows_its_tests_no_more_can_be_told():
    sampler = TaskSampler("ab", statements=["L5", ""])
    teach(sampler, NEVER, "a", "b")
    assert sampler.requests() == ()


def test_a_learnt_level_is_asked_for_once_with_its_solved_tasks():
    sampler = TaskSampler("abcd", levels=["easy", "easy", "easy", "hard"])
    teach(sampler, ALWAYS, "a")
    assert sampler.requests() == ()  # the others are unknown
    teach(sampler, ALWAYS, "b", times=4)
    assert settled(sampler) == (HarderChildren(("b", "a"), "easy"),)
    assert sampler.requests() == ()


def test_a_level_is_asked_for_again_when_it_was_settled_and_has_other_parents():
    sampler = TaskSampler("abc", options=SamplerOptions(parents=2))
    teach(sampler, ALWAYS, "a", "b", "c")
    (first,) = sampler.requests()
    assert first == HarderChildren(("a", "b"), "")
    sampler.settle(first)
    assert sampler.requests() == (HarderChildren(("c",), ""),)
    sampler.settle(HarderChildren(("c",), ""))
    assert sampler.requests() == ()  # each is a parent once


def test_a_level_that_is_not_learnt_any_more_may_be_asked_for_again():
    sampler = TaskSampler("ab", options=SamplerOptions(parents=1))
    teach(sampler, ALWAYS, "a", "b")
    assert settled(sampler) == (HarderChildren(("a",), ""),)
    teach(sampler, NEVER, "a", "b", times=2)
    assert sampler.requests() == ()
    teach(sampler, ALWAYS, "a", "b", times=6)
    assert sampler.requests() == (HarderChildren(("b",), ""),)


def test_tasks_out_of_reach_do_not_hold_a_level_back():
    sampler = TaskSampler("abc")
    teach(sampler, ALWAYS, "a")
    teach(sampler, NEVER, "b")
    sampler.remove("c")
    assert sampler.requests() == (HarderChildren(("a",), ""),)
    assert TaskSampler("").requests() == ()
