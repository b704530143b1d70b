import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.errors import SandboxError, UsageError
from codeenv.tree import Delta, Entry
from tests.env.actions import LOOK, SOLVE

SUBMIT = {"tool": "submit"}


@pytest.fixture
def begin(runtime):
    def make(**limits):
        return runtime.open(fake_task(), limits=EpisodeLimits(**limits))

    return make


def test_solving_and_submitting_gives_one(begin):
    episode = begin()
    episode.call(SOLVE)
    result = episode.call(SUBMIT)

    outcome = episode.outcome
    assert result.text == "Submitted."
    assert (outcome.reward, outcome.reason, outcome.reward_valid) == (1.0, "submitted", True)
    assert (outcome.terminated, outcome.truncated, outcome.n_steps) == (True, False, 2)
    assert outcome.components == {"fail_to_pass": 1.0, "pass_to_pass": 1.0}


def test_submitting_nothing_gives_zero(begin):
    episode = begin()
    episode.call(SUBMIT)

    assert (episode.outcome.reward, episode.outcome.reward_valid) == (0.0, True)


def test_the_agents_box_is_closed_before_grading(begin):
    episode = begin()
    seen = []
    grade = episode.grade
    episode.grade = lambda task, tree: (seen.append(episode.sandbox.closed), grade(task, tree))[1]

    episode.call(SUBMIT)

    assert seen == [True]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_steps": 2}, "max_steps"),
        ({"output_budget": 10}, "output_budget"),
        ({"wall_time": 1e-9}, "wall_time"),
    ],
)
def test_a_limit_truncates_and_the_work_is_graded(begin, limits, reason):
    episode = begin(**limits)
    episode.call(SOLVE)
    if episode.outcome is None:
        episode.call(LOOK)

    outcome = episode.outcome
    assert (outcome.reason, outcome.terminated, outcome.truncated) == (reason, False, True)
    assert outcome.reward == 1.0


def test_submitting_at_the_last_step_is_a_submission(begin):
    episode = begin(max_steps=1)
    episode.call(SUBMIT)

    assert episode.outcome.reason == "submitted"


def test_malformed_actions_count_as_steps(begin):
    episode = begin(max_steps=2)

    assert episode.call("gibberish").error == "invalid_action"
    assert episode.call({"tool": "nope"}).error == "unknown_tool"
    assert episode.outcome.reason == "max_steps"


def test_a_submission_with_wrong_arguments_is_none(begin):
    episode = begin()

    assert episode.call({"tool": "submit", "arguments": {"x": 1}}).error == "bad_arguments"
    assert episode.outcome is None


def test_after_the_end_every_call_says_so_and_counts_no_step(begin):
    episode = begin()
    outcome = episode.finish()

    assert episode.call(LOOK).error == "episode_over"
    assert episode.finish("max_steps") is outcome
    assert episode.steps == 0


def test_a_failed_sandbox_ends_the_episode_without_a_valid_reward(begin):
    episode = begin()
    episode.call(SOLVE)
    episode.sandbox.broken = True

    result = episode.call(LOOK)

    outcome = episode.outcome
    assert result.error == "episode_over"
    assert "broken" not in result.text
    assert (outcome.reason, outcome.reward_valid, outcome.reward) == ("infra_error", False, 0.0)
    assert (outcome.terminated, outcome.truncated) == (False, True)
    assert "broken" in outcome.error
    assert episode.sandbox.closed


def test_a_sandbox_that_fails_at_the_export_gives_no_valid_reward(begin):
    episode = begin()
    episode.call(SOLVE)
    episode.sandbox.broken = True

    outcome = episode.finish()

    assert (outcome.reason, outcome.reward_valid) == ("infra_error", False)


def test_a_workspace_too_large_to_read_is_the_agents_doing_and_scores_0(begin):
    """Else an agent that is about to fail could make its reward invalid with one large file."""
    episode = begin()
    episode.call(SOLVE)
    episode.sandbox.most_files = 0

    outcome = episode.finish()

    assert (outcome.reason, outcome.reward_valid, outcome.reward) == ("submitted", True, 0.0)
    assert "too many entries" in outcome.error


def test_what_may_count_of_a_workspace_too_large_to_read_is_graded(begin):
    episode = begin()
    episode.call(SOLVE)
    tree = episode.sandbox.tree
    junk = {f"junk/{n}": Entry(b"") for n in range(20)}
    episode.sandbox.tree = tree.apply(Delta(junk))
    episode.sandbox.most_files = len(tree)

    outcome = episode.finish()

    assert (outcome.reward, outcome.reward_valid, outcome.error) == (1.0, True, "")


def test_a_failed_grader_gives_no_valid_reward():
    runtime = FakeRuntime()
    runtime.grader_failures = 1
    episode = runtime.open(fake_task())
    episode.call(SUBMIT)

    outcome = episode.outcome
    assert (outcome.reason, outcome.reward_valid, outcome.reward) == ("grader_error", False, 0.0)
    assert outcome.terminated


def test_closing_is_idempotent_and_grades_nothing(begin):
    episode = begin()
    with episode:
        pass
    episode.close()

    assert episode.sandbox.closed
    assert episode.outcome is None
    assert episode.call(LOOK).error == "episode_over"


def test_a_box_that_does_not_come_up_is_the_callers_to_retry():
    runtime = FakeRuntime(failures=1)
    with pytest.raises(SandboxError):
        runtime.open(fake_task())
    assert runtime.open(fake_task()).steps_left == 100


def test_branches_of_an_episode_are_graded_apart(begin):
    episode = begin(max_steps=5)
    episode.call(LOOK)
    branch = episode.fork()
    branch.call(SOLVE)
    branch.call(SUBMIT)
    episode.call(SUBMIT)

    assert (branch.outcome.reward, branch.outcome.n_steps) == (1.0, 3)
    assert (episode.outcome.reward, episode.outcome.n_steps) == (0.0, 2)


def test_a_branch_has_what_is_left_of_the_limits(begin):
    episode = begin(max_steps=2)
    episode.call(LOOK)
    branch = episode.fork()
    branch.call(LOOK)

    assert branch.outcome.reason == "max_steps"


def test_an_episode_that_is_over_has_no_branches(begin):
    episode = begin()
    episode.call(SUBMIT)

    with pytest.raises(UsageError, match="over"):
        episode.fork()
