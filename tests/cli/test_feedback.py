import json
import sys

import pytest

from codeenv.cli import main
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.grading import to_outcome
from codeenv.trajectory import read_trajectory, write_trajectory
from codeenv_harness.corpus.script import OWN, SOURCE, Script
from codeenv_harness.records import RolloutRecord, RunFolder
from codeenv_harness.rollout import RunOptions, run
from tests.feedback.talks import event_at
from tests.feedback.templates import ALTERNATING, CHATML, tokenizer_with


@pytest.fixture
def folder(tmp_path):
    """A run in whose first turn a judge saw two mistakes; rules find another one at its end."""
    out = tmp_path / "run"
    run(fake_taskset("a"), RunOptions("oracle", rollouts=2, out=out), FakeRuntime())
    path = out / "trajectories" / "a__0.json"
    trajectory = read_trajectory(path)
    events = [
        event_at(trajectory, 1, "tool_name", id="1.0.style", kind="style", source="judge"),
        event_at(trajectory, 1, hint="Another hint."),
    ]
    written = {"feedback": [event.model_dump(mode="json") for event in events]}
    at = next(i for i, step in enumerate(trajectory.steps) if step.source == "agent")
    steps = [*trajectory.steps]
    steps[at] = steps[at].model_copy(update={"extra": {**(steps[at].extra or {}), **written}})
    write_trajectory(path, trajectory.model_copy(update={"steps": tuple(steps)}))
    return out


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_mistakes_of_a_run_become_pairs_of_messages(folder, tmp_path, capsys):
    out = tmp_path / "pairs.jsonl"

    assert main(["feedback", str(folder), "--out", str(out), "--json"]) == 0

    first, second, *found = lines(out)
    assert first["teacher"][:-1] == first["student"]
    assert first["teacher"][-1] == {"role": "user", "content": first["event"]["hint"]}
    assert first["target"]["role"] == "assistant"
    assert second["event"]["hint"] == "Another hint."
    assert (first["task_id"], first["rollout"], first["reward_valid"]) == ("a", 0, True)
    assert {row["event"]["source"] for row in found} == {"rule"}
    told = json.loads(capsys.readouterr().out)
    assert told["kinds"] == {"style": 1, "path_not_found": 1, "no_verify": 2}
    assert (told["pairs"], told["rollouts"]) == (4, 2)


@pytest.fixture
def shipped(tmp_path):
    """A run of a shipped task: its history was read, a test edited, and a judge told the answer."""
    script = Script("s").begin().run("git show HEAD~1:pocketbook/text.py", "fatal: bad revision")
    test = next(iter(script.task.layout.test_files))
    trajectory = script.write(test, "").write(SOURCE, OWN).end()
    gold = script.task.oracle.write[SOURCE].data.decode()
    events = [
        event_at(trajectory, 1, id="1.1.style", kind="style", source="judge", hint=hint)
        for hint in ("Look at the callers.", gold)
    ]
    told = {"feedback": [event.model_dump(mode="json") for event in events]}
    trajectory = trajectory.model_copy(update={"extra": {**trajectory.extra, **told}})
    outcome = to_outcome(script.task.id, None, reason="submitted", n_steps=8)
    record = RolloutRecord.of(outcome, rollout=0, seed=0, attempts=1)
    (tmp_path / "run").mkdir()
    RunFolder(tmp_path / "run").add(record, trajectory)
    return tmp_path / "run"


@pytest.mark.parametrize("named", [[], ["--tasks", "toy"]])
def test_with_their_tasks_rollouts_are_monitored_and_no_hint_tells_the_solution(
    shipped, tmp_path, capsys, named
):
    out = tmp_path / "pairs.jsonl"

    assert main(["feedback", str(shipped), "--out", str(out), "--json", *named]) == 0

    rows, (said, complaints) = lines(out), capsys.readouterr()
    assert [row["event"]["hint"] for row in rows if row["event"]["kind"] == "style"] == [
        "Look at the callers."
    ]
    (read,) = [row["event"] for row in rows if row["event"]["kind"] == "artefact_access"]
    assert (read["turn"], read["source"], read["hint"]) == (4, "monitor", "implement from the spec")
    assert "protected_path" in {row["event"]["kind"] for row in rows}
    assert len({row["event"]["id"] for row in rows}) == len(rows)
    assert (json.loads(said)["refused"], json.loads(said)["unchecked"]) == (1, 0)
    assert "1 hints were refused" in complaints
    assert "--tasks" not in complaints


def test_without_their_tasks_it_is_told_that_no_hint_was_checked(folder, tmp_path, capsys):
    assert main(["feedback", str(folder), "--out", str(tmp_path / "x.jsonl"), "--json"]) == 0

    said, complaints = capsys.readouterr()
    assert (json.loads(said)["refused"], json.loads(said)["unchecked"]) == (0, 2)
    assert "2 rollouts were read without their tasks" in complaints
    assert "--tasks" in complaints


def test_tasks_that_are_not_those_of_the_run_are_refused(shipped, tmp_path, capsys):
    manifest = {
        "codeenv": "1", "agent": "a", "backend": "local", "rollouts": 1, "seed": 0,
        "profile": "core4", "max_steps": 1, "wall_time": 0, "output_budget": 0,
        "recipes": {Script("x").task.id: "0" * 64},
    }  # fmt: skip
    (shipped / "manifest.json").write_text(json.dumps(manifest))
    asked = ["feedback", str(shipped), "--out", str(tmp_path / "x.jsonl")]

    assert main([*asked, "--tasks", "toy"]) == 2
    assert "another recipe" in capsys.readouterr().err
    assert main(asked) == 0
    assert "1 rollouts were read without" in capsys.readouterr().err


def test_the_hints_of_one_turn_are_merged_if_asked_and_go_where_asked(folder, tmp_path):
    out = tmp_path / "pairs.jsonl"
    asked = ["--merge", "--placement", "append_last"]

    assert main(["feedback", str(folder), "--out", str(out), *asked]) == 0

    row = lines(out)[0]
    assert len(lines(out)) == 3
    assert len(row["teacher"]) == len(row["student"])
    assert "Another hint." in row["teacher"][-1]["content"]
    assert "there is no such file" in row["teacher"][-1]["content"]
    assert row["event"]["target"]["part"] == "message"


def test_with_a_tokenizer_pairs_have_tokens(folder, tmp_path):
    tokenizer_with(CHATML).save_pretrained(tmp_path / "tokenizer")
    out = tmp_path / "pairs.jsonl"
    told = ["--tokenizer", str(tmp_path / "tokenizer")]

    assert main(["feedback", str(folder), "--out", str(out), *told]) == 0

    tokens = lines(out)[0]["tokens"]
    (s, e), (ts, te) = tokens["student_span"], tokens["teacher_span"]
    assert tokens["teacher_ids"][ts:te] == tokens["student_ids"][s:e]
    assert tokens["granularity"] == "span"


@pytest.mark.parametrize(
    ("template", "said"), [(ALTERNATING, "append_last"), (None, "chat_template"), ("", "")]
)
def test_a_tokenizer_that_gives_no_right_pair_writes_nothing(
    folder, tmp_path, capsys, template, said
):
    chosen = tmp_path / "tokenizer"
    chosen.mkdir()
    if template != "":
        tokenizer_with(template, "</s>").save_pretrained(chosen)
    out = tmp_path / "pairs.jsonl"

    assert main(["feedback", str(folder), "--out", str(out), "--tokenizer", str(chosen)]) == 2

    assert said in capsys.readouterr().err.split("hint:")[1]
    assert not out.exists()


def test_without_transformers_a_tokenizer_is_refused_with_a_hint(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "transformers", None)

    asked = ["--out", str(tmp_path / "x.jsonl"), "--tokenizer", str(tmp_path)]
    assert main(["feedback", str(folder), *asked]) == 2

    assert "pip install transformers" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["feedback"], ["export", "--format", "trl"]])
def test_what_is_no_run_is_refused_with_a_hint(command, tmp_path, capsys):
    asked = [*command, str(tmp_path / "none"), "--out", str(tmp_path / "x.jsonl")]

    assert main(asked) == 2

    assert "codeenv run --out" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["feedback"], ["export", "--format", "trl"]])
def test_a_folder_is_no_file_to_write_to(command, folder, tmp_path, capsys):
    before = sorted(tmp_path.rglob("*"))

    assert main([*command, str(folder), "--out", str(tmp_path)]) == 2

    assert f"{tmp_path} is a folder" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["outcomes.jsonl", "manifest.json", "new.jsonl", "new/rows.jsonl"])
@pytest.mark.parametrize("command", [["feedback"], ["export", "--format", "trl"]])
def test_nothing_is_written_into_a_run(command, name, folder, tmp_path, capsys):
    (tmp_path / "link").symlink_to(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    for place in (folder, tmp_path / "link", folder / "trajectories" / ".."):
        assert main([*command, str(folder), "--out", str(place / name)]) == 2

        assert f"the run {folder}" in capsys.readouterr().err.replace("\n", " ")
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("command", [["feedback"], ["export", "--format", "trl"]])
def test_a_file_elsewhere_is_replaced(command, folder, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("old\n" * 10_000)

    assert main([*command, str(folder), "--out", str(out)]) == 0

    assert lines(out)
    assert "old" not in out.read_text("utf-8").splitlines()


def test_damaged_feedback_is_refused_and_nothing_is_half_written(folder, tmp_path, capsys):
    path = folder / "trajectories" / "a__1.json"
    trajectory = read_trajectory(path)
    extra = {**trajectory.extra, "feedback": [{"id": "x"}]}
    write_trajectory(path, trajectory.model_copy(update={"extra": extra}))
    out = tmp_path / "pairs.jsonl"

    assert main(["feedback", str(folder), "--out", str(out)]) == 2

    assert "a__1" in capsys.readouterr().err
    assert not [path for path in tmp_path.iterdir() if "pairs" in path.name]


@pytest.mark.parametrize("format", ["messages", "trl", "verl", "prime-rl"])
def test_a_run_is_exported_for_a_trainer(folder, tmp_path, capsys, format):
    out = tmp_path / "rows.jsonl"

    assert main(["export", str(folder), "--format", format, "--out", str(out), "--json"]) == 0

    assert len(lines(out)) == 2
    assert json.loads(capsys.readouterr().out) == {"invalid": 0, "rollouts": 2, "rows": 2}
