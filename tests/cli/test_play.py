import re
import tempfile
from pathlib import Path

import pytest

from codeenv.cli import stage
from codeenv.cli.keyboard import Abandoned
from codeenv.cli.person import Hands
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


def test_looking_at_ones_own_work_costs_no_step(episode, capsys):
    more = [
        "diff",
        "diff kettle.py",
        "diff docs",
        "log",
        "steps",
        "more",
        "help edit",
        "help nothing",
    ]
    edit = ["edit kettle.py", "# empty", ".", "def boil():", "."]
    play(Terminal(), episode, typing(*edit, "diff", *more))

    out, err = capsys.readouterr()
    assert episode.steps == 1
    assert out.count("-# empty\n+def boil():") == 3
    assert "nothing is changed" in out
    assert "edited kettle.py: +1 -1" in out
    assert "9 of 10 calls left" in err
    assert "edit PATH" in err
    assert "'nothing' is none of what can be typed" in err


def in_an_editor(*texts):
    """An editor that leaves these texts, and notes what it was given."""
    given, waiting = [], iter(texts)

    def editor(name, text):
        given.append((name, text))
        return next(waiting)

    return editor, given


def test_an_edit_in_an_editor_is_a_call_like_an_agents_after_one_that_reads(episode, capsys):
    editor, given = in_an_editor("def boil():\n    return 100\n", "new\n", "new\n")
    lines = ("edit ./kettle.py", "edit notes.txt", "edit notes.txt", "submit")
    played = play(Terminal(), episode, Hands(typing(*lines), editor))

    assert [name for name, _ in given] == ["kettle.py", "notes.txt", "notes.txt"]
    assert [text for _, text in given] == ["# empty\n", "", "new\n"]
    calls = [call for step in played.trajectory.steps for call in step.tool_calls or ()]
    tools = [call.function_name for call in calls]
    assert tools == ["read_file", "edit_file", "edit_file", "submit"]
    assert played.trajectory.agent.name == "human"
    assert played.outcome.reward == 1.0
    assert "nothing was changed" in capsys.readouterr().err


def test_changes_for_which_no_call_is_left_are_told(episode, capsys):
    before = "".join(f"line {number}\n" for number in range(40))
    episode.sandbox.write_file("kettle.py", before.encode())
    editor, _ = in_an_editor(before.replace(" 3\n", " three\n").replace(" 30\n", " thirty\n"))
    lines = [*["read kettle.py"] * 9, "edit kettle.py"]
    played = play(Terminal(), episode, Hands(typing(*lines), editor))

    assert played.outcome.reason == "max_steps"
    assert "changes of the editor that were not made: 1" in capsys.readouterr().err


@pytest.mark.parametrize("reads", [0, 9], ids=["a call fails", "the steps end"])
def test_what_was_written_in_the_editor_is_kept_if_not_all_of_it_is_made(
    episode, capsys, monkeypatch, tmp_path, reads
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = "".join(f"line {number}\n" for number in range(40))
    after = before.replace(" 3\n", " three\n").replace(" 30\n", " thirty\n")
    episode.sandbox.write_file("kettle.py", before.encode())

    def editor(name, text):
        if not reads:
            episode.sandbox.write_file("kettle.py", b"another\n")
        return after

    lines = [*["read kettle.py"] * (reads or 1), "edit kettle.py"]
    play(Terminal(), episode, Hands(typing(*lines), editor))

    (file,) = tmp_path.iterdir()
    assert file.read_text() == after
    told = capsys.readouterr().err
    assert Path(re.search(r"what you wrote is in\s+(\S+)", told)[1]).name == file.name
    assert "that were not made: 1" in told


def test_an_edit_that_is_made_leaves_no_file(episode, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    editor, _ = in_an_editor("def boil():\n    return 100\n")
    play(Terminal(), episode, Hands(typing("edit kettle.py", *["read kettle.py"] * 9), editor))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        "read a.py " + "0" * 5000 + "1",
        'read_file {"path": ' + "[" * 100_000,
        'read_file {"path": ' + "[" * 500 + "]" * 500 + "}",
        "read \0",
        "read \ufffd\ud800",
        "edit \0",
        "help [/x]",
    ],
    ids=range(7),
)
def test_whatever_is_typed_ends_no_episode(episode, line):
    play(Terminal(), episode, Hands(typing(line, "read kettle.py"), in_an_editor()[0]))

    assert episode.steps in (1, 2)


@pytest.mark.parametrize(
    ("data", "said"), [(b"\0" * 9, "binary"), (b"\xff\n", "UTF-8")], ids=["binary", "latin"]
)
def test_what_no_editor_can_show_is_told(episode, capsys, data, said):
    editor, given = in_an_editor()
    episode.sandbox.write_file("data", data)
    play(Terminal(), episode, Hands(typing("edit data", "edit ../x", "edit .", "edit ''"), editor))

    assert given == []
    assert episode.steps == 0
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "over"), [("y", True), ("", False), ("n", False), (None, False)]
)
def test_handing_in_is_asked_for_once_more_in_a_terminal(episode, capsys, answer, over):
    edit = ["edit kettle.py", "# empty", ".", "def boil():", "."]
    read = typing(*edit, "edit test_x.py", ".", "x", ".", "submit", *([answer] if answer else []))
    play(Terminal(), episode, Hands(read, confirms=True))

    assert (episode.outcome is not None) == over
    told = capsys.readouterr().err
    assert "kettle.py  +1 -1\n" in told
    assert "test_x.py  +1 -0  added  does not count" in told


def giving_up(*lines):
    """A person that types lines; a list among them is a line that is given up."""
    waiting = iter(lines)

    def read(prompt):
        line = next(waiting, None)
        if isinstance(line, list):
            raise Abandoned(line[0])
        return line

    return read


def test_a_line_that_is_given_up_does_nothing(episode, capsys):
    lines = (["read kettle.py"], ["x"], [""], "steps", [""], "edit kettle.py", "# empty", ["def"])
    play(Terminal(), episode, giving_up(*lines))

    assert (episode.steps, episode.outcome) == (0, None)
    assert "leaves without handing in" in capsys.readouterr().err


def test_giving_up_twice_on_an_empty_line_leaves(episode):
    with pytest.raises(KeyboardInterrupt):
        play(Terminal(), episode, giving_up([""], [""]))
    assert episode.outcome is None


def test_the_last_calls_are_told_and_the_last_one_is_graded(episode, capsys):
    played = play(Terminal(), episode, typing(*["read kettle.py"] * 12))

    out, err = capsys.readouterr()
    assert [f"{n} of 10 calls left" in err for n in (6, 5, 1, 0)] == [False, True, True, True]
    assert out.count("# empty") == 10
    assert played.outcome.reason == "max_steps"


def test_a_long_answer_is_shown_by_head_and_tail_where_it_would_scroll_away(capsys):
    result = ToolResult("run_command", "\n".join(f"line {n}" for n in range(100)))

    assert shown(capsys, stage.answer(result)).count("\n") == 100
    drawn = shown(capsys, stage.answer(result, 30)).splitlines()
    assert len(drawn) == 30
    assert (drawn[0], drawn[-1]) == ("line 0", "line 99")
    assert "71 lines are left out: more shows all" in "\n".join(drawn)


@pytest.mark.parametrize("last", ["quit", "exit", None])
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
