import pytest

from codeenv.languages.base import Layout, TestResult, TestRun


def _run(errors=(), messages=()):
    results = {str(n): TestResult("error", message=m) for n, m in enumerate(messages)}
    return TestRun((), results, True, 1, errors={str(n): e for n, e in enumerate(errors)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", ("pyyaml",)),
        ("ModuleNotFoundError: No module named 'dateutil'", ("python-dateutil",)),
        ("ModuleNotFoundError: No module named 'pkg_resources'", ("setuptools<82",)),
        ("ModuleNotFoundError: No module named 'some_thing'", ("some-thing",)),
        ("ModuleNotFoundError: No module named 'google.protobuf'", ("protobuf",)),
        ("ModuleNotFoundError: No module named 'other.inner'", ()),
        ("ModuleNotFoundError: No module named 'distutils'", ()),
        ("ModuleNotFoundError: No module named '_speedups'", ()),
        ("ModuleNotFoundError: No module named 'pkg'", ()),
        ("ModuleNotFoundError: No module named 'tests'", ()),
        ("ImportError: cannot import name 'x' from 'yaml'", ()),
        ("fixture 'mocker' not found", ("pytest-mock",)),
        ("fixture 'own_thing' not found", ()),
        ("pytest: error: unrecognized arguments: --asyncio-mode=auto --own", ("pytest-asyncio",)),
        ("Failed: 'django_db' not found in `markers` configuration option", ("pytest-django",)),
        ("Missing required plugins: pytest-foo>=1, pytest-bar", ("pytest-bar", "pytest-foo>=1")),
        ("Failed: async def functions are not natively supported.", ("pytest-asyncio",)),
    ],
)
def test_what_is_missing_is_told_from_structured_errors(python, text, expected):
    layout = Layout((".",), ("pkg",), (), ())
    assert python.missing_requirement(_run(errors=[text]), layout) == expected
    assert python.missing_requirement(_run(messages=[text]), layout) == expected


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("Skipped: trio is not available", "trio"),
        ("Skipped: could not import 'yaml.cyaml': No module named 'yaml'", "pyyaml"),
        ("Skipped: needs google_auth>=2", "google-auth"),
    ],
)
def test_reasons_of_skipped_tests_name_distributions(python, reason, name):
    skipped = TestRun(("a",), {"a": TestResult("skipped", message=reason)}, True, 0)

    assert name in python.skipped_for(skipped)
    assert python.skipped_for(_run(messages=[reason])) == frozenset()


def test_a_clean_run_misses_nothing(python):
    assert python.missing_requirement(_run()) == ()


def test_a_test_collected_twice_has_not_passed():
    run = TestRun(("a", "b", "b"), {"a": TestResult("passed"), "b": TestResult("passed")}, True, 0)
    assert run.passed == {"a"}
