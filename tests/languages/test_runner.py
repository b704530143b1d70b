import pytest

TESTS = """\
import unittest

import pytest
from pkg.code import add, stub


def test_passes(two):
    assert add(1, 1) == two


def test_passes_too(two):
    assert two == 2


def test_fails():
    assert add(1, 1) == 3, "wrong"


def test_errs():
    stub()


@pytest.mark.skip(reason="never")
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected_failure():
    assert 0


@pytest.mark.xfail
def test_unexpected_pass():
    pass


@pytest.mark.parametrize("x", ["a b", "c::d/e[1]", "\\n", "é"])
def test_parameters(x):
    assert x


def test_missing_fixture(mocker):
    pass


@pytest.fixture
def bad_teardown():
    yield
    raise ValueError("late")


def test_teardown(bad_teardown):
    pass


class TestSub(unittest.TestCase):
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)
"""
PATH = "tests/test_it.py"


def test_every_kind_of_outcome_is_told_apart(run):
    result = run(TESTS)
    outcomes = {i.removeprefix(f"{PATH}::"): r.outcome for i, r in result.results.items()}
    assert outcomes == {
        "test_passes": "passed",
        "test_passes_too": "passed",
        "test_fails": "failed",
        "test_errs": "failed",
        "test_skipped": "skipped",
        "test_expected_failure": "xfailed",
        "test_unexpected_pass": "xpassed",
        "test_parameters[a b]": "passed",
        "test_parameters[c::d/e[1]]": "passed",
        "test_parameters[\\n]": "passed",
        "test_parameters[\\xe9]": "passed",
        "test_missing_fixture": "error",
        "test_teardown": "error",
        "TestSub::test_sub": "failed",
    }
    assert result.complete
    assert result.exit_code == 1
    assert result.collected == tuple(result.results)
    assert len(result.passed) == 6


def test_a_failure_is_attributed_to_names_and_frames(run):
    tests = (
        "from pkg.code import Box, stub\n\n\ndef test_a():\n"
        "    Box().open()\n\n\ndef test_b():\n    stub()\n"
    )
    results = run(tests).results
    first = results[f"{PATH}::test_a"]
    assert first.message == "NameError: name 'missing_name' is not defined"
    assert {"missing_name", "pkg/code.py::Box.open", f"{PATH}::test_a"} <= set(first.symbols)
    assert "pkg/code.py::stub" in results[f"{PATH}::test_b"].symbols


def test_only_the_wanted_ids_run_and_unknown_ones_are_missing(run):
    wanted = (f"{PATH}::test_parameters[c::d/e[1]]", f"{PATH}::test_nowhere", "gone.py::test_x")
    result = run(TESTS, ids=wanted)
    assert set(result.results) == {wanted[0]}
    assert result.complete


def test_no_wanted_file_runs_nothing(run):
    result = run(TESTS, ids=("gone.py::test_x",))
    assert (result.results, result.collected, result.complete) == ({}, (), True)


def test_a_seed_gives_one_order_and_another_seed_another(run):
    tests = "".join(f"def test_{n}():\n    pass\n\n\n" for n in range(12))
    orders = [tuple(run(tests, shuffle_seed=seed).results) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert len(set(orders[0])) == 12


def test_a_test_collected_twice_is_reported_twice(run):
    conftest = "def pytest_collection_modifyitems(items):\n    items += items[:1]\n"
    result = run("def test_a():\n    pass\n", {"conftest.py": conftest})
    assert result.collected == (f"{PATH}::test_a",) * 2
    assert result.passed == frozenset()


def test_what_cannot_be_collected_is_reported_by_path(run):
    result = run(
        TESTS, others={"tests/test_bad.py": "import nowhere\n", "tests/test_odd.py": "def (:\n"}
    )
    assert result.errors["tests/test_bad.py"] == "ModuleNotFoundError: No module named 'nowhere'"
    assert "SyntaxError" in result.errors["tests/test_odd.py"]
    assert len(result.passed) == 6


def test_a_broken_conftest_is_reported_by_path(run):
    result = run(TESTS, others={"conftest.py": "import nowhere\n"})
    assert result.errors == {"conftest.py": "ModuleNotFoundError: No module named 'nowhere'"}
    assert result.results == {}


def test_options_of_absent_plug_ins_do_not_stop_a_run(run):
    ini = (
        "[pytest]\n"
        "addopts = -n auto --cov=pkg --cov-fail-under=100 --randomly-seed=1 --strict-markers\n"
    )
    result = run("def test_a():\n    pass\n", {"pytest.ini": ini})
    assert result.passed == {f"{PATH}::test_a"}
    assert result.errors == {}


def test_unknown_options_of_the_repository_are_told_and_can_be_switched_off(run):
    tests, others = "def test_a():\n    pass\n", {"pytest.ini": "[pytest]\naddopts = --no-such\n"}
    refused = run(tests, others)
    assert (refused.exit_code, refused.results) == (4, {})
    assert "unrecognized arguments: --no-such" in refused.errors["<options>"]
    assert run(tests, others, options=("-o", "addopts=")).passed == {f"{PATH}::test_a"}


def test_warnings_are_errors_where_the_repository_says_so(run):
    tests = "import warnings\n\n\ndef test_a():\n    warnings.warn('old')\n"
    result = run(tests, {"pytest.ini": "[pytest]\nfilterwarnings = error\n"})
    assert result.results[f"{PATH}::test_a"].outcome == "failed"


def test_a_slow_test_ends_alone(run):
    tests = (
        "import time\n\n\ndef test_slow():\n    try:\n        time.sleep(30)\n"
        "    except Exception:\n        pass\n\n\ndef test_fast():\n    pass\n"
    )
    result = run(tests, test_timeout=0.2)
    assert result.results[f"{PATH}::test_slow"].outcome == "failed"
    assert "timed out" in result.results[f"{PATH}::test_slow"].message
    assert result.passed == {f"{PATH}::test_fast"}


def test_single_tests_may_have_limits_of_their_own(run):
    tests = "import time\n\n\n" + "\n\n".join(
        f"def test_{name}():\n    time.sleep(0.4)\n" for name in ("a", "b", "c")
    )
    longer = run(tests, test_timeout=0.1, test_timeouts={f"{PATH}::test_b": 60.0})
    assert longer.passed == {f"{PATH}::test_b"}
    shorter = run(tests, test_timeout=60, test_timeouts={f"{PATH}::test_b": 0.1})
    assert shorter.passed == {f"{PATH}::test_a", f"{PATH}::test_c"}


def test_a_test_that_hears_no_signal_ends_the_run(run):
    tests = "def test_deaf():\n    sum(range(10**13))\n\n\ndef test_b():\n    pass\n"
    result = run(tests, test_timeout=0.2)
    assert (result.complete, result.timed_out) == (False, False)
    assert result.passed == frozenset()


def test_a_time_limit_needs_no_thread_that_would_forbid_forking(run):
    tests = (
        "import os\n\n\ndef test_threads():\n    assert len(os.listdir('/proc/self/task')) == 1\n"
    )
    assert run(tests, test_timeout=60).passed == {f"{PATH}::test_threads"}


def test_a_deadline_keeps_what_came_before(run):
    tests = "import time\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    time.sleep(60)\n"
    result = run(tests, timeout=4.0)
    assert (result.timed_out, result.complete) == (True, False)
    assert result.passed == {f"{PATH}::test_a"}
    assert f"{PATH}::test_b" in result.errors


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.closerange(3, 999)"])
def test_a_crash_is_not_a_complete_run(run, end):
    tests = f"import os\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    {end}\n"
    result = run(tests)
    assert result.results[f"{PATH}::test_a"].outcome == "passed"
    assert not result.complete
    assert f"{PATH}::test_b" in result.errors


def test_records_of_any_shape_are_ignored(run):
    odd = (
        '{"id": 1}', '{"id": "x"}', '{"id": [], "outcome": {}}', '{"start": null}', '{"end": "0"}',
        '{"collected": 7}', '{"collected": [[]]}', '{"error": {}}', '{"coverage": 1}', "7", "null",
        '{"id": "x", "outcome": "won", "duration": 1, "message": "", "symbols": []}',
        '{"id": "x", "outcome": "passed", "duration": "1", "message": "", "symbols": [1]}',
        "[" * 100_000, "1" * 100_000,
    )  # fmt: skip
    tests = (
        "import os\n\n\ndef test_a():\n    for name in os.listdir('/proc/self/fd'):\n"
        f"        for line in {odd!r}:\n"
        "            try:\n"
        "                kind = os.readlink('/proc/self/fd/' + name)[:5]\n"
        "                assert int(name) > 2 and kind == 'pipe:'\n"
        "                os.write(int(name), line.encode() + b'\\n')\n"
        "            except (OSError, AssertionError): pass\n"
    )
    result = run(tests)
    assert result.complete
    assert result.passed == {f"{PATH}::test_a"}
    assert set(result.collected) == {f"{PATH}::test_a"}


def test_output_that_looks_like_a_report_is_only_output(run):
    tests = (
        "import os\n\n\ndef test_a():\n"
        '    line = \'{"id":"x","outcome":"passed","duration":0,"message":"","symbols":[]}\'\n'
        "    os.write(1, line.encode())\n    print(line)\n"
    )
    assert set(run(tests).results) == {f"{PATH}::test_a"}


def test_a_forked_child_does_not_report(run):
    tests = (
        "import os\n\n\ndef test_a():\n    child = os.fork()\n    if not child:\n"
        "        raise SystemExit(0)\n    os.waitpid(child, 0)\n"
    )
    result = run(tests)
    assert result.results[f"{PATH}::test_a"].outcome == "passed"
    assert result.collected == (f"{PATH}::test_a",)


def test_a_run_stops_after_so_many_failures(run):
    result = run(TESTS, stop_after=1)
    assert [r.outcome for r in result.results.values()].count("failed") == 1
    assert len(result.results) < len(result.collected)


def test_tests_see_no_input_and_a_fixed_zone_and_hash_seed(run):
    tests = (
        "import os, sys, time\n\n\ndef test_a():\n    assert os.read(0, 1) == b''\n"
        "    assert time.tzname[0] == 'UTC'\n    assert os.environ['PYTHONHASHSEED'] == '7'\n"
        "    assert sys.dont_write_bytecode\n"
    )
    assert run(tests, hash_seed=7).passed == {f"{PATH}::test_a"}


def test_a_failure_in_a_long_file_does_not_cost_a_parse_of_the_file(run):
    conftest = (
        "import ast\n\nparse, long = ast.parse, []\n\n\ndef noting(source, *rest, **more):\n"
        "    if len(source) > 5000:\n        long.append(source)\n"
        "    return parse(source, *rest, **more)\n\n\nast.parse = noting\n"
    )
    tests = (
        "from conftest import long\n\n\ndef test_a():\n    long.clear()\n\n\n"
        "def test_b():\n    assert 1 == 2\n\n\ndef test_c():\n    assert not long\n"
    ) + "# padding\n" * 1000
    result = run(tests, {"tests/conftest.py": conftest})
    assert [r.outcome for r in result.results.values()] == ["passed", "failed", "passed"]


@pytest.mark.parametrize("name", ["tests.py", "test.py"])
def test_a_file_that_is_called_tests_is_collected(run, name):
    extra = {name: "def test_here():\n    pass\n", "pkg/more.py": "def test_not():\n    pass\n"}
    assert run(TESTS, extra).results[f"{name}::test_here"].outcome == "passed"
    ini = {"pytest.ini": "[pytest]\npython_files = check_*.py\n", **extra}
    assert not run(TESTS, ini).results
