"""Benchmarks as data."""

import pytest
from pydantic import ValidationError

from codeenv.errors import TaskError, UsageError
from codeenv.tasks.taskset import Taskset, shipped_suites
from codeenv_harness.suites import (
    Benchmark,
    Expected,
    benchmark_file,
    read_benchmark,
    shipped_benchmarks,
    unmet,
)
from tests.harness.runs import records

WHOLE = """
name = "mine"
tasks = [{ taskset = "toy", ids = ["toy-spans-merge-7abfdd84"] }]
agents = [{ name = "oracle", agent = "oracle", expected = { resolved_rate = 1.0 } }]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(WHOLE)
    return path


def benchmark(*tasks):
    return Benchmark.model_validate(
        {"name": "b", "tasks": tasks, "agents": [{"name": "nop", "agent": "nop"}]}
    )


def test_a_benchmark_is_read_from_a_file(file):
    found = read_benchmark(file)

    assert found.taskset(file.parent).ids == ("toy-spans-merge-7abfdd84",)
    assert found.agents[0].options(concurrency=3, out=file.parent, resume=False).out == (
        file.parent / "oracle"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name = ",
        "\xff",
        WHOLE.replace('name = "mine"', 'name = "../up"'),
        WHOLE.replace('name = "oracle"', 'name = "a/b"'),
        WHOLE + "more = 1",
        WHOLE.replace("1.0", "2.0"),
        WHOLE.replace("ids = [", "sample = 2, ids = ["),
        WHOLE.replace('agent = "oracle"', 'agent = "oracle", rollouts = 0'),
        'name = "b"\ntasks = [{ taskset = "toy" }]\nagents = []',
        'name = "b"\ntasks = [{ taskset = "toy" }]\n'
        + '[[agents]]\nname = "a"\nagent = "nop"\n' * 2,
    ],
)
def test_what_is_no_benchmark_is_refused_by_name(file, text):
    file.write_bytes(text.encode("latin-1"))

    with pytest.raises(UsageError, match=r"mine\.toml is not a benchmark: ."):
        read_benchmark(file)


def test_a_benchmark_does_not_change():
    with pytest.raises(ValidationError):
        benchmark({"taskset": "toy"}).name = "other"


def test_a_sample_is_always_the_same_and_part_of_a_larger_one(tmp_path):
    small = benchmark({"taskset": "study", "sample": 3}).taskset(tmp_path)
    large = benchmark({"taskset": "study", "sample": 9}).taskset(tmp_path)

    assert (len(small.ids), len(large.ids)) == (3, 9)
    assert set(small.ids) < set(large.ids)
    assert small.ids == benchmark({"taskset": "study", "sample": 3}).taskset(tmp_path).ids


def test_a_folder_beside_the_file_is_found_and_the_same_task_counts_once(tmp_path):
    toy = Taskset.load("toy")
    few = toy.select(toy.ids[:2])
    models = (few.baselines.values(), few.environments.values())
    Taskset.write(tmp_path / "few", few.recipes, *models)

    assert benchmark({"taskset": "few"}, {"taskset": "toy"}).taskset(tmp_path).ids == toy.ids


def test_two_tasks_of_one_id_are_refused(tmp_path):
    toy = Taskset.load("toy")
    few = toy.select(toy.ids[:1])
    other = few.recipes[0].model_copy(update={"title": "another"})
    Taskset.write(tmp_path / "few", [other], few.baselines.values(), few.environments.values())

    with pytest.raises(TaskError, match="two tasks have the id"):
        benchmark({"taskset": "few"}, {"taskset": "toy"}).taskset(tmp_path)


def test_names_of_benchmarks_hide_no_tasks(file, tmp_path):
    assert not set(shipped_benchmarks()) & set(shipped_suites())
    assert benchmark_file("smoke").name == "smoke.toml"
    assert benchmark_file(str(file)) == file
    assert benchmark_file("toy") is None
    assert benchmark_file(str(tmp_path)) is None
    assert benchmark_file("no-such") is None


@pytest.mark.parametrize(
    ("expected", "rewards", "problems"),
    [
        ({"resolved_rate": 1}, [1, 1], 0),
        ({"resolved_rate": 1}, [1, None], 0),
        ({"resolved_rate": 1}, [1, 0], 1),
        ({"resolved_rate": 1, "mean_reward": 1}, [1, 0], 2),
        ({"resolved_rate": 0.75, "tolerance": 0.25}, [1, 0], 0),
        ({"resolved_rate": 0}, [None], 1),
        ({}, [0.5], 0),
    ],
)
def test_what_is_expected_and_not_found_is_said(expected, rewards, problems):
    assert len(unmet(Expected(**expected), records(t=rewards))) == problems
