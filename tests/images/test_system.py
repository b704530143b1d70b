"""What a run of tests lacked in the system, as Debian packages."""

import pytest

from codeenv.images.system import library_packages, system_packages
from codeenv.languages.base import TestResult, TestRun


def run(message="", error=""):
    results = {"t.py::test": TestResult("failed", message=message)} if message else {}
    return TestRun(tuple(results), results, True, 1, errors={"t.py": error} if error else {})


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("libmagic.so.1", "libmagic1"),
        ("libGL.so.1", "libgl1"),
        ("libglib-2.0.so.0", "libglib2.0-0"),
        ("libxml2.so.2", "libxml2-2"),
        ("libpq.so.5", "libpq5"),
        ("libX11-xcb.so.1", "libx11-xcb1"),
        ("libfuse3.so.3", "libfuse3-3"),
    ],
)
def test_packages_of_libraries_are_named_by_the_rule_of_debian(file, package):
    assert library_packages(file)[0] == package


def test_a_library_that_cannot_be_opened_is_missing():
    message = "ImportError: libGL.so.1: cannot open shared object file: No such file or directory"
    assert set(system_packages(run(error=message))) == {"libgl", "libgl1", "libgl1t64"}
    assert system_packages(run(error=message))["libgl1"] == message


def test_a_test_that_compiles_something_gets_compilers_and_headers():
    message = "fatal error: ffi.h: No such file or directory\nerror: command 'gcc' failed"
    assert set(system_packages(run(message))) == {
        "build-essential", "libffi-dev", "pkg-config", "python3-dev",
    }  # fmt: skip
    assert not system_packages(run("AssertionError: no 'Package thing not found' in the output"))


@pytest.mark.parametrize(
    ("message", "package"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'dot'", "graphviz"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'zsh'", "zsh"),
        ("subprocess failed: /bin/sh: 1: hg: not found", "mercurial"),
        ("bash: line 1: tmux: command not found", "tmux"),
        ("RuntimeError: ffmpeg not found in PATH", "ffmpeg"),
        ("locale.Error: unsupported locale setting", "locales-all"),
        ("ImportError: failed to find libmagic.  Check your installation", "libmagic-dev"),
    ],
)
def test_programs_locales_and_loaded_libraries_have_their_package(message, package):
    assert list(system_packages(run(message))) == [package]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "AssertionError: assert 1 == 2",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/input.txt'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'settings.toml'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'python'",
        "ModuleNotFoundError: No module named 'yaml'",
        "KeyError: 'page not found'",
    ],
)
def test_other_failures_ask_for_nothing(message):
    assert system_packages(run(message)) == {}
