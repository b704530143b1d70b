import io
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from codeenv.cli.live import Board, Tally, following
from codeenv.cli.terminal import Terminal
from codeenv.grading.models import Grade, Outcome
from codeenv_harness.events import EpisodeEnded, EpisodeStarted, StepTaken
from codeenv_harness.metrics import Usage

NOTHING = Usage(*[None] * 5, 0, *[None] * 5)
SOLVED = Outcome("t", 1.0, "submitted", True, True, False, 3, grade=Grade(True, {}, {}))
FAILED = Outcome("t", 0.0, "submitted", True, True, False, 3, grade=Grade(False, {}, {}))
BROKEN = Outcome("t", 0.0, "infra_error", False, False, True, 0, error="the host died")


class Clock:
    """A clock that a test sets."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def ended(number, outcome=SOLVED, final=True, usage=NOTHING):
    return EpisodeEnded("t", number, outcome, final, usage)


def drawn(tally, width=60):
    """What a terminal of that width shows."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    console.print(Board("oracle plays", tally))
    return console.file.getvalue()


def test_a_run_that_just_began_knows_nothing_yet(clock):
    tally = Tally(8, 4, clock)

    first, second = drawn(tally).splitlines()
    assert first.split() == ["oracle", "plays", "0/8"]
    assert second.rstrip() == "0 running  solved 0  0:00:00 gone  — to go"


def test_what_ended_is_counted_and_what_is_not_valid_is_no_failure(clock):
    tally = Tally(8, 4, clock)
    events = [EpisodeStarted("t", number) for number in range(4)]
    events += [StepTaken("t", 0, 1, {}, None), ended(0), ended(1, FAILED)]
    events += [ended(2, BROKEN, final=False), EpisodeStarted("t", 2), ended(2, BROKEN)]
    for event in events:
        tally.take(event)

    text = drawn(tally)
    assert "3/8" in text
    assert "1 running  solved 1 (50%)  not valid 1  played again 1" in text
    assert "tokens" not in text
    assert "cost" not in text


def test_tokens_and_cost_are_those_that_are_known(clock):
    tally = Tally(8, 4, clock)
    told = replace(NOTHING, prompt_tokens=1_234_567, completion_tokens=890)
    tally.take(ended(0, usage=replace(told, cost_usd=0.25)))
    assert "tokens 1.2M in, 890 out  cost $0.2500" in drawn(tally, 120)

    tally.take(ended(1, BROKEN, final=False, usage=told))
    tally.take(ended(1, usage=None))
    assert "tokens 2.5M in, 1.8k out  cost over $0.2500" in drawn(tally, 120)


def test_the_rest_takes_as_long_as_what_was_played_for_each_place(clock):
    tally = Tally(8, 2, clock)
    for number in (0, 1):
        tally.take(EpisodeStarted("t", number))
    clock.now += 10
    tally.take(ended(0))
    tally.take(ended(1))
    assert tally.remaining == pytest.approx(6 * 10 / 2)

    clock.now += 4  # opening boxes takes its time, too
    tally.take(EpisodeStarted("t", 2))
    tally.take(EpisodeStarted("t", 3))
    assert tally.remaining == pytest.approx((2 * 6 + 4 * 10) / 2)
    assert "0:00:14 gone  0:00:26 to go" in drawn(tally)


def test_the_last_rollout_is_waited_for_however_many_places_there_are(clock):
    tally = Tally(3, 2, clock)
    for number in (0, 1):
        tally.take(EpisodeStarted("t", number))
    clock.now += 60
    tally.take(ended(0))
    tally.take(ended(1))
    tally.take(EpisodeStarted("t", 2))
    clock.now += 20
    assert tally.remaining == pytest.approx(40)
    clock.now += 600
    assert tally.remaining == 0
    tally.take(ended(2))
    assert "0 running  solved 3 (100%)" in drawn(tally)
    assert tally.remaining == 0


def test_a_resumed_run_begins_with_what_was_done_and_no_idea_how_long_it_takes(clock):
    tally = Tally(8, 4, clock)
    tally.before([True, False, True], [replace(NOTHING, prompt_tokens=7), None])

    text = drawn(tally, 120)
    assert "3/8" in text
    assert "solved 2 (67%)  tokens 7 in, — out  0:00:00 gone  — to go" in text


@pytest.mark.parametrize("width", [30, 60, 120])
def test_numbers_stay_whole_in_a_narrow_terminal(clock, width):
    tally = Tally(1000, 4, clock)
    usage = replace(NOTHING, prompt_tokens=10**10, completion_tokens=10**7, cost_usd=1234.5)
    tally.take(ended(0, usage=usage))
    tally.take(ended(1, BROKEN))

    lines = drawn(tally, width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].rstrip().endswith("2/1000")
    text = "  ".join(line.strip() for line in lines[1:])
    assert text.startswith(
        "0 running  solved 1 (100%)  not valid 1  tokens 10.0G in, 10.0M out  cost $1234.5"
    )


def test_a_pipe_gets_a_line_for_each_rollout_and_the_numbers_now_and_then(clock, capsys):
    with following(Terminal(), "oracle plays", Tally(20, 2, clock)) as follow:
        for number in range(20):
            follow(EpisodeStarted("t", number))
            clock.now += 2
            follow(ended(number, FAILED if number % 2 else SOLVED))
        follow(ended(3, BROKEN, final=False))

    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == "reward 1   t #0: submitted, 3 steps"
    assert lines[10] == "10/20      solved 5 (50%)  0:00:20 gone  0:00:10 to go"
    assert lines[-1] == "again      t #3: the host died"
    assert len(lines) == 22


def test_a_hostile_error_cannot_steer_the_terminal(clock, capsys):
    outcome = replace(BROKEN, error="\x1b[2Jgone")
    with following(Terminal(), "oracle plays", Tally(1, 1, clock)) as follow:
        follow(ended(0, outcome))

    assert "\x1b" not in capsys.readouterr().err


def test_in_a_terminal_the_numbers_stay_below_the_lines_and_are_gone_in_the_end(clock, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with following(Terminal(json_wanted=True), "oracle plays", Tally(2, 2, clock)) as follow:
        follow(EpisodeStarted("t", 0))
        follow(ended(0))

    text = stream.getvalue()
    assert "reward 1   t #0: submitted, 3 steps" in text
    assert "1/2" in text
    assert text.endswith("\x1b[2K")
