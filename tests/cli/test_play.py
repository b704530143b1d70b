import pytest

from codeenv.cli import stage
from codeenv.cli.play import play
from codeenv.cli.terminal import Terminal
from codeenv.cli.watch import watch
from codeenv.grading.models import Outcome
from codeenv.tools import ToolCall, ToolResult


def typing(*lines):
    """A person that types these lines and then closes the input."""
    waiting = iter(lines)
    return lambda prompt: next(waiting, None)


def test_a_person_who_restores_the_code_gets_the_reward(episode, capsys):
    person = typing(
        "read kettle.py",
        "edit kettle.py", "# empty", ".", "def boil():", "    return 100", ".",
        "submit",
    )  # fmt: skip

    play(Terminal(), episode, person)

    assert episode.outcome.reward == 1.0
    assert "# empty" in capsys.readouterr().out


def test_what_cannot_be_read_costs_no_step(episode, capsys):
    play(Terminal(), episode, typing("dance", "", "help", "task", "read"))

    assert episode.steps == 0
    assert capsys.readouterr().err.count("hint:") == 2


@pytest.mark.parametrize("last", ["quit", None])
def test_leaving_grades_nothing(episode, last):
    play(Terminal(), episode, typing("read kettle.py", *([last] if last else [])))

    assert episode.outcome is None


def test_the_input_may_end_in_the_middle_of_an_edit(episode):
    play(Terminal(), episode, typing("edit kettle.py", "# empty"))

    assert episode.outcome is None


@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_an_agents_steps_are_shown_as_they_happen(episode, capsys, agent, reward):
    outcome = watch(Terminal(), agent, episode)

    assert outcome.reward == reward
    assert "submit" in capsys.readouterr().out


def shown(capsys, what):
    Terminal().show(what)
    return capsys.readouterr().out


def test_hostile_output_of_a_step_cannot_steer_the_terminal(capsys):
    call = ToolCall(tool="run_command", arguments={"command": "printf \x1b[2J"})

    drawn = shown(capsys, stage.step(1, call, ToolResult("run_command", "\x1b]0;title\x07")))

    assert "\x1b" not in drawn
    assert "\x07" not in drawn


def test_long_output_of_a_step_is_cut_and_says_so(capsys):
    call = ToolCall(tool="run_command", arguments={"command": "seq 100"})
    text = "\n".join(str(number) for number in range(100))

    drawn = shown(capsys, stage.step(1, call, ToolResult("run_command", text)))

    assert "89 more lines" in drawn


def test_a_reward_that_is_not_valid_is_not_shown_as_a_reward(capsys):
    outcome = Outcome("t", 0.0, "infra_error", False, False, True, 1, error="the host died")

    drawn = shown(capsys, stage.verdict(outcome))

    assert "not valid: the host died" in drawn
    assert "reward 0" not in drawn


def test_a_verdict_names_what_did_not_pass_and_what_did_not_count(episode, capsys):
    drawn = shown(capsys, stage.verdict(episode.finish("submitted")))

    assert "0 of 1 passed" in drawn
    assert "t::a" in drawn
    assert "did not count: conftest.py" in drawn
