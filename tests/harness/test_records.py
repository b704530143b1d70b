"""A run's records on disk, whatever was killed while it wrote, and whatever agents name files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.errors import UsageError
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run
from tests.harness import runs

RECORD = runs.record("t", 1.0)


def record(rollout, **fields):
    return RECORD.model_copy(update={"rollout": rollout, **fields})


def rollouts(folder):
    return [found.rollout for found in RunFolder(folder).records()]


@pytest.fixture
def path(tmp_path):
    RunFolder(tmp_path).add(record(0), None)
    return tmp_path / "outcomes.jsonl"


@given(st.data())
def test_whatever_was_torn_no_later_record_is_lost(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("run")
    for number in range(2):
        RunFolder(folder).add(record(number), None)
    path = folder / "outcomes.jsonl"
    whole = path.read_bytes()
    kept = whole[: data.draw(st.integers(0, len(whole)))]
    path.write_bytes(kept)
    before = rollouts(folder)

    RunFolder(folder).add(record(7), None)
    RunFolder(folder).add(record(8), None)

    assert rollouts(folder) == [*before, 7, 8]
    assert len(before) in (kept.count(b"\n"), kept.count(b"\n") + 1)


def test_a_record_that_lacks_only_the_end_of_its_line_is_kept(path):
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert rollouts(path.parent) == [0]

    RunFolder(path.parent).add(record(1), None)

    assert rollouts(path.parent) == [0, 1]


def test_a_run_that_was_killed_while_it_wrote_is_resumed_as_often_as_need_be(tmp_path):
    tasks, options = fake_taskset("a", "b", "c"), RunOptions("nop", out=tmp_path)
    run(tasks, options, FakeRuntime())
    path = tmp_path / "outcomes.jsonl"
    for _ in range(2):
        path.write_bytes(path.read_bytes()[:-700])
        run(tasks, RunOptions("nop", out=tmp_path, resume=True), FakeRuntime())
        assert [found.task_id for found in RunFolder(tmp_path).records()] == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["a\u2028b", "a\u2029b", "a\x85b", "a\rb\x0b\x0c\x1c\x1d\x1eb"])
def test_no_name_of_a_file_breaks_a_line(path, name):
    folder = RunFolder(path.parent)
    folder.add(record(1, ignored_paths=[name], error=name), None)
    folder.add(record(2), None)

    assert rollouts(path.parent) == [0, 1, 2]
    assert folder.records()[1].ignored_paths == [name]


@pytest.mark.parametrize("line", [b"{}", b'{"task_id": "t"', b"", b"\xff\xfe", b'"\xc3"', b"\0\0"])
def test_a_line_with_an_end_that_is_no_record_is_named(path, line):
    path.write_bytes(path.read_bytes() + line + b"\n")

    with pytest.raises(UsageError, match=r"outcomes\.jsonl:2 is not"):
        RunFolder(path.parent).records()


def test_bytes_that_are_no_text_in_another_runs_manifest_are_another_run(tmp_path):
    (tmp_path / "manifest.json").write_bytes(b"\xff")

    with pytest.raises(UsageError, match="holds another run"):
        run(fake_taskset("a"), RunOptions("nop", out=tmp_path, resume=True), FakeRuntime())


def test_a_graded_rollout_whose_trajectory_is_gone_is_named(path):
    with pytest.raises(UsageError, match=r"t__0\.json"):
        list(RunFolder(path.parent).rollouts())


@pytest.mark.parametrize("name", ["../../etc/x", "a/b", "..", "a\0b", ""])
def test_a_record_leads_nowhere_outside_of_its_run(tmp_path, name):
    with pytest.raises(UsageError, match="is no task id"):
        RunFolder(tmp_path).trajectory((name, 0))
