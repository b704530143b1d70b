"""Made-up records."""

from hypothesis import strategies as st

from codeenv_harness.records import RolloutRecord


def record(task_id, rollout=0, reward=0.0, *, valid=True):
    """Return the record of a rollout that is resolved if it earned all."""
    return RolloutRecord(
        task_id=task_id,
        rollout=rollout,
        seed=0,
        attempts=1,
        reward=reward if valid else 0.0,
        reward_valid=valid,
        reason="submitted" if valid else "infra_error",
        resolved=valid and reward == 1.0,
        terminated=valid,
        truncated=False,
        n_steps=3 if valid else 0,
        components={},
        not_passed={},
        accepted_paths=[],
        ignored_paths=[],
    )


EITHER = st.booleans()
REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def runs(draw, *, valid=EITHER):
    """Draw the records of a run of up to four tasks and five rollouts of each."""
    tasks = draw(st.integers(0, 4))
    return [
        record(f"t{task}", number, draw(REWARDS), valid=draw(valid))
        for task in range(tasks)
        for number in range(draw(st.integers(1, 5)))
    ]
