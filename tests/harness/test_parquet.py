"""Outcomes as a table that other programs read."""

import json
import sys

import pytest

from codeenv.cli import main
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.errors import UsageError
from codeenv_harness.monitoring import Watching
from codeenv_harness.parquet import write_parquet
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run

parquet = pytest.importorskip("pyarrow.parquet")
TASKS = fake_taskset("a", "b")


def table(folder, **more):
    path = folder.folder.parent / "table.parquet"
    assert write_parquet(folder, path, **more) == len(folder.records())
    return parquet.read_table(path)


def test_the_table_says_what_the_records_say(tmp_path):
    out = tmp_path / "run"
    result = run(TASKS, RunOptions("oracle", rollouts=2, out=out), FakeRuntime())
    rows = table(RunFolder(out)).to_pylist()

    assert [(row["task_id"], row["rollout"]) for row in rows] == [r.key for r in result.records]
    for row, record in zip(rows, result.records, strict=True):
        told = record.model_dump(exclude={"monitor"})
        maps = {name: dict(row[name]) for name in ("components", "not_passed")}
        assert {name: {**row, **maps}[name] for name in told} == told
        assert (row["agent"], row["tool_calls"]) == ("oracle", 3)
        assert (row["cost_usd"], row["monitor"]) == (None, None)


def test_what_never_began_and_what_a_monitor_said_are_in_it(tmp_path):
    options = RunOptions("nop", retries=0, out=tmp_path / "run")
    run(TASKS, options, FakeRuntime(failures=1), monitor=Watching())
    first, second = table(RunFolder(options.out)).to_pylist()

    assert (first["reward_valid"], first["tool_calls"], first["monitor"]) == (False, None, None)
    assert (second["reward_valid"], second["monitor"]) == (True, "pass")


def test_an_empty_run_has_the_same_columns(tmp_path):
    run(TASKS, RunOptions("nop", out=tmp_path / "run"), FakeRuntime())
    full = table(RunFolder(tmp_path / "run")).schema
    (tmp_path / "run" / "outcomes.jsonl").unlink()

    assert table(RunFolder(tmp_path / "run")).schema == full


def test_the_command_writes_it_and_says_how_many_rows(tmp_path, capsys):
    run(TASKS, RunOptions("nop", out=tmp_path / "run"), FakeRuntime())
    path = tmp_path / "outcomes.parquet"

    words = ["export", str(tmp_path / "run"), "--format", "parquet", "--out", str(path), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == {"rows": 2}
    assert parquet.read_table(path).num_rows == 2
    assert main(["export", str(tmp_path), *words[2:]]) == 2
    assert main([*words, "--prices", str(tmp_path / "none.json")]) == 2


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    run(TASKS, RunOptions("nop", out=tmp_path / "run"), FakeRuntime())
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(UsageError, match="Parquet needs pyarrow") as raised:
        write_parquet(RunFolder(tmp_path / "run"), tmp_path / "t.parquet")
    assert "codeenv-gym[parquet]" in raised.value.hint
