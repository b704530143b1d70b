import pytest

from codeenv.languages.base import CoverageMap

PATH = "tests/test_it.py"


def test_coverage_tells_which_test_runs_which_line(run):
    tests = (
        "from pkg.code import Box, add\n\n\ndef test_a(two):\n    add(1, 2)\n\n\n"
        "def test_b(two):\n    pass\n\n\ndef test_c():\n"
        "    add(1, 2)\n\n\ndef test_d():\n    pass\n"
    )
    others = {"pkg/extra.py": "x = 1\n", "pkg/tests/test_more.py": "import pkg.extra\n"}
    result = run(tests, others, coverage=True)
    cover = result.coverage
    assert cover is not None
    names = {
        line: {cover.tests[i].rpartition("_")[2] for i in tests}
        for line, tests in cover.lines["pkg/code.py"].items()
    }
    assert names == {2: {"a", "b", "c"}}
    assert {1, 5, 9, 10} <= cover.imported["pkg/code.py"]
    assert 2 not in cover.imported["pkg/code.py"]
    assert set(cover.lines) == {"pkg/__init__.py", "pkg/code.py", "pkg/extra.py"}


def test_packages_are_probed_for_where_they_come_from(python, package, local_backend, host_python):
    tree = package(
        "",
        {
            "bad/__init__.py": "raise ValueError('no')\n",
            "worse/__init__.py": "import os\nos._exit(1)\n",
        },
    )
    layout = python.layout(tree)
    with local_backend.open(host_python, tree) as box:
        problems = python.probe_imports(box, host_python, layout)
    assert problems == {
        "bad": "ValueError: no",
        "worse": "the interpreter ended while importing it",
    }
    tree = package("", {"pytest/__init__.py": ""})
    layout = type(layout)((".",), ("json",), (), ())
    with local_backend.open(host_python, tree) as box:
        assert "outside the workspace" in python.probe_imports(box, host_python, layout)["json"]


def test_a_file_with_doctests_is_still_code(run):
    doctested = (
        'def add(a, b):\n    """Add.\n\n    >>> add(1, 1)\n    2\n    """\n    return a + b\n'
    )
    tests = "from pkg.code import add\n\n\ndef test_a():\n    add(1, 2)\n"

    result = run(tests, code=doctested, coverage=True, options=("--doctest-modules",))

    cover = result.coverage
    assert "pkg/code.py::pkg.code.add" in cover.tests
    assert {cover.tests[i] for i in cover.lines["pkg/code.py"][7]} == set(cover.tests)


def test_what_only_one_of_two_runs_saw_is_nobodys():
    one = CoverageMap(
        ("a", "b"), {"m.py": {1: frozenset({0, 1}), 2: frozenset({0})}}, {"m.py": frozenset({9})}
    )
    other = CoverageMap(
        ("b", "a"),
        {"m.py": {1: frozenset({0, 1}), 2: frozenset({0})}, "n.py": {1: frozenset({0})}},
        {"m.py": frozenset({8})},
    )
    common = one.common(other)
    assert common.tests == ("a", "b")
    assert common.lines == {"m.py": {1: frozenset({0, 1}), 2: frozenset()}}
    assert common.imported == {"m.py": frozenset({8, 9})}


def test_a_thread_that_outlives_its_test_is_charged_to_no_other_test_for_good(run):
    tests = (
        "import threading\n\nfrom pkg.code import add\n\nGO = threading.Event()\n\n\n"
        "def late():\n    GO.wait(20)\n    add(1, 1)\n\n\n"
        "LATE = threading.Thread(target=late)\n\n\n"
        "def test_a():\n    LATE.start()\n\n\n"
        "def test_b():\n    GO.set()\n    LATE.ident and LATE.join()\n\n\n"
        "def test_c():\n    add(2, 2)\n"
    )
    maps = [run(tests, coverage=True, shuffle_seed=seed).coverage for seed in (None, 3)]
    both = maps[0].common(maps[1])
    named = {both.tests[i] for i in both.lines["pkg/code.py"][2]}
    assert named == {f"{PATH}::test_c"}


@pytest.mark.parametrize("core", ["sysmon", "pytrace"])
def test_lines_are_traced_by_the_tracer_whose_contexts_are_right(run, core):
    tests = (
        "import os\n\nimport coverage\n\n\ndef test_a():\n"
        "    name = coverage.Coverage.current()._collector.tracer_name()\n"
        "    assert (name, os.environ['COVERAGE_CORE']) == ('CTracer', 'ctrace')\n"
    )
    settings = f'[tool.coverage.run]\ncore = "{core}"\n'
    result = run(tests, {"pyproject.toml": settings}, coverage=True)
    assert result.passed == {f"{PATH}::test_a"}, result.results
