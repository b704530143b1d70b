"""Loops of other frameworks as agents."""

import threading

import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.trajectory import StepMetrics
from codeenv_harness.agents import AgentError, Briefing, DrivenAgent, EpisodeOver
from codeenv_harness.episode import play

EDIT = {"path": "calc.py", "old_str": "raise NotImplementedError", "new_str": "return a + b"}
LOOK = {"tool": "read_file", "arguments": {"path": "calc.py"}}
SUBMIT = {"tool": "submit"}


def played(drive, max_steps=9):
    episode = FakeRuntime().open(fake_task(), limits=EpisodeLimits(max_steps=max_steps))
    return play(DrivenAgent("theirs", drive, model="m"), episode)


def test_a_loop_that_calls_plays_an_episode():
    def drive(hands):
        assert "calc" in hands.briefing.instruction
        if "NotImplementedError" in hands.act(LOOK, StepMetrics(prompt_tokens=5)).text:
            hands.act({"tool": "edit_file", "arguments": EDIT})
        return SUBMIT

    done = played(drive)

    assert (done.outcome.reward, done.outcome.n_steps) == (1.0, 3)
    tokens = [step.metrics for step in done.trajectory.steps[1:]]
    assert [told and told.prompt_tokens for told in tokens] == [5, None, None]
    assert (done.trajectory.agent.name, done.trajectory.agent.model_name) == ("theirs", "m")


def test_a_loop_that_ends_without_handing_in_gave_up_and_is_graded():
    outcome = played(lambda hands: hands.act(LOOK) and None).outcome

    assert (outcome.reason, outcome.reward_valid) == ("agent_gave_up", True)


def test_what_a_loop_raises_makes_the_episode_invalid():
    def drive(hands):
        hands.act(LOOK)
        raise RuntimeError("their fault")

    outcome = played(drive).outcome

    assert (outcome.reason, outcome.reward_valid) == ("infra_error", False)
    assert "their fault" in outcome.error


def test_a_loop_that_goes_on_is_ended_with_the_episode():
    ended = threading.Event()

    def drive(hands):
        try:
            while True:
                hands.act(LOOK)
        except EpisodeOver:
            ended.set()
            raise

    assert played(drive, max_steps=3).outcome.reason == "max_steps"
    assert ended.wait(30)


def test_who_waits_for_a_loop_goes_on_when_it_is_stopped():
    begun, never = threading.Event(), threading.Event()

    def drive(hands):
        begun.set()
        never.wait(60)

    agent = DrivenAgent("theirs", drive)
    agent.reset(Briefing("t", "", (), 9, 0))

    def stop():
        begun.wait(60)
        agent.stop()

    threading.Thread(target=stop, daemon=True).start()
    with pytest.raises(AgentError, match="stopped"):
        agent.act(None)
    assert agent.act(None) is None
    never.set()


def test_an_agent_plays_one_episode_after_the_other():
    agent = DrivenAgent("theirs", lambda hands: SUBMIT)

    for _ in range(2):
        assert play(agent, FakeRuntime().open(fake_task())).outcome.reason == "submitted"
