"""Suites that speak another language than plain pytest functions, or are rude to their machine."""

import datetime
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeenv.generate.dated import dated_ids
from codeenv.languages.base import TestRequest
from codeenv.materialise.operations import apply_operations
from tests.generate.pitfalls.journey import bench_of, tree_of

PATH = "tests/test_it.py"
NOVEMBER = datetime.date(2026, 11, 28)
UNITTEST = """\
import unittest
from pkg.code import gone, kept


def setUpModule():
    assert kept


class Base(unittest.TestCase):
    def setUp(self):
        self.value = 1


class TestGone(Base):
    def helper(self):
        return gone()

    def test_a(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertTrue(self.helper())


class TestKept(Base):
    def test_a(self):
        self.assertTrue(kept())


if __name__ == "__main__":
    unittest.main()
"""


def _hidden(python, tree, *ids, stable):
    return apply_operations(tree, python.hide(tree, ids, stable))


def test_a_unittest_class_is_hidden_and_its_set_up_stays(python, package):
    tree = package("gone = kept = print\n", {PATH: UNITTEST})
    ids = (f"{PATH}::TestGone::test_a", f"{PATH}::TestKept::test_a")
    left = _hidden(python, tree, ids[0], stable=ids)[PATH].data.decode()
    start, end = UNITTEST.index("class TestGone"), UNITTEST.index("class TestKept")
    assert left == (UNITTEST[:start] + UNITTEST[end:]).replace("gone, ", "")


@pytest.mark.parametrize(
    "table", ["x, y = 1, 2", "x = y = 1", "x: int = 1", "(x, y) = (\n    1,\n    2,\n)", "x = [1]"]
)
def test_expected_values_go_with_the_only_test_that_reads_them(python, package, table):
    kept = "def test_kept():\n    assert 1\n"
    text = f"{table}\n\n\ndef test_gone():\n    assert x\n\n\n{kept}"
    ids = (f"{PATH}::test_gone", f"{PATH}::test_kept")
    tree = package("", {PATH: text})
    assert _hidden(python, tree, ids[0], stable=ids)[PATH].data.decode() == kept


@pytest.mark.parametrize("table", ["x, y = 1, 2", "x = y = 1", "y = [1]\nx = [1]\ny[0] = x"])
def test_expected_values_that_another_test_reads_stay(python, package, table):
    text = f"{table}\n\n\ndef test_kept():\n    assert y\n"
    gone = "\n\ndef test_gone():\n    assert x\n"
    ids = (f"{PATH}::test_gone", f"{PATH}::test_kept")
    tree = package("", {PATH: text + gone})
    assert _hidden(python, tree, ids[0], stable=ids)[PATH].data.decode() == text


NODE_IDS = [
    *("a b", "a/b", "a::b", "[x]", "]", "[", "\\n", "\\xe9", "2001-02-03", "x" * 10_000, ""),
    *("test_b", "::", "a.py::test_b[1]", "-", " "),
]


@pytest.mark.parametrize("parameter", NODE_IDS, ids=range(len(NODE_IDS)))
def test_what_is_in_the_brackets_of_an_id_does_not_matter(python, package, parameter):
    text = "def test_a(x):\n    assert x\n\n\ndef test_b():\n    assert 1\n"
    ids = (f"{PATH}::test_a[{parameter}]", f"{PATH}::test_b")
    left = _hidden(python, package("", {PATH: text}), ids[0], stable=ids)[PATH].data
    assert left == b"def test_b():\n    assert 1\n"


def test_a_private_function_that_a_test_imports_is_told(python, package):
    text = "from pkg.code import _private\n\n\ndef test_a():\n    assert _private(1) == 2\n"
    tree = package("def _private(x):\n    y = x + 1\n    return y\n", {PATH: text})
    assert "_private" in python.test_facts(tree, [f"{PATH}::test_a"]).names


def test_a_doctest_file_is_hidden_as_a_whole_and_a_documented_source_is_not(python, package):
    code = 'def f():\n    """Say.\n\n    >>> f()\n    1\n    """\n    return 1\n'
    tree = package(code, {"docs/use.md": ">>> from pkg.code import f\n>>> f()\n1\n"})
    ids = ("docs/use.md::use.md", "pkg/code.py::pkg.code.f")
    left = _hidden(python, tree, *ids, stable=ids)
    assert "docs/use.md" not in left
    assert left["pkg/code.py"] == tree["pkg/code.py"]


@pytest.mark.parametrize(
    ("parameter", "text", "found"),
    [
        ("2026-x", "", True),
        ("a2025", "", True),
        ("x-2027-01-01", "", True),
        ("2026-x", "CASES = [2026]\n", False),
        ("1999-12-31", "", False),
        ("20260", "", False),
        ("log-20261128", "", True),
        ("20261128101500", "", True),
        ("20261328", "", False),
        ("20261128", "DAY = 20261128\n", False),
        (r"ab\u2026z", "", False),
        (r"\xe92026", "", True),
        ("2026-x", "# Copyright 2026\n", True),
        ("2026-x", '"""Written in 2026."""\nx = 1\n"""Of 2026."""\n', True),
        ("2026-x", "CASES = [f'{1}-2026']\n", False),
        ("2026-x", "CASES = [b'2026']\n", False),
        ("2026-x", "CASES = [-2026.5]\n", False),
        ("2026-x", "# 2026: cannot be parsed\nprint 1\n", False),
    ],
)
def test_the_year_in_an_id_is_of_the_clock_where_no_test_writes_it(
    python, package, parameter, text, found
):
    tree = package("", {PATH: f"{text}\n\ndef test_a(x):\n    assert x\n"})
    ids = [f"{PATH}::test_a[{parameter}]", f"{PATH}::test_2026"]
    told = list(dated_ids(ids, tree, python.layout(tree), python, NOVEMBER))
    assert told == (ids[:1] if found else [])


def test_the_year_in_the_data_of_tests_is_written(python, package):
    tree = package("", {"tests/data/days.csv": "2026-11-28\n"})
    found = dated_ids([f"{PATH}::a[2026]"], tree, python.layout(tree), python, NOVEMBER)
    assert list(found) == []


def test_a_suite_that_prints_without_end_keeps_its_results(run):
    tests = (
        "import os\nimport sys\n\n\ndef test_a():\n    for _ in range(30):\n"
        "        os.write(1, b'x' * 2**20)\n        sys.__stderr__.write('y' * 2**20)\n"
    )
    result = run(tests, options=("-s",))
    assert result.passed == {f"{PATH}::test_a"}
    assert len(result.log) <= 20_000


PORT = """\
import socket
import subprocess
import time


def test_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 8765))
        one.listen()
        time.sleep(0.5)


def test_child(tmp_path):
    subprocess.Popen(["sleep", "600"], start_new_session=True)
"""


@pytest.mark.bubblewrap
def test_runs_side_by_side_have_their_own_ports_and_children(bubblewrap_backend):
    tree = tree_of({"pkg.py": "x = 1\n", "tests/test_it.py": PORT})
    bench = bench_of(tree, bubblewrap_backend)
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: bench.run(TestRequest(timeout=60)), range(2)))
    assert [len(run.passed) for run in runs] == [2, 2]
    assert not any(run.timed_out for run in runs)


XDIST = {
    "xdist/__init__.py": "",
    "xdist/plugin.py": (
        "def pytest_addoption(parser):\n    group = parser.getgroup('xdist')\n"
        "    group._addoption('-n', '--numprocesses', dest='numprocesses')\n"
        "    group._addoption('--dist', dest='dist', choices=['no', 'loadfile'])\n"
    ),
    "pytest_xdist-3.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: pytest-xdist\nVersion: 3.0\n"
    ),
    "pytest_xdist-3.0.dist-info/entry_points.txt": "[pytest11]\nxdist = xdist.plugin\n",
    "pytest_xdist-3.0.dist-info/RECORD": "xdist/__init__.py,,\nxdist/plugin.py,,\n",
}


@pytest.mark.bubblewrap
def test_a_repository_that_spreads_its_tests_has_them_run_in_one_process(bubblewrap_backend):
    test = (
        "def test_it(pytestconfig):\n    options = pytestconfig.option\n"
        "    assert (options.numprocesses, options.dist) == ('0', 'loadfile')\n"
    )
    ini = "[pytest]\naddopts = -n auto --dist loadfile\n"
    tree = tree_of({"pkg.py": "x = 1\n", "tests/test_it.py": test, "pytest.ini": ini})
    run = bench_of(tree, bubblewrap_backend, XDIST).run(TestRequest(timeout=60))
    assert run.passed == {f"{PATH}::test_it"}, run.results or run.errors
