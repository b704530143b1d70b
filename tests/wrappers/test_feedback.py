"""The wrapper adds what needs more than the episode, and lets no secret through."""

import pickle

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.env.repo import CodeRepoEnv
from codeenv.errors import UsageError
from codeenv.feedback import FeedbackEvent, Target
from codeenv.sandbox.base import ExecResult
from codeenv.tasks.taskset import Taskset
from codeenv.wrappers import Feedback

LOOK = {"tool": "read_file", "arguments": {"path": "calc.py"}}
LOST = {"tool": "read_file", "arguments": {"path": "none.py"}}
HISTORY = {"tool": "run_command", "arguments": {"command": "git show HEAD~1:calc.py"}}
SUBMIT = {"tool": "submit", "arguments": {}}
SOLVE = {
    "tool": "edit_file",
    "arguments": {"path": "calc.py", "old_str": "raise NotImplementedError",
                  "new_str": "return a + b"},
}  # fmt: skip
GOLD = "def add(a, b): return a + b def double(a)"


def runner(_box, _command, _stdin):
    return ExecResult(0, b"def add(a, b):\n    return a + b\n")


@pytest.fixture
def wrapped(tmp_path):
    taskset = fake_taskset("fake-a")
    Taskset.write(
        tmp_path / "T", taskset.recipes, taskset.baselines.values(), taskset.environments.values()
    )
    made = []

    def wrap(**options):
        env = CodeRepoEnv(tmp_path / "T", runtime=FakeRuntime(runner), max_steps=6)
        made.append(Feedback(env, **options))
        return made[-1]

    yield wrap
    for env in made:
        env.close()


def play(env, *actions):
    env.reset(seed=0)
    return [env.step(action)[4] for action in actions]


def kinds(info):
    return [(event["turn"], event["kind"]) for event in info["feedback"]]


def style(hint, turn=1, **values):
    return FeedbackEvent(
        id="x", kind="style", severity="info", turn=turn, hint=hint,
        target=Target(message=2 * turn - 1), **values,
    )  # fmt: skip


def test_what_the_monitor_found_comes_with_the_end_at_its_turn(wrapped):
    first, second, last = play(wrapped(), LOOK, HISTORY, SUBMIT)

    assert kinds(first) == kinds(second) == []
    event = FeedbackEvent.model_validate(last["feedback"][0])
    assert (event.turn, event.kind, event.source) == (2, "artefact_access", "monitor")
    assert event.hint == "implement from the spec"
    assert '{"command": "git show HEAD~1:calc.py"}'[slice(*event.target.chars)] == (
        '"git show HEAD~1:calc.py"'
    )
    assert event.evidence["labels"] == ["SC-GIT"]


def test_the_monitor_may_stay_out(wrapped):
    assert kinds(play(wrapped(monitor=False), HISTORY, SUBMIT)[-1]) == []


def test_the_events_of_rules_come_through(wrapped):
    env = wrapped()
    infos = play(env, LOST, LOOK, LOOK)

    assert [kinds(info) for info in infos] == [[(1, "path_not_found")], [], [(3, "redundant_read")]]
    assert [event.turn for event in env.events] == [1, 3]


def test_a_judges_event_is_told_at_the_end(wrapped):
    info = play(wrapped(judge=lambda case: [style("be brief")]), LOST, SUBMIT)[-1]

    assert [event["id"] for event in info["feedback"]] == ["1.2.style"]
    assert "judge_error" not in info


def test_a_judge_that_fails_ends_no_episode(wrapped):
    def judge(_):
        raise RuntimeError("no model")

    info = play(wrapped(judge=judge), SUBMIT)[-1]

    assert (info["judge_error"], info["reason"]) == ("RuntimeError: no model", "submitted")


def test_a_hint_with_the_solution_is_refused_and_told(wrapped):
    env = wrapped(judge=lambda case: [style(GOLD), style("look at the signature")])
    info = play(env, LOOK, SUBMIT)[-1]

    assert [event["hint"] for event in info["feedback"]] == ["look at the signature"]
    assert [refused["kind"] for refused in info["feedback_refused"]] == ["style"]
    assert GOLD not in str(info)


def test_a_privileged_hint_may_have_it(wrapped):
    env = wrapped(judge=lambda case: [style(GOLD, privileged=True)])

    assert [event["hint"] for event in play(env, SUBMIT)[-1]["feedback"]] == [GOLD]


def test_secrets_of_the_caller_are_kept_too(wrapped):
    secret = "the teacher likes tests that are very small and green"
    env = wrapped(judge=lambda case: [style(secret)], secrets=[secret])

    assert "feedback_refused" in play(env, SUBMIT)[-1]


def test_merged_events_are_one_for_each_turn(wrapped):
    infos = play(wrapped(merge=True), LOST, LOST, SUBMIT)

    assert [len(info["feedback"]) for info in infos] == [1, 1, 0]
    event = infos[1]["feedback"][0]
    assert event["evidence"]["merged"] == ["2.1.path_not_found", "2.2.repeated_failure"]
    assert event["target"]["part"] == "arguments"


def test_a_new_episode_begins_without_events(wrapped):
    env = wrapped()
    play(env, LOST, SUBMIT)
    env.reset()

    assert env.events == ()


def test_the_same_actions_give_the_same_feedback(wrapped):
    def judge(case):
        return [style("be brief", turn.turn) for turn in case.events]

    actions = [LOST, HISTORY, LOOK, LOOK, SUBMIT]

    assert play(wrapped(judge=judge), *actions) == play(wrapped(judge=judge), *actions)


def test_a_branch_goes_on_from_here(wrapped):
    env = wrapped()
    play(env, HISTORY)
    branch = env.fork()
    try:
        ends = [branch.step(SUBMIT)[4], env.step(SUBMIT)[4]]
    finally:
        branch.close()

    assert [kinds(end) for end in ends] == [[(1, "artefact_access")]] * 2
    assert len(branch.events) == 1


def test_a_registered_environment_branches_as_well():
    made = gymnasium.make("CodeRepo-v0", tasks=fake_taskset("fake-a"), runtime=FakeRuntime())
    with Feedback(made) as env:
        env.reset(seed=1)
        env.step(LOST)
        with env.fork() as branch:
            assert branch.step(SUBMIT)[2]
        assert env.step(SUBMIT)[2]


def test_it_pickles(wrapped):
    with pickle.loads(pickle.dumps(wrapped(merge=True))) as env:
        assert kinds(play(env, LOST)[-1]) == [(1, "path_not_found")]


def test_a_failure_of_the_machine_has_no_late_events(wrapped):
    env = wrapped(judge=lambda case: [style("be brief")])
    env.unwrapped.runtime.grader_failures = 9
    info = play(env, SUBMIT)[-1]

    assert (info["reward_valid"], info["feedback"]) == (False, [])


def test_only_our_environment_is_wrapped():
    with pytest.raises(UsageError, match="CodeRepoEnv"):
        Feedback(gymnasium.make("CartPole-v1"))


@pytest.mark.bubblewrap
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped")
def test_the_checker_has_nothing_to_say():
    env = gymnasium.make("CodeRepo-v0", backend="bubblewrap", disable_env_checker=True)

    check_env(Feedback(env), skip_render_check=True)

    env.close()
