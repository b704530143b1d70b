"""What a sampler asks the generator for, and how often."""

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


def test_a_quarantined_task_is_asked_for_once_one_statement_level_richer():
    sampler = TaskSampler("abc", statements=["L1", "L3", "L4"])
    teach(sampler, NEVER, "a", "b")
    assert sampler.requests() == (RicherStatement("a", "L2"), RicherStatement("b", "L4"))
    teach(sampler, [1.0], "a", times=1)
    assert sampler.status("a").status == Status.ACTIVE
    teach(sampler, NEVER, "a", "c", times=12)
    assert sampler.requests() == (RicherStatement("c", "L5"),)


def test_of_a_task_that_shows_its_tests_no_more_can_be_told():
    sampler = TaskSampler("ab", statements=["L5", ""])
    teach(sampler, NEVER, "a", "b")
    assert sampler.requests() == ()


def test_a_learnt_level_is_asked_for_once_with_its_solved_tasks():
    sampler = TaskSampler("abcd", levels=["easy", "easy", "easy", "hard"])
    teach(sampler, ALWAYS, "a")
    assert sampler.requests() == ()  # the others are unknown
    teach(sampler, ALWAYS, "b", times=4)
    assert sampler.requests() == (HarderChildren(("b", "a"), "easy"),)
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
    assert sampler.requests() == (HarderChildren(("a",), ""),)
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
