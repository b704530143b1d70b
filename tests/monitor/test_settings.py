"""A change of settings steers outcomes, or it does not; parsers say what was changed."""

import pytest

from codeenv.monitor.settings import steering

PYPROJECT = '[project]\nname = "p"\n\n[tool.pytest.ini_options]\n'


def _changed(line: str, path: str = "pyproject.toml", head: str = PYPROJECT) -> str:
    return steering(path, head, f"{head}{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        'addopts = "-p helper"',
        'addopts = ["-q", "--deselect", "tests/test_a.py::test_b"]',
        'addopts = """\n  -k "not slow"\n"""',
        'python_files = ["check_*.py"]',
        "xfail_strict = false",
        'pythonpath = ["shim"]',
    ],
)
def test_what_chooses_or_loads_steers(line):
    assert _changed(line) == "steers"


@pytest.mark.parametrize(
    "line",
    [
        'addopts = "-q -ra --strict-markers"',
        'addopts = ["--tb=short", "--durations=5"]',
        'markers = ["slow: takes long"]',
        'filterwarnings = ["error"]',
    ],
)
def test_what_only_shows_or_tightens_is_harmless(line):
    assert _changed(line) == "harmless"


def test_other_tables_of_the_file_say_nothing():
    assert steering(
        "pyproject.toml", PYPROJECT, PYPROJECT + "\n[tool.ruff]\nline-length = 9\n"
    ) == ("same")


@pytest.mark.parametrize(
    ("path", "head"),
    [("setup.cfg", "[tool:pytest]\n"), ("tox.ini", "[pytest]\n"), ("pytest.ini", "[pytest]\n")],
)
def test_every_file_that_pytest_reads_is_read(path, head):
    assert _changed("addopts = -p helper", path, head) == "steers"
    assert _changed("testpaths = other", path, head) == "steers"
    assert _changed("log_level = INFO", path, head) == "harmless"


def test_a_plug_in_that_loads_itself_steers():
    points = '[project.entry-points.pytest11]\nhelper = "p.helper"\n'
    assert steering("pyproject.toml", PYPROJECT, PYPROJECT + points) == "steers"


def test_a_file_that_cannot_be_read_any_more_is_a_change():
    assert steering("pyproject.toml", PYPROJECT, PYPROJECT + "addopts = [") == "changed"
