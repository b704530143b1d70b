from dataclasses import replace

import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import fake_task
from codeenv.errors import UsageError
from codeenv.tools import ToolCall, parse_action, validate
from codeenv.tools.edit_file import overwritten
from codeenv.trajectory import write_trajectory
from codeenv.tree import Delta, Entry, Tree
from codeenv_harness.agents import Briefing, RandomAgent, ReplayAgent, agent_factory, make_agent
from codeenv_harness.agents.oracle import solution_calls
from codeenv_harness.episode import attempt, play


def played(runtime, agent, **limits):
    task = fake_task()
    episode = runtime.open(task, limits=EpisodeLimits(**limits))
    return play(agent, episode, seed=4)


def test_the_oracle_reads_edits_and_submits(runtime):
    done = played(runtime, make_agent("oracle", fake_task()))

    assert done.outcome.reward == 1.0
    assert [step.tool_calls[0].function_name for step in done.trajectory.steps[1:]] == [
        "read_file",
        "edit_file",
        "submit",
    ]


def test_nop_submits_at_once_for_nothing(runtime):
    done = played(runtime, make_agent("nop", fake_task()))

    assert (done.outcome.reward, done.outcome.n_steps) == (0.0, 1)


def test_random_makes_valid_calls_that_come_from_the_seed():
    def calls(seed):
        agent = RandomAgent()
        agent.reset(Briefing("t", "", (), 100, seed))
        return [agent.act(None) for _ in range(50)]

    assert calls(1) == calls(1) != calls(2)
    assert all(validate(parse_action(call)) is not None for call in calls(1))


def test_random_ends_by_a_limit_or_a_submission(runtime):
    done = played(runtime, make_agent("random", fake_task()), max_steps=30)

    assert done.outcome.reason in ("submitted", "max_steps")
    assert done.outcome.reward == 0.0


def test_replay_does_it_all_again(runtime):
    first = played(runtime, make_agent("oracle", fake_task()))
    again = played(runtime, ReplayAgent(first.trajectory))

    assert again.outcome == first.outcome
    assert [s.observation for s in again.trajectory.steps] == [
        s.observation for s in first.trajectory.steps
    ]


def test_replay_repeats_malformed_actions_and_gives_up_at_the_end(runtime):
    class Babbler:
        name = "babbler"

        def reset(self, briefing):
            self.left = ["ls -la", '{"tool": "nope"}']

        def act(self, observation):
            return self.left.pop(0) if self.left else None

    first = played(runtime, Babbler())
    again = played(runtime, ReplayAgent(first.trajectory))

    assert first.outcome.reason == again.outcome.reason == "agent_gave_up"
    assert again.outcome.n_steps == 2
    assert again.trajectory.steps[1].message == "ls -la"


def test_replay_is_named_by_a_file_or_a_run(runtime, tmp_path):
    done = played(runtime, make_agent("nop", fake_task()))
    path = tmp_path / "trajectories" / "fake-add__0.json"
    write_trajectory(path, done.trajectory)

    for spec in (f"replay:{path}", f"replay:{tmp_path}", f"replay:{path.parent}"):
        assert isinstance(make_agent(spec, fake_task()), ReplayAgent)
    with pytest.raises(UsageError, match="no trajectory of other"):
        make_agent(f"replay:{tmp_path}", fake_task("other"))


@pytest.mark.parametrize("spec", ["", "gpt", "replay", "replay:", "nop:1"])
def test_an_unknown_agent_lists_the_known_ones(spec):
    with pytest.raises(UsageError) as caught:
        agent_factory(spec)
    assert "oracle" in caught.value.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\n", b"a\r\nB\r\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfA\n"),
        (b"", b"x = 1"),
        (None, b"a\r\nb\r\n"),
    ],
)
def test_the_oracle_edits_what_an_edit_can_say_exactly(before, after):
    calls = oracle_calls(before, after)

    edit = next(call for call in calls if call.tool == "edit_file")
    assert overwritten(before, edit.arguments["new_str"]) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"a\r\nb\nc\n", b"a\r\nB\nc\n"), (b"caf\xe9", b"CAF\xe9"), (b"\0", b"\1\0"), (b"\0", b"x")],
)
def test_what_an_edit_cannot_say_the_oracle_writes_as_bytes(before, after):
    assert [call.tool for call in oracle_calls(before, after)] == [
        "read_file",
        "run_command",
        "run_command",
        "submit",
    ]


def oracle_calls(before, after):
    task = fake_task()
    workspace = Tree({} if before is None else {"f.py": Entry(before)})
    oracle = Delta({"f.py": Entry(after)})
    return list(solution_calls(replace(task, workspace=workspace, oracle=oracle)))


def test_the_oracle_deletes_links_and_sets_modes():
    entries = {"run": Entry(b"x\n", "exec"), "link": Entry(b"run", "link")}
    oracle = Delta(entries, frozenset({"gone file"}))
    task = replace(fake_task(), workspace=Tree({"gone file": Entry(b"")}), oracle=oracle)

    commands = [
        call.arguments["command"] for call in solution_calls(task) if call.tool == "run_command"
    ]

    assert commands == ["ln -sfn -- run link", "chmod +x -- run", "rm -f -- 'gone file'"]


def test_an_agent_that_fails_gives_no_valid_reward(runtime):
    class Broken:
        name = "broken"

        def reset(self, briefing):
            pass

        def act(self, observation):
            raise RuntimeError("no answer from the model")

    done = played(runtime, Broken())

    assert (done.outcome.reason, done.outcome.reward_valid) == ("infra_error", False)
    assert "no answer from the model" in done.outcome.error
    assert all(box.closed for box in runtime.fake.boxes)


class Unmetered:
    """Solves the task, and cannot tell the tokens of one of its actions."""

    name = "unmetered"

    def __init__(self, fails_at, tells):
        self.fails_at, self.tells = fails_at, tells

    def reset(self, briefing):
        self.actions = [*solution_calls(fake_task())]
        self.turn = 0

    def act(self, observation):
        self.turn += 1
        return self.actions[self.turn - 1]

    def metrics(self):
        if self.turn != self.fails_at:
            return None
        return self.tells()


def failing():
    raise ValueError("one log-probability is missing")


@pytest.mark.parametrize("tells", [failing, lambda: {"logprobs": ["x"]}])
@pytest.mark.parametrize("last", [False, True])
def test_an_agent_that_fails_to_tell_its_tokens_has_no_reward_and_its_step_is_recorded(
    runtime, last, tells
):
    actions = [*solution_calls(fake_task())]
    number = len(actions) if last else 1

    done = played(runtime, Unmetered(number, tells))

    assert (done.outcome.reason, done.outcome.reward_valid) == ("infra_error", False)
    assert "log" in done.outcome.error
    made = [step.tool_calls[0].function_name for step in done.trajectory.steps[1:]]
    assert made == [call.tool for call in actions[:number]]
    assert done.trajectory.steps[-1].extra["tool"]["error"] == "episode_over"
    assert all(box.closed for box in runtime.fake.boxes)


def test_words_and_thoughts_beside_a_call_are_recorded(runtime):
    class Talking:
        name = "talking"

        def reset(self, briefing):
            self.actions = [
                {"tool": "read_file", "arguments": {"path": "calc.py"}, "content": "I look."},
                {"role": "assistant", "content": "Hm.", "reasoning_content": "What now?"},
                {"tool": "submit", "reasoning": "Enough."},
            ]

        def act(self, observation):
            return self.actions.pop(0)

    steps = played(runtime, Talking()).trajectory.steps[1:]

    assert [step.message for step in steps] == ["I look.", "Hm.", ""]
    assert [step.reasoning_content for step in steps] == [None, "What now?", "Enough."]
    assert [bool(step.tool_calls) for step in steps] == [True, False, True]


def test_an_episode_that_cannot_be_opened_gives_no_valid_reward():
    def fail():
        raise OSError("disk full")

    done = attempt(fail, lambda task: None, "t")

    assert (done.outcome.task_id, done.outcome.reason) == ("t", "infra_error")
    assert "disk full" in done.outcome.error
    assert done.trajectory is None


def test_steps_are_told_as_they_happen(runtime):
    seen = []
    episode = runtime.open(fake_task())
    play(
        make_agent("oracle", fake_task()),
        episode,
        on_step=lambda number, action, result: seen.append((number, action, result.name)),
    )

    assert [(number, name) for number, _, name in seen] == [
        (1, "read_file"),
        (2, "edit_file"),
        (3, "submit"),
    ]
    assert all(isinstance(action, ToolCall) for _, action, _ in seen)
