"""Requests that the real generator fulfils, on the bundled repository."""

from pathlib import Path

import pytest

from codeenv.audit import verify_task
from codeenv.env.runtime import Runtime
from codeenv.errors import TaskError
from codeenv.tasks.digest import canonical
from codeenv.tasks.taskset import Taskset
from codeenv_harness.curriculum import (
    HarderChildren,
    RicherStatement,
    SamplerOptions,
    Status,
    sampler_of,
)
from codeenv_harness.curriculum.answers import adopt, fulfil

TASK = "toy-ledger-ledger.months-b359ba23"
"""Its docstring has one line: L4 tells nothing that L3 does not."""
ALL_TOLD = "toy-text-whole-words-117c35f2"


@pytest.fixture
def folder(tmp_path):
    """A taskset of one small task."""
    toy = Taskset.load("toy").select([TASK])
    Taskset.write(tmp_path, toy.recipes, toy.baselines.values(), toy.environments.values())
    return tmp_path


def contents(folder: Path):
    return {p: p.read_bytes() for p in folder.rglob("*.json")}


def assert_calibrated(folder, backend, children):
    taskset = Taskset.load(folder)
    with Runtime(backend) as runtime:
        for child in children:
            found = verify_task(runtime.task(child, taskset), runtime.grader)
            assert (found.nop_rewards, found.oracle_rewards) == ((0.0,), (1.0,)), found.problems


@pytest.mark.bubblewrap
def test_a_task_out_of_reach_comes_back_told_more(folder, bubblewrap_backend):
    sampler = sampler_of(Taskset.load(folder).recipes)
    while sampler.update(TASK, [0.0] * 8) != Status.QUARANTINED:
        pass
    wanted = sampler.requests()
    before = contents(folder)
    answers = fulfil(wanted, folder, backend=bubblewrap_backend)
    (child,) = answers[0].children
    parent = Taskset.load(folder).recipe(TASK)

    assert wanted == (RicherStatement(TASK, "L4"),)
    assert (child.level, child.provenance.parent_id, answers[0].problem) == ("L5", TASK, "")
    assert child.id != TASK
    assert (child.fail_to_pass, child.deletions) == (parent.fail_to_pass, parent.deletions)
    assert child.difficulty.prior < parent.difficulty.prior
    assert before.items() <= contents(folder).items()
    assert_calibrated(folder, bubblewrap_backend, [child])
    assert sampler.requests() == wanted
    assert adopt(sampler, answers) == (child.id,)
    state = sampler.status(child.id)
    assert (state.parent, state.statement, state.status) == (TASK, "L5", Status.ACTIVE)
    assert state.mean > sampler.status(TASK).mean
    assert sampler.requests() == ()
    assert sampler.sample(1) == (child.id,)


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_a_learnt_level_gets_harder_children_of_what_was_solved(folder, bubblewrap_backend):
    options = SamplerOptions(parents=1)
    sampler = sampler_of(Taskset.load(folder).recipes, options=options)
    while sampler.update(TASK, [1.0] * 8) != Status.RETIRED:
        pass
    wanted = sampler.requests()
    before = contents(folder)
    answers = fulfil(wanted, folder, backend=bubblewrap_backend, children=2)

    assert wanted == (HarderChildren((TASK,), "d0"),)
    assert 1 <= len(answers[0].children) <= 2
    parent = Taskset.load(folder).recipe(TASK)
    for child in answers[0].children:
        assert child.provenance.parent_id == TASK
        assert child.difficulty.prior > parent.difficulty.prior
    assert before.items() <= contents(folder).items()
    assert_calibrated(folder, bubblewrap_backend, answers[0].children)
    added = adopt(sampler, answers)
    assert set(added) == {child.id for child in answers[0].children}
    assert all(sampler.status(i).mean < sampler.status(TASK).mean for i in added)
    # asked again, as after a crash: the same tasks, and nothing is written over
    after = contents(folder)
    again = fulfil(wanted, folder, backend=bubblewrap_backend, children=2)
    assert {c.id for c in again[0].children} == set(added)
    assert contents(folder) == after
    assert adopt(sampler, again) == ()


@pytest.mark.bubblewrap
def test_a_task_that_was_told_less_has_its_parent_one_level_up(folder, bubblewrap_backend):
    toy = Taskset.load(folder)
    less = toy.recipes[0].model_copy(update={"id": "less", "level": "L2"})
    (folder / "less.json").write_bytes(canonical(less))
    (answer,) = fulfil([RicherStatement("less", "L3")], folder, backend=bubblewrap_backend)

    assert [child.id for child in answer.children] == [TASK]
    assert adopt(sampler_of([less]), [answer]) == (TASK,)


@pytest.mark.bubblewrap
def test_what_cannot_be_made_is_an_answer_with_a_problem(folder, bubblewrap_backend):
    parameter = "toy-text-table-header-ce20a1d9"
    toy = Taskset.load("toy").select([parameter])
    least = toy.recipes[0].model_copy(update={"id": "least", "level": "L1"})
    Taskset.write(folder, [least], toy.baselines.values(), toy.environments.values())
    wanted = HarderChildren(("least",), "d0")
    (answer,) = fulfil([wanted], folder, backend=bubblewrap_backend)

    assert answer.children == ()
    assert "nothing harder can be made of least" in answer.problem


def test_a_task_of_which_no_more_can_be_told_is_answered_without_one(tmp_path, local_backend):
    toy = Taskset.load("toy").select([ALL_TOLD])
    Taskset.write(tmp_path, toy.recipes, toy.baselines.values(), toy.environments.values())
    same = toy.recipes[0].model_copy(update={"id": "same", "level": "L4"})
    (tmp_path / "same.json").write_bytes(canonical(same))  # a twin that is told no more
    sampler = sampler_of(toy.recipes)
    for _ in range(3):
        sampler.update(ALL_TOLD, [0.0] * 8)
    wanted = sampler.requests()
    (answer,) = answers = fulfil(wanted, tmp_path, backend=local_backend)

    assert wanted == (RicherStatement(ALL_TOLD, "L4"),)
    assert answer.children == ()
    assert "nothing new" in answer.problem
    assert adopt(sampler, answers) == ()
    assert sampler.requests() == ()


def test_what_was_not_answered_is_asked_for_again(folder, local_backend):
    sampler = sampler_of(Taskset.load(folder).recipes)
    for _ in range(3):
        sampler.update(TASK, [0.0] * 8)
    wanted = sampler.requests()
    (folder / f"{TASK}.json").unlink()
    with pytest.raises(TaskError):
        fulfil(sampler.requests(), folder, backend=local_backend)

    assert sampler.requests() == wanted != ()


def test_a_task_that_is_not_there_is_told(folder, local_backend):
    with pytest.raises(TaskError, match="no task 'other'"):
        fulfil([RicherStatement("other", "L4")], folder, backend=local_backend)
