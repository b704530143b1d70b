"""From a repository to rewards, on every backend: slow, and the heart of the matter."""

import json

import pytest

from codeenv.cli import main
from codeenv.tasks.taskset import Taskset

BACKENDS = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]
REAL = "pypi:cachetools==6.0.0"


def generate(spec, out, *options):
    return main(["generate", "--repo", spec, "--out", str(out), "--json", *options])


def files(folder):
    """Everything a taskset holds but the journal, which has its own order of events."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.json"))
    }


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.bubblewrap
@pytest.mark.docker
def test_the_same_command_gives_the_same_bytes_twice_and_on_either_backend(tmp_path):
    made = []
    for name, backend in (("a", "bubblewrap"), ("b", "bubblewrap"), ("c", "docker")):
        out = tmp_path / name
        assert generate(REAL, out, "--backend", backend, "--limit", "3", "--seed", "7") == 0
        made.append(files(out))
    assert len(Taskset.load(tmp_path / "a").recipes) == 3
    assert made[0] == made[1] == made[2]


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("backend", BACKENDS)
def test_generated_tasks_score_0_for_nothing_and_1_for_the_truth(tmp_path, backend, capsys):
    out = tmp_path / "tasks"
    assert generate("pypi:itsdangerous==2.2.0", out, "--backend", backend, "--limit", "3") == 0
    funnel = json.loads(capsys.readouterr().out)["funnel"]
    assert not {"internal", "infrastructure"} & funnel.keys()
    code = main(["verify", str(out), "--repeat", "2", "--backend", backend, "--json"])
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code == 0
    assert told


@pytest.mark.network
@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("pypi:sortedcontainers==2.4.0", "test"),
        ("pypi:python-slugify==8.0.4", "test"),
        ("pypi:rich==14.0.0", "test"),
        ("pypi:boltons==0.0.999", "0.0.999"),
        ("pypi:no-such-distribution-of-ours==1", "no-such-distribution-of-ours"),
    ],
)
def test_a_source_without_usable_tests_ends_with_one_line_and_exit_code_2(
    tmp_path, spec, told, capsys
):
    assert generate(spec, tmp_path / "out") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    errors = [line for line in captured.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert told in errors[0]
