"""What a repository's own settings, and old hooks, do to a run."""

import pytest

PATH = "tests/test_it.py"


def test_a_hook_with_arguments_of_an_old_pytest_is_told_and_the_run_is_not_whole(run):
    hook = "def pytest_ignore_collect(path, config):\n    return None\n"
    result = run("def test_a():\n    pass\n", {"conftest.py": hook})
    assert "'pytest_ignore_collect'" in result.errors["<options>"]
    assert "{'path'}" in result.errors["<options>"]
    assert (result.complete, result.results) == (False, {})


def test_why_a_plug_in_cannot_be_loaded_is_told_to_the_bottom(run):
    broken = (
        "try:\n    raise ImportError('libx.so.1: cannot open shared object file')\n"
        "except ImportError as error:\n    raise RuntimeError('pytest11') from error\n"
    )
    ini = {"pytest.ini": "[pytest]\naddopts = -p broken\npythonpath = .\n", "broken.py": broken}
    result = run("def test_a():\n    pass\n", ini)
    assert "ImportError: libx.so.1: cannot open shared object" in result.errors["<options>"]
    assert result.results == {}


def test_what_the_newest_pytest_warns_of_while_collecting_is_told_by_path(run):
    tests = "@pytest.mark.parametrize('x', (x for x in [1]))\ndef test_a(x):\n    assert x\n"
    ini = {"pytest.ini": "[pytest]\nfilterwarnings = error\n"}
    result = run(f"import pytest\n\n\n{tests}", ini)
    assert "PytestRemovedIn10Warning" in result.errors[PATH]
    assert result.results == {}


@pytest.mark.parametrize(
    "options",
    ["-x", "--maxfail=1", "--sw", "--stepwise-skip", "--lf --lfnf=none", "--ff"],
)
def test_a_repository_cannot_end_or_change_a_run_after_a_failure(run, options):
    tests = "def test_a():\n    assert 0\n\n\ndef test_b():\n    pass\n"
    result = run(tests, {"pytest.ini": f"[pytest]\naddopts = {options}\n"})
    outcomes = [(test, r.outcome) for test, r in result.results.items()]
    assert outcomes == [(f"{PATH}::test_a", "failed"), (f"{PATH}::test_b", "passed")]


def test_newer_files_do_not_come_first(run):
    old = "import os\n\nos.utime(__file__, (0, 0))\n\n\ndef test_a():\n    pass\n"
    others = {"pytest.ini": "[pytest]\naddopts = --nf\n", "tests/test_z.py": "def test_z(): 0\n"}
    result = run(old, others)
    assert list(result.results) == [f"{PATH}::test_a", "tests/test_z.py::test_z"]
