"""Hidden tests take along what was recorded for them, and nothing that other tests read."""

import pytest

from codeenv.materialise.operations import apply_operations

TESTS = """\
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_slug(snapshot):
    assert slug((HERE / "data" / "slugs.json").read_text()) == snapshot


@pytest.mark.parametrize("case", ["a", "b"])
def test_slug_case(snapshot, case):
    assert slug(case) == snapshot


def test_wrap(snapshot):
    assert wrap((HERE / "data" / "wraps.json").read_text()) == snapshot


class TestSlug:
    def test_one(self, snapshot):
        assert slug("x") == snapshot


class TestWrap:
    def test_one(self, snapshot):
        assert wrap("x") == snapshot
"""
PATH = "tests/test_text.py"
AMBR = "tests/__snapshots__/test_text.ambr"
HIDDEN = tuple(
    f"{PATH}::{name}"
    for name in ("test_slug", "test_slug_case[a]", "test_slug_case[b]", "TestSlug::test_one")
)
KEPT = (f"{PATH}::test_wrap", f"{PATH}::TestWrap::test_one")
HEAD = "# serializer version: 1\n"


def section(name, *lines):
    return "".join(f"{line}\n" for line in (f"# name: {name}", *lines, "# ---"))


@pytest.fixture
def left(python, package):
    """Hides the tests of one function and returns what is left of the other files."""

    def run(others, ids=HIDDEN, text=TESTS, stable=(*HIDDEN, *KEPT)):
        tree = package("def slug(x): return x\ndef wrap(x): return x\n", {PATH: text, **others})
        operations = python.hide(tree, ids, stable)
        assert operations == python.hide(tree, ids, stable)
        assert {o.mode for o in operations} == {"hide"}
        kept = apply_operations(tree, operations)
        return {p: kept[p].data.decode() for p in others if p in kept}

    return run


def test_sections_of_hidden_tests_go_from_snapshot_files(left):
    wrap = section("test_wrap", "  list([", "    '# name: test_slug',", "  ])")
    wrap_one = section("TestWrap.test_one", "  'x'")
    text = (
        HEAD
        + section("TestSlug.test_one", "  'x'")
        + wrap_one
        + section("test_slug", "  'a-b'")
        + section("test_slug.1", "  'a-b'", "  '# ---'")
        + section("test_slug_case[a]", "  'a'")
        + section("test_slug_case[b].1", "  'b'")
        + wrap
    )
    assert left({AMBR: text}) == {AMBR: HEAD + wrap_one + wrap}
    assert left({AMBR: text.replace("\n", "\r\n")}) == {
        AMBR: (HEAD + wrap_one + wrap).replace("\n", "\r\n")
    }


def test_sections_without_an_end_go_up_to_the_next_one(left):
    text = (
        "# name: test_slug\n  'a'\n---\n# name: test_wrap\n  'b'\n---\n# name: test_slug.1\n  'c'"
    )
    assert left({AMBR: text}) == {AMBR: "# name: test_wrap\n  'b'\n---\n"}


def test_a_snapshot_file_of_hidden_tests_goes_as_a_whole(left):
    assert left({AMBR: HEAD + section("test_slug", "  'a-b'")}) == {}


def test_sections_of_a_function_stay_while_one_of_its_tests_does(left):
    text = section("test_slug_case[a]", "  'a'") + section("test_slug_case[b]", "  'b'")
    assert left({AMBR: text}, HIDDEN[:2]) == {AMBR: text}


def test_sections_of_unknown_tests_and_of_other_files_stay(left):
    others = {
        AMBR: section("test_slug_more", "  'a'") + section("test_one", "  'b'"),
        "tests/__snapshots__/test_other.ambr": section("test_slug", "  'a'"),
        "tests/other/__snapshots__/test_text.ambr": section("test_slug", "  'a'"),
    }
    assert left(others) == others


@pytest.mark.parametrize(
    "path",
    [
        "tests/snapshots/test_text/test_slug/0.json",
        "tests/snapshots/test_text/test_slug_case/a/0.json",
        "tests/snapshots/test_text/TestSlug/test_one/0.json",
        "tests/test_text/test_slug.yml",
        "tests/test_text/test_slug_case_a_.yml",
        "tests/test_text/TestSlug_test_one.csv",
        "tests/cassettes/test_text/test_slug_case[a].yaml",
        "tests/__snapshots__/test_text/test_slug.1.svg",
        "tests/__snapshots__/test_text/TestSlug.test_one.raw",
    ],
)
def test_files_that_are_named_after_a_hidden_test_go(left, path):
    assert left({path: "a-b"}) == {}
    visible = path.replace("test_slug_case", "test_wrap").replace("test_slug", "test_wrap")
    visible = visible.replace("TestSlug", "TestWrap")
    assert left({visible: "a b"}) == {visible: "a b"}


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_text/test_one.yml",
        "tests/test_text/test_slugs.yml",
        "tests/test_other/test_slug.yml",
        "tests/test_text/test_slug_later.yml",
        "tests/test_slug.yml",
        "snapshots/test_text/test_slug.yml",
    ],
)
def test_files_that_may_be_another_tests_stay(left, path):
    text = TESTS + "\n\n@pytest.mark.skip\ndef test_slug_later():\n    assert 0\n"
    assert left({path: "a-b"}, text=text) == {path: "a-b"}


def test_of_two_test_files_of_one_name_the_nearer_one_owns_the_files(left):
    other = "tests/deep/test_text.py"
    others = {
        other: "def test_slug():\n    assert 1\n",
        "tests/deep/test_text/test_slug.yml": "deep",
        "tests/test_text/test_slug.yml": "a-b",
        "tests/snapshots/deep/test_text/test_slug.yml": "deep",
    }
    stable = (*HIDDEN, *KEPT, f"{other}::test_slug")
    assert "tests/test_text/test_slug.yml" not in left(others, stable=stable)
    assert len(left(others, stable=stable)) == 3


SLUGS, WRAPS = "tests/data/slugs.json", "tests/data/wraps.json"


def test_data_files_that_only_hidden_tests_name_go(left):
    assert left({SLUGS: "[1]", WRAPS: "[2]"}) == {WRAPS: "[2]"}


@pytest.mark.parametrize(
    "others",
    [
        {"README.md": "See `slugs.json`.\n"},
        {"tests/data/index.txt": "slugs.json\n"},
        {"pkg/other.py": "# like slugs.json\n"},
        {"tests/test_more.py": "def test_c(data):\n    assert data('slugs.json')\n"},
        {"tests/conftest.py": "DATA = Path(__file__).parent / 'data'\n"},
        {"tests/conftest.py": "def data(name):\n    return open(f'tests/data/v1.0{name}')\n"},
        {"tests/conftest.py": "def data(name):\n    return f'{HERE}/data/{name}.json'\n"},
        {"tests/conftest.py": "FILES = Path('tests').rglob('*.json')\n"},
        {"tests/conftest.py": "FILES = all_of('tests/data/*.json')\n"},
        {"tests/conftest.py": "DATA = resources.files('tests.data')\n"},
        {"tests/conftest.py": "print 'data'\n"},
    ],
    ids=lambda others: next(iter(others.values()))[:40],
)
def test_data_files_that_something_else_may_read_stay(left, others):
    assert left({SLUGS: "[1]", **others}) == {SLUGS: "[1]", **others}


@pytest.mark.parametrize(
    "text",
    [
        "OTHER = open('tests/data/other.json')\n",
        "OTHER = Path(__file__).parent / 'data' / 'other.json'\n",
        "OTHER = os.path.join(HERE, 'data', 'other.json')\n",
        "OTHER = 'myslugs.json', 'slugs.jsonl'\n",
    ],
)
def test_that_other_files_of_a_folder_are_named_keeps_no_data_file(left, text):
    assert left({SLUGS: "[1]", "tests/conftest.py": text}) == {"tests/conftest.py": text}


def test_links_configuration_and_files_of_the_project_stay(python, package):
    names = ["pytest.ini", "notes.json"]
    text = f"def test_slug():\n    assert {names}\n"
    tree = package("", {"tests/test_a.py": text, "tests/pytest.ini": "", "pkg/notes.json": ""})
    test = "tests/test_a.py::test_slug"
    assert {o.path for o in python.hide(tree, [test], [test])} == {"tests/test_a.py"}
