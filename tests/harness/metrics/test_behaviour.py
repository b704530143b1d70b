from dataclasses import replace

import pytest

from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.errors import UsageError
from codeenv.feedback import feedback_of
from codeenv.sandbox.base import ExecResult
from codeenv_harness.episode import play
from codeenv_harness.metrics import (
    behaviour_of,
    behaviour_of_run,
    recorded_events,
    summarise_behaviour,
)
from codeenv_harness.metrics.behaviour import NO_CALL, UNKNOWN

READ = {"tool": "read_file", "arguments": {"path": "calc.py"}}
EDIT = {
    "tool": "edit_file",
    "arguments": {"path": "calc.py", "old_str": "NotImplementedError", "new_str": "ValueError"},
}
TEST = {"tool": "run_command", "arguments": {"command": "python -m pytest"}}
SUBMIT = {"tool": "submit", "arguments": {"message": "It is done."}}


class Playing:
    """Plays what it is given."""

    name = "playing"

    def __init__(self, actions):
        self._actions = iter(actions)

    def reset(self, briefing):
        pass

    def act(self, observation):
        return next(self._actions, None)


def passing(_box, command, _stdin):
    said = isinstance(command, str) and "pytest" in command
    return ExecResult(0, b"1 passed in 0.01s\n") if said else None


def played(*actions):
    with FakeRuntime(passing).open(fake_task()) as episode:
        return play(Playing(actions), episode).trajectory


def did(*actions):
    return behaviour_of(played(*actions))


def test_calls_are_counted_by_tool_and_what_is_none_apart():
    found = did(READ, READ, EDIT, {"tool": "open", "arguments": {}}, "hello", SUBMIT)

    assert found.calls == {
        NO_CALL: 1,
        UNKNOWN: 1,
        "edit_file": 1,
        "read_file": 2,
        "submit": 1,
    }
    assert (found.actions, found.invalid, found.edits, found.failed_edits) == (6, 2, 1, 0)
    assert found.mistakes["redundant_read"] == 1
    assert (found.submitted, found.final_words) == (True, 3)


def test_tests_before_handing_in_are_told_from_none():
    assert did(EDIT, TEST, SUBMIT).tested
    assert not did(EDIT, SUBMIT).tested
    assert not did(EDIT, TEST).tested
    assert did(EDIT, SUBMIT).mistakes["no_verify"] == 1
    assert "no_verify" not in did(EDIT, TEST, SUBMIT).mistakes


def test_a_command_that_speaks_of_tests_and_runs_none_is_no_test_run():
    show = {"tool": "run_command", "arguments": {"command": "cat test_calc.py"}}

    assert did(show, SUBMIT).test_runs == 0
    assert did(TEST, TEST, SUBMIT).test_runs == 2


def test_an_edit_without_its_place_is_a_failed_edit_and_the_same_again_a_repeated_failure():
    wrong = {"tool": "edit_file", "arguments": {**EDIT["arguments"], "old_str": "nowhere"}}
    found = did(wrong, wrong)

    assert (found.edits, found.failed_edits, found.invalid) == (0, 2, 0)
    assert (found.mistakes["edit_no_match"], found.mistakes["repeated_failure"]) == (2, 1)
    assert (found.submitted, found.final_words) == (False, None)


def test_shares_are_over_all_episodes_together():
    bad = {"tool": "open", "arguments": {}}
    found = summarise_behaviour([did(EDIT, TEST, SUBMIT), did(EDIT, SUBMIT), did(bad, READ, READ)])

    assert (found.rollouts, found.actions, found.submitted) == (3, 8, 2)
    assert (found.invalid_rate, found.tested_rate, found.unverified_rate) == (1 / 8, 0.5, 0.5)
    assert (found.test_runs_per_edit, found.failed_edit_rate) == (0.5, 0.0)
    assert found.mistakes_per_100 == {
        "no_verify": 12.5,
        "redundant_read": 12.5,
        "unknown_tool": 12.5,
    }
    assert found.final_words == 3
    assert list(found.calls.values()) == [1, 2, 2, 1, 2]


def test_shares_of_nothing_are_unknown():
    found = summarise_behaviour([])

    assert (found.rollouts, found.calls, found.mistakes_per_100) == (0, {}, {})
    assert {found.invalid_rate, found.tested_rate, found.unverified_rate} == {None}
    assert {found.failed_edit_rate, found.test_runs_per_edit, found.final_words} == {None}


def test_a_record_without_events_can_be_given_those_of_the_rules():
    trajectory = played(READ, READ, {"tool": "open", "arguments": {}}, SUBMIT)
    bare = trajectory.model_copy(
        update={"steps": tuple(s.model_copy(update={"extra": None}) for s in trajectory.steps)}
    )

    assert behaviour_of(bare).invalid == 0
    assert behaviour_of(bare, feedback_of(bare)) == behaviour_of(trajectory)


def test_recorded_events_that_cannot_be_read_are_told():
    trajectory = played(SUBMIT).model_copy(update={"extra": {"feedback": [{"kind": "odd"}]}})

    with pytest.raises(UsageError, match="cannot read its feedback"):
        recorded_events(trajectory)


def test_recorded_runs_tell_an_agent_that_knows_from_one_that_calls_at_random(toy_runs):
    oracle, nop, noise = (
        behaviour_of_run(toy_runs[agent].rollouts()) for agent in ("oracle", "nop", "random")
    )

    assert (oracle.rollouts, nop.rollouts, noise.rollouts) == (6, 6, 6)
    assert (oracle.invalid_rate, oracle.submitted) == (0.0, 6)
    assert oracle.calls["edit_file"] > 0
    assert set(nop.calls) <= {"submit"}
    assert noise.actions > oracle.actions
    assert noise.mistakes_per_100["redundant_read"] > 0
    assert set(oracle.mistakes_per_100) == {"no_verify"}
    assert (oracle.tested_rate, oracle.unverified_rate) == (0.0, 1.0)


def test_rollouts_without_a_valid_reward_change_nothing(toy_runs):
    rollouts = list(toy_runs["oracle"].rollouts())
    broken = [replace(r, reward_valid=False) for r in toy_runs["random"].rollouts()]

    assert behaviour_of_run([*broken, *rollouts]) == behaviour_of_run(rollouts)
