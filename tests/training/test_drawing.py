import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from codeenv_harness.curriculum import TaskSampler
from training.drawing import Curriculum, UniformDraw
from training.rollouts import Rollout

TASKS = tuple(f"task-{n:02d}" for n in range(40))


def played(task, rewards, valid=True):
    return [Rollout(task, 0, reward=reward, valid=valid) for reward in rewards]


@pytest.mark.parametrize("draw", [UniformDraw(TASKS, 1), Curriculum(TASKS, TaskSampler(TASKS))])
def test_a_draw_has_different_tasks_and_never_more_than_there_are(draw):
    assert len(set(draw.some(12))) == 12
    assert set(draw.some(100)) <= set(TASKS)


def test_the_curriculum_leaves_what_is_always_solved():
    draw = Curriculum(TASKS, TaskSampler(TASKS, seed=3))
    for version in range(6):
        for task in TASKS[:30]:
            draw.learn(played(task, [1.0] * 8), version)
        for task in TASKS[30:]:
            draw.learn(played(task, [1.0, 0.0] * 4), version)

    drawn = [task for _ in range(40) for task in draw.some(5)]

    assert sum(task in TASKS[30:] for task in drawn) > 0.7 * len(drawn)


def test_what_was_not_graded_says_nothing_of_a_task():
    sampler = TaskSampler(TASKS, seed=3)
    before = sampler.means(TASKS).tolist()

    Curriculum(TASKS, sampler).learn(played(TASKS[0], [0.0] * 8, valid=False), 0)

    after = sampler.means(TASKS).tolist()
    assert after == before
