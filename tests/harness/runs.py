"""Runs made by hand, for tests of what reads them."""

from codeenv_harness.baselines import Scores
from codeenv_harness.records import Manifest, RolloutRecord, RunFolder


def manifest(*ids, rollouts=1, agent="oracle", **recipes):
    """A run that was asked for; a recipe's digest may be named."""
    return Manifest(
        codeenv="1",
        agent=agent,
        backend="fake",
        recipes=dict.fromkeys(ids, "d") | recipes,
        rollouts=rollouts,
        seed=0,
        profile="core4",
        max_steps=1,
        wall_time=0,
        output_budget=0,
    )


def record(task_id, reward, rollout=0):
    """One rollout; a reward of None is not valid."""
    return RolloutRecord(
        task_id=task_id,
        rollout=rollout,
        seed=0,
        attempts=1,
        reward=reward or 0.0,
        reward_valid=reward is not None,
        reason="submitted" if reward is not None else "infra_error",
        resolved=reward == 1,
        terminated=True,
        truncated=False,
        n_steps=1,
        components={},
        not_passed={},
        accepted_paths=[],
        ignored_paths=[],
    )


def records(**rewards):
    """Rollouts by task."""
    return [
        record(task_id, reward, number)
        for task_id, every in rewards.items()
        for number, reward in enumerate(every)
    ]


def scores(agent="oracle", **rewards):
    """A run's scores, from the rewards of each task's rollouts."""
    longest = max(map(len, rewards.values()), default=1)
    return Scores.of(manifest(*rewards, rollouts=longest, agent=agent), records(**rewards))


def write_run(folder, agent="oracle", recipes=None, **rewards):
    """Write a run to a folder."""
    run = RunFolder(folder)
    longest = max(map(len, rewards.values()))
    run.begin(manifest(*rewards, rollouts=longest, agent=agent, **(recipes or {})), resume=False)
    for found in records(**rewards):
        run.add(found, None)
    return folder
