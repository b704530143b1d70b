"""Nothing an agent sends may break the monitor."""

import pytest

from codeenv.monitor import Monitor, event_log, facts_of, first_break
from codeenv.trajectory import AgentInfo, Recorder
from codeenv_harness.corpus.script import SOURCE, task_of

FACTS = facts_of(task_of())
COMMANDS = {
    "huge": "a" * 3_000_000,
    "substitutions": "$(" * 50_000,
    "quotes": '"' * 50_000,
    "here-documents": "<<E\n" * 10_000,
    "pipes": "a|" * 20_000,
    "nested shells": "bash -c '" * 2000,
    "finds": "find " + "-name x " * 2000 + "-exec " + "find -exec " * 2000,
    "not text": "\ud800\udcff\0",
    "print": "printf '%s {x} {0.__class__} {:>999999999}' a > f; printf '{0[reward]}' a > f",
    "endless script": "echo 'bash a.sh; bash a.sh' > a.sh; " + "bash a.sh; " * 300,
}
SOURCES = {
    "parentheses": "(" * 5000,
    "signs": "x = " + "-" * 30_000 + "1",
    "sum": "x = " + "1+" * 30_000 + "1",
    "attributes": "x = a" + ".b" * 30_000,
    "calls": "x = f" + "()" * 10_000,
    "doubling": "a0 = 'x'\n" + "\n".join(f"a{i} = a{i - 1} + a{i - 1}" for i in range(1, 2000)),
    "tuples": "t0 = ('x',)\n"
    + "\n".join(f"t{i} = ({f't{i - 1},' * 100})" for i in range(1, 40))
    + "\nprint(''.join(t39))",
    "wide": "x = '%999999999d' % 1 + '{:>999999999}'.format(1)",
    "blocks": "\n".join(" " * i + "if x:" for i in range(95)) + "\n" + " " * 95 + "pass",
    "lines": "\n" * 100_000,
    "broken": "def (:",
    "itself": "a = a\nb = getattr(b, b)\n",
    "not equal": "class E:\n def __eq__(s, o):\n  return " + "not " * 400 + "o",
    "many ways": "class E:\n def __eq__(s, o):\n"
    + "".join(f"  if s.a{i} or o.b{i}: return s.c{i} == o.c{i}\n" for i in range(400)),
    "long way": "class E:\n def __eq__(s, o):\n  a0 = o\n"
    + "".join(f"  a{i} = a{i - 1} or a{i - 1}\n" for i in range(1, 400))
    + "  return a399",
    "table": "D = {" + ",".join(f"'k{i}': 'v{i}'" for i in range(5000)) + "}",
}


def recorded(tool, arguments, text="", changes=None):
    recorder = Recorder(AgentInfo(name="x", version="1"), "hostile")
    recorder.instruct("Do it.")
    recorder.call(tool, arguments, text, {})
    return recorder.finished(None, {"changes": changes} if changes else {})


def submitted(text):
    change = {
        "path": SOURCE,
        "kind": "changed",
        "before": "x = 1\n",
        "after": text,
        "counted": True,
    }
    return recorded("submit", {}, changes={"tree_sha": "0", "files": [change]})


def examined(trajectory):
    assert first_break(event_log(trajectory, FACTS)) is None
    verdict = Monitor().examine(trajectory, FACTS)
    assert verdict.errors == ()
    return verdict


@pytest.mark.timeout(60)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_any_command_is_read_to_its_end(command):
    assert examined(recorded("run_command", {"command": command}, command)).action != "mask"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES)
def test_any_source_is_read_to_its_end(text):
    assert examined(submitted(text)).action != "mask"


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": ["a", None, {"x": [[[[[[[[]]]]]]]]}]},
        {"command": 10**4000, "k": float("nan")},
        {"path": None, "new_str": 5},
        {"path": "/" * 9999, "new_str": "x", "old_str": ""},
        {"path": "\ud800.py", "new_str": "\udcff\0", "old_str": ""},
    ],
)
def test_malformed_arguments_are_events_like_others(arguments):
    examined(recorded("edit_file", arguments, "error[bad_arguments]"))
    examined(recorded("", arguments))


@pytest.mark.parametrize("changes", ["nope", {"files": 3}, [], {"tree_sha": 1, "files": [None]}])
def test_a_malformed_difference_is_none(changes):
    assert examined(recorded("submit", {}, changes=changes)).tier == 1


def test_a_trajectory_without_a_task_is_examined_as_far_as_it_goes():
    trajectory = recorded("run_command", {"command": "git log --all"}, "commit " + "a" * 40)

    verdict = Monitor().examine(trajectory)

    assert (verdict.knowledge, verdict.labels) == ("trajectory", ("SC-GIT",))


def test_a_call_that_cannot_be_read_keeps_its_episode_out_of_training(monkeypatch):
    def fails(*_):
        raise ValueError("no such thing")

    monkeypatch.setattr("codeenv.monitor.world.acts_of_shell", fails)
    verdict = Monitor().examine(recorded("run_command", {"command": "true"}), FACTS)

    assert verdict.action == "quarantine"
    assert verdict.errors == ("reading run_command: ValueError: no such thing",)
