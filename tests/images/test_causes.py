"""Why tests do not pass, told by kinds."""

import pytest

from codeenv.images.causes import causes_of
from codeenv.languages.base import TestResult, TestRun


def run(results, errors=(), collected=()):
    return TestRun((*results, *collected), results, True, 1, errors=dict(errors))


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("socket.gaierror: [Errno -2] Name or service not known", "network"),
        ("requests.exceptions.ConnectionError: Max retries exceeded with url: /", "network"),
        ('psycopg.OperationalError: connection to "127.0.0.1", port 5432 failed', "service"),
        ("redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379.", "service"),
        ("ModuleNotFoundError: No module named 'nonsuch'", "module"),
        ("ModuleNotFoundError: No module named 'tests.helpers'", "source"),
        ("ImportError: cannot import name 'X' from 'tests' (unknown location)", "source"),
        ("ImportError: libGL.so.1: cannot open shared object file: No such file", "system"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'dot'", "system"),
        ("fixture 'snapshot' not found", "plugin"),
        ("PermissionError: [Errno 13] Permission denied: '/etc/x'", "rights"),
        ("MemoryError", "memory"),
        ("Failed: it took longer than 120 s", "time"),
        ("AssertionError: assert 1 == 2", "other"),
    ],
)
def test_a_message_has_its_cause(message, cause):
    (found,) = causes_of(run({"a": TestResult("failed", message=message)}))
    assert (found.name, found.tests, found.example) == (cause, 1, f"a: {message}")
    assert found.told


def test_the_most_common_cause_comes_first_and_nothing_that_passes_is_counted():
    skipped = TestResult("skipped", message="needs a display")
    failed = TestResult("failed", message="AssertionError")
    results = {"a": TestResult("passed"), "b": skipped, "c": skipped, "d": failed}
    causes = causes_of(
        run(results, {"x.py": "ModuleNotFoundError: y"}, ["e", "f", "g"]), unsteady=5
    )
    assert [(cause.name, cause.tests) for cause in causes] == [
        ("unsteady", 5),
        ("not_run", 3),
        ("skipped", 2),
        ("module", 1),
        ("other", 1),
    ]


def test_tests_that_a_run_did_not_reach_do_not_count_as_failures():
    found = causes_of(TestRun(("a", "b"), {"a": TestResult("passed")}, False, 1))
    assert [(cause.name, cause.told) for cause in found] == [
        ("not_run", "the run ended before them")
    ]
