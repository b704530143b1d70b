import json
import math

import pytest

from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.trajectory import (
    AgentInfo,
    Recorder,
    changes_between,
    read_trajectory,
    sealed,
    write_trajectory,
)
from codeenv.tree import Entry, Tree
from codeenv_harness.agents import make_agent
from codeenv_harness.episode import play


@pytest.fixture
def written(tmp_path):
    recorder = Recorder(AgentInfo(name="a", version="1"), "t__0")
    recorder.instruct("Do it: ümlaut.")
    recorder.call("x", {"a": None, "b": math.nan, "c": {"d": None, "e": [1, 1.5]}}, "", {"r": 0.0})
    path = tmp_path / "t.json"
    write_trajectory(path, recorder.finished(None, {"seed": 1, "none": None}))
    return path


def state(path):
    read = read_trajectory(path)
    return sealed(read.steps, read.extra)


def test_a_trajectory_is_intact_after_it_was_written_and_read(written):
    assert state(written) == "intact"


@pytest.mark.parametrize(
    ("old", "new"), [('"Do it', '"Do not do it'), ('"seed": 1', '"seed": 2'), ('"x"', '"y"')]
)
def test_any_edit_breaks_the_chain(written, old, new):
    text = written.read_text()
    assert old in text
    written.write_text(text.replace(old, new))

    assert state(written) == "broken"


def test_a_lost_step_breaks_the_chain(written):
    data = json.loads(written.read_text())
    data["steps"].pop()
    written.write_text(json.dumps(data))

    assert state(written) == "broken"


def test_a_trajectory_from_elsewhere_has_no_chain():
    assert sealed([], None) == "absent"


def test_an_episode_writes_down_what_was_handed_in():
    played = play(make_agent("oracle", fake_task()), FakeRuntime().open(fake_task()))

    changed = played.trajectory.extra["changes"]["files"]
    assert [(c["path"], c["kind"]) for c in changed] == [("calc.py", "changed")]
    assert "NotImplementedError" in changed[0]["before"]
    assert "return a + b" in changed[0]["after"]


def test_a_repository_that_was_not_exported_is_no_change():
    given = Tree({"a.py": Entry(b"a\n"), ".git/config": Entry(b"[core]\n")})

    assert changes_between(given, Tree({"a.py": Entry(b"a\n")})).files == ()


def test_changes_are_told_with_their_bytes_or_hashes():
    given = Tree({"a.py": Entry(b"a\n"), "gone.py": Entry(b"x\n"), ".git/index": Entry(b"1")})
    handed_in = Tree(
        {
            "a.py": Entry(b"b\n"),
            "m.pyc": Entry(b"\xa7\r\r\n\x01\0\0\0rest"),
            ".git/index": Entry(b"2"),
            ".git/hooks/post-checkout": Entry(b"#!/bin/sh\n", "exec"),
            "link": Entry(b"/etc", "link"),
        }
    )

    changes = changes_between(given, handed_in, ["a.py"])

    found = {change.path: change for change in changes.files}
    assert sorted(found) == [".git/hooks/post-checkout", "a.py", "gone.py", "link", "m.pyc"]
    assert (found["a.py"].before, found["a.py"].after, found["a.py"].counted) == (
        "a\n",
        "b\n",
        True,
    )
    assert found["m.pyc"].head == "a70d0d0a01000000" + b"rest".hex()
    assert (found["gone.py"].kind, found["link"].mode) == ("deleted", "link")


def test_large_texts_are_left_out_and_said_by_their_hash():
    changes = changes_between(Tree({}), Tree({"big.py": Entry(b"x" * (2 * 1024**2))}))

    assert changes.files[0].after is None
    assert len(changes.files[0].sha_after) == 64
