import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("matplotlib")

from training import report, study, train
from training.base import main as make_base
from training.record import main as record

pytestmark = pytest.mark.bubblewrap


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("study")
    record([f"--out={made / 'demos.json'}", "--preset=smoke", "--threads=2"])
    return made


@pytest.fixture(scope="module")
def base(folder):
    out = folder / "base-standard"
    make_base([f"--demos={folder / 'demos.json'}", f"--out={out}", "--preset=smoke", "--threads=2"])
    return out


def lines(base, out, *options):
    train.main([f"--base={base}", f"--out={out}", "--preset=smoke", "--threads=2", *options])
    return [json.loads(line) for line in out.read_text().splitlines()]


def without_times(facts):
    return [{k: v for k, v in line.items() if k not in ("seconds", "learning")} for line in facts]


@pytest.mark.slow
def test_the_expert_brings_deleted_code_back_in_real_episodes(folder):
    demos = json.loads((folder / "demos.json").read_text())

    assert len(demos) == 4
    assert sum(demo["reward"] for demo in demos) > 0
    for demo in demos:
        assert [turn["tool"] for turn in demo["turns"]][-1] == "submit"
        assert {turn["answer"][:6] for turn in demo["turns"] if turn["tool"] == "submit"} == {
            "Submit"
        }


@pytest.mark.slow
def test_a_run_learns_from_hints_in_real_episodes_and_repeats_under_its_seed(base, tmp_path):
    first = lines(base, tmp_path / "a.jsonl", "--arm=hint", "--seed=3")
    again = lines(base, tmp_path / "b.jsonl", "--arm=hint", "--seed=3")

    assert without_times(first) == without_times(again)
    assert [line["kind"] for line in first] == ["held-out", "training", "training", "held-out"]
    trained = [line for line in first if line["kind"] == "training"]
    assert all(line["valid"] == 1 and line["events"] > 0 for line in trained)
    assert all(line["gradient"] > 0 for line in trained)


@pytest.mark.slow
def test_muon_and_the_curriculum_train_as_well(base, tmp_path):
    chosen = "--optimizer=muon", "--draw=curriculum"
    told = lines(base, tmp_path / "m.jsonl", "--arm=turn-penalty", *chosen)

    assert {(line["optimizer"], line["draw"]) for line in told} == {("muon", "curriculum")}
    assert all(line["gradient"] > 0 for line in told if line["kind"] == "training")


def run_lines(regime, arm, seed, invalid, reward, held):
    about = {"regime": regime, "arm": arm, "seed": seed}
    names = {"turns": 4.0, "zero": 0.5 if reward else 1.0, "gradient": 0.1}
    told = [
        {**about, "kind": "held-out", "update": 0, "reward": held[0], "invalid": invalid, **names}
    ]
    told += [
        {**about, "kind": "training", "update": n, "reward": reward, "invalid": invalid, **names}
        for n in range(12)
    ]
    last = {"kind": "held-out", "update": 12, "reward": held[1], "invalid": invalid}
    return [*told, {**about, **last, **names}]


def written(folder, hint_invalid):
    measured = {
        "reward": 0.4,
        "invalid": 0.4,
        "p_valid": 0.4,
        "p_valid_hint": 0.9,
        "p_valid_placebo": 0.42,
    }
    for regime in ("standard", "never"):
        place = folder / f"base-{regime}"
        place.mkdir(parents=True)
        (place / "gates.json").write_text(json.dumps({"training": measured, "held-out": measured}))
    runs = [
        ("standard", "scalar", 0, 0.4, 0.7, (0.4, 0.7)),
        ("standard", "hint", 0, hint_invalid, 0.7, (0.4, 0.7)),
        ("standard", "placebo", 0, 0.5, 0.6, (0.4, 0.6)),
        ("never", "scalar", 0, 0.99, 0.0, (0.0, 0.0)),
        ("never", "turn-penalty", 0, 0.95, 0.0, (0.0, 0.0)),
        ("never", "hint-forward", 0, 0.2, 0.3, (0.0, 0.4)),
    ]
    for run in runs:
        text = "".join(json.dumps(line) + "\n" for line in run_lines(*run))
        (folder / f"{run[0]}.{run[1]}.{run[2]}.jsonl").write_text(text)
    page = folder / "page.md"
    page.write_text(f"before\n\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.main([f"--study={folder}", f"--doc={page}"])
    return page.read_text()


def test_the_report_judges_every_rule_by_the_figures(tmp_path):
    good, bad = written(tmp_path / "a", 0.2), written(tmp_path / "b", 0.35)

    assert "**no**" not in good
    assert bad.count("**no**") == 1
    assert "| hint: invalid/call <= 0.75 of scalar, every seed | **no** | 0.875 |" in bad


def test_the_report_replaces_the_results_and_nothing_else(tmp_path):
    page = written(tmp_path / "a", 0.2)

    assert page.startswith("before\n\n")
    assert page.endswith("\nafter\n")
    assert "\nold\n" not in page
    for name in ("standard-training-invalid", "never-held-out-reward"):
        assert f"(page/{name}.svg)" in page
        assert (tmp_path / "a" / "page" / f"{name}.svg").stat().st_size > 1000


def test_a_study_goes_through_its_seeds_one_after_the_other():
    jobs = study.jobs_of(["standard", "never"], None)

    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)
    assert len(set(jobs)) == len(jobs) == sum(sum(arms.values()) for arms in study.RUNS.values())
    assert {job.arm for job in jobs} <= set(train.ARMS)


def test_a_study_begins_nothing_once_its_time_is_over(tmp_path):
    jobs = study.jobs_of(["standard"], 1)

    assert study.run_jobs(tmp_path, jobs, "smoke", 2, until=0) == 0
    assert list(tmp_path.iterdir()) == []
