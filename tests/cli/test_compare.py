"""``codeenv compare``, and ``codeenv run`` of a benchmark."""

import json

import pytest

from codeenv.cli import main
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.tasks.taskset import Taskset
from codeenv_harness.rollout import RunOptions
from codeenv_harness.rollout import run as play
from tests.harness.runs import write_run


@pytest.fixture
def played(tmp_path):
    """A run of two tasks in memory, by an agent."""

    def write(agent, *ids, **options):
        out = tmp_path / f"{agent}-{len([*tmp_path.iterdir()])}"
        runtime = FakeRuntime(**options)
        play(fake_taskset(*(ids or ("a", "b"))), RunOptions(agent, out=out), runtime)
        return str(out)

    return write


def plant(folder, task, **fields):
    """Change one task's outcome in a run's folder."""
    path = folder / "outcomes.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["task_id"] == task:
            line |= fields
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_same_again_is_no_regression(played, capsys):
    words = [played("oracle"), played("oracle"), "--fail-on-regression"]

    assert main(["compare", *words]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "no regression, 2 tasks compared" in err


def test_a_planted_regression_ends_with_1_and_is_named(played, tmp_path, capsys):
    base, run = played("oracle"), played("oracle")
    plant(tmp_path / run, "b", reward=0.0, resolved=False)

    assert main(["compare", base, run]) == 0
    assert main(["compare", base, run, "--fail-on-regression", "--json"]) == 1

    out, err = capsys.readouterr()
    assert "regression: 1 always passed before and fail now: b\n" in err
    (document,) = [json.loads(line) for line in out.splitlines()]
    (found,) = document["runs"]
    assert (document["regression"], found["regression"]) == (True, True)
    assert [(t["task_id"], t["status"]) for t in found["tasks"]] == [
        ("a", "same"),
        ("b", "regressed"),
    ]


def test_regressions_are_the_first_rows(tmp_path, capsys):
    base = write_run(tmp_path / "base", a=[0], b=[1, 0], c=[1], z=[1])
    run = write_run(tmp_path / "run", a=[1], b=[0, 0], c=[1], z=[0])

    assert main(["compare", str(base), str(run), "--fail-on-regression"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["z", "regressed"],
        ["b", "worse"],
        ["a", "better"],
    ]


def test_a_broken_run_does_not_pass(played, capsys):
    base = played("oracle")
    run = played("oracle", "a", failures=9)

    assert main(["compare", base, run, "--fail-on-regression"]) == 1
    err = capsys.readouterr().err
    assert "regression: 1 are not in the new run: b" in err
    assert "regression: 1 have fewer valid rewards than before: a" in err


def test_two_agents_are_compared_if_they_are_asked_for(played):
    assert main(["compare", played("oracle"), played("nop"), "--fail-on-regression"]) == 1
    assert main(["compare", played("nop"), played("oracle"), "--fail-on-regression"]) == 0


def test_a_baseline_stands_for_its_run(played, tmp_path, capsys):
    file, run = str(tmp_path / "new" / "baseline.json"), played("oracle")

    assert main(["compare", run, "--write-baseline", file]) == 0
    assert main(["compare", file, run, "--fail-on-regression"]) == 0
    assert main(["compare", run, file, "--fail-on-regression"]) == 0
    assert main(["compare", file, played("nop"), "--fail-on-regression"]) == 1
    assert capsys.readouterr().out == ""


def test_a_run_that_failed_the_gate_is_no_new_baseline(played, tmp_path):
    file, base, run = tmp_path / "b.json", played("oracle"), played("nop")
    words = ["compare", base, run, "--write-baseline", str(file)]

    assert main([*words, "--fail-on-regression"]) == 1
    assert not file.exists()
    assert main(words) == 0
    assert json.loads(file.read_bytes())["runs"]["nop"]["tasks"]["a"]["resolved"] == 0


def test_a_run_of_a_benchmark_that_is_missing_is_a_regression(tmp_path, capsys):
    for name, agent in (("one", "oracle"), ("two", "nop")):
        write_run(tmp_path / "base" / name, agent=agent, a=[1])
    write_run(tmp_path / "run" / "one", a=[1])
    write_run(tmp_path / "run" / "three", a=[1])
    words = ["compare", str(tmp_path / "base"), str(tmp_path / "run"), "--fail-on-regression"]

    assert main(words) == 1
    err = capsys.readouterr().err
    assert "two: not in the new run" in err
    assert "three: not in the base" in err
    assert main([*words, "--agent", "one"]) == 0


@pytest.fixture
def odd(tmp_path, played):
    """Things that are no run to compare with."""
    (tmp_path / "empty").mkdir()
    never = write_run(tmp_path / "never", a=[1])
    (never / "outcomes.jsonl").unlink()
    (tmp_path / "torn.json").write_text('{"schema_version": 1, "runs"')
    (tmp_path / "later.json").write_text('{"schema_version": 2, "runs": {}}')
    other = write_run(tmp_path / "other", recipes={"a": "x", "b": "x"}, a=[1], b=[1])
    write_run(tmp_path / "nothing", recipes={"a": "x"}, a=[None])
    manifest = write_run(tmp_path / "manifest", a=[1])
    (manifest / "manifest.json").write_text("{")
    return {"suite": played("oracle", "c"), "recipes": str(other)}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no-such", "neither a folder, a file nor a shipped baseline"),
        ("empty", "there is no run in"),
        ("never", "there are no finished rollouts"),
        ("torn.json", "is not a baseline"),
        ("later.json", "schema_version"),
        ("manifest", "is not the manifest of a run"),
        ("suite", "no task in common"),
        ("recipes", "2 of 2 tasks cannot be compared"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_hint(odd, played, tmp_path, capsys, name, said):
    base = odd.get(name, str(tmp_path / name))

    assert main(["compare", base, played("oracle"), "--fail-on-regression", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "hint: " in err or name == "manifest"


@pytest.mark.parametrize(
    "words",
    [
        ["BASE"],
        ["BASE", "BASE", "--tolerance", "2"],
        ["BASE", "BASE", "--agent", "nobody"],
        ["BASE", "--write-baseline", "BASE"],
        ["BASE", "--write-baseline", "BASE/b.json"],
    ],
)
def test_options_that_make_no_sense_are_refused(played, words, capsys):
    run = played("oracle")

    assert main(["compare", *(word.replace("BASE", run) for word in words)]) == 2
    assert "hint: " in capsys.readouterr().err


SMALL = """
name = "small"
tasks = [{ taskset = "toy", ids = ["IDS"] }]
[[agents]]
name = "solver"
agent = "oracle"
expected = { resolved_rate = 1.0 }
[[agents]]
name = "idle"
agent = "nop"
rollouts = 2
expected = { resolved_rate = 0.0 }
"""


@pytest.fixture
def small(tmp_path):
    """A benchmark of one shipped task."""
    easiest = min(Taskset.load("toy").recipes, key=lambda r: (r.difficulty.lines, r.id)).id
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace("IDS", easiest))
    return path, easiest


@pytest.mark.bubblewrap
def test_a_benchmark_is_played_and_guarded_end_to_end(small, tmp_path, capsys):
    file, task = small
    out, baseline = tmp_path / "runs", tmp_path / "baseline.json"

    assert main(["run", str(file), "--backend", "bubblewrap", "--out", str(out), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["run"], line["reward"]) for line in lines] == [
        ("solver", 1.0),
        ("idle", 0.0),
        ("idle", 0.0),
    ]
    assert main(["compare", str(out), "--write-baseline", str(baseline)]) == 0
    guard = ["compare", str(baseline), str(out), "--fail-on-regression"]
    assert main(guard) == 0

    plant(out / "solver", task, reward=0.0, resolved=False)

    assert main(guard) == 1
    assert task in capsys.readouterr().err


def test_a_benchmark_that_is_not_as_expected_fails(small, capsys):
    file, _ = small
    file.write_text(file.read_text().replace("0.0", "1.0"))

    assert main(["run", str(file), "--backend", "local"]) == 1
    assert "FAILED  idle: resolved_rate is 0.000, expected 1 ± 0" in capsys.readouterr().err


def test_an_agent_of_ones_own_plays_a_benchmarks_tasks(small, capsys):
    file, task = small
    words = ["run", str(file), "--agent", "nop", "--backend", "local", "--json"]

    assert main([*words, "--max-steps", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["task_id"] == task


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["toy"], "--agent is needed"),
        (["FILE", "--rollouts", "2"], "--rollouts is what a benchmark says"),
        (["FILE", "--max-steps", "2"], "--max-steps is what a benchmark says"),
        (["FILE", "--seed", "0"], "--seed is what a benchmark says"),
    ],
)
def test_what_a_benchmark_decides_is_not_asked_for_beside_it(small, words, said, capsys):
    told = [word.replace("FILE", str(small[0])) for word in words]

    assert main(["run", *told, "--backend", "local"]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "hint: " in err


def test_an_unknown_agent_of_a_benchmark_is_named_before_anybody_plays(small, capsys):
    file, _ = small
    file.write_text(file.read_text().replace('agent = "nop"', 'agent = "nobody"'))

    assert main(["run", str(file), "--backend", "local", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "idle: invalid choice: 'nobody'" in err


def test_what_was_played_differently_is_told(tmp_path, capsys):
    first = write_run(tmp_path / "a", t=[1])
    second = write_run(tmp_path / "b", t=[1, 1])

    assert main(["compare", str(first), str(second), "--fail-on-regression"]) == 0
    assert "played differently: rollouts 1 before, 2 now" in capsys.readouterr().err


def test_a_run_of_which_nothing_can_be_compared_is_refused_beside_others(tmp_path, capsys):
    for name, recipe in (("base", "d"), ("new", "other")):
        write_run(tmp_path / name / "nop", agent="nop", t=[0])
        write_run(tmp_path / name / "oracle", recipes={"t": recipe}, t=[1])

    assert main(["compare", str(tmp_path / "base"), str(tmp_path / "new")]) == 2
    assert "oracle: 1 of 1 tasks cannot be compared" in capsys.readouterr().err
