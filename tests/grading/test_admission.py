"""What of a submission counts: the project's own code and data, whatever else lies beside it."""

from dataclasses import replace

import pytest

from codeenv.grading.collect import FILE_LIMIT, TOTAL_LIMIT, collect_submission, counted_places
from codeenv.materialise.git import without_git
from codeenv.tree import Delta, Entry, Tree
from tests.toytask import SOURCE, make_task

TASK = make_task()
TEXT = "src/notes/text.py"
TESTS = SOURCE["tests/test_text.py"].data


def collected(write: dict[str, bytes], delete: tuple[str, ...] = (), task=TASK):
    entries = {path: Entry(data) for path, data in write.items()}
    tree = without_git(task.workspace).apply(Delta(entries, frozenset(delete)))
    return collect_submission(task, tree)


@pytest.mark.parametrize(
    "path",
    [
        "src/notes/page.html",
        "src/notes/templates/deep/page.j2",
        "src/notes/rules.json",
        "src/notes/rules.toml",
        "src/notes/py.typed",
        "src/notes/text.pyi",
        "src/notes/locale/de.po",
        "src/notes/parts/__init__.py",
        "src/notes/types.py",
        "src/notes/text/__init__.py",
        "src/notes/__main__.py",
        "src/notes/CON.py",
        "src/notes/café.py",
    ],
)
def test_code_and_data_of_the_project_count(path):
    found = collected({path: b"x = 1\n"}, (TEXT,) if path.startswith("src/notes/text/") else ())
    assert path in found.delta.write
    assert found.ignored == ()


@pytest.mark.parametrize(
    "path",
    [
        "src/notes/tests/test_new.py",
        "src/notes/tests/__init__.py",
        "src/notes/tests/data.json",
        "src/notes/part/test_new.py",
        "src/notes/part/new_test.py",
        "src/notes/part/conftest.py",
        "src/notes/part/pytest.ini",
        "src/notes/.pytest.ini",
        "src/notes/pytest.toml",
        "src/notes/.pytest.toml",
        "src/notes/tox.ini",
        "src/notes/sitecustomize.py",
        "src/notes/usercustomize.py",
        "src/notes/start.pth",
        "src/notes/text.abi3.so",
        "src/notes/text.cpython-313-x86_64-linux-gnu.so",
        "src/notes/TEXT.SO",
        "src/notes/bundle.zip",
        "src/notes/x.dist-info/entry_points.txt",
        "src/notes/x.egg-info/PKG-INFO",
        "src/notes/_vendor/attrs.py",
        "src/notes.pth",
        "src/new.py",
        "src/tests/__init__.py",
        "tests/__init__.py",
        "tests/helper.py",
        "__init__.py",
        "notes/__init__.py",
        "src/__init__.py",
    ],
)
def test_what_is_not_code_of_the_project_is_ignored(path):
    found = collected({path: b"x = 1\n"})
    assert (found.delta, found.ignored) == (Delta(), (path,))


@pytest.mark.parametrize("path", ["src/notes/__pycache__/text.cpython-313.pyc", "src/notes/a.pyc"])
def test_bytecode_is_ignored_without_a_word(path):
    assert collected({path: b"\0"}) == collected({})


@pytest.mark.parametrize(
    "head",
    [
        "# -*- coding: utf-7 -*-",
        "# vim: set fileencoding=rot13 :",
        "#!/usr/bin/python\n# coding=unicode_escape",
        "\f \t# coding:raw_unicode_escape",
        "#" * 5000 + "\n# coding: punycode",
        "\r# coding: cp037",
        "# coding: decoding: utf-16",
    ],
)
def test_a_source_whose_encoding_hides_its_code_is_ignored(head):
    assert collected({TEXT: f"{head}\nx = 1\n".encode()}).ignored == (TEXT,)


@pytest.mark.parametrize(
    "head",
    [
        "# coding: utf-8",
        "# -*- coding: UTF8 -*-",
        "# coding=latin-1",
        "# coding: utf-8-unix",
        "x = 1\ny = 2\n# coding: utf-7",
        "# the coding of notes",
    ],
)
def test_an_encoding_in_which_code_is_what_it_looks_like_counts(head):
    assert collected({TEXT: f"{head}\nx = 1\n".encode()}).ignored == ()


def test_an_odd_encoding_that_the_file_had_may_stay():
    old = b"# coding: cp1251\nNAME = '\xe9'\n"
    task = make_task(Tree({**SOURCE, "src/notes/old.py": Entry(old)}))
    assert collected({"src/notes/old.py": old + b"x = 1\n"}, task=task).ignored == ()
    assert collected({TEXT: b"# coding: cp1251\n"}, task=task).ignored == (TEXT,)


def test_data_may_speak_of_encodings():
    assert collected({"src/notes/page.html": b"# coding: utf-7\n"}).ignored == ()


@pytest.mark.parametrize("name", ["\udcff.py", "a\nb.py", "\x1b[2J.py", "\u202e.py", "a\tb.json"])
def test_a_name_that_cannot_be_printed_is_ignored_and_told_in_ascii(name):
    found = collected({f"src/notes/{name}": b"x = 1\n"})
    assert not found.delta
    assert all(path.isprintable() and path.isascii() for path in found.ignored)
    assert len(found.ignored) == 1


def test_no_more_ignored_paths_are_told_than_people_can_use():
    found = collected({f"junk/{n:05}.txt": b"" for n in range(5000)})
    assert len(found.ignored) == 1000


def test_big_data_does_not_push_the_project_s_own_files_out():
    count = TOTAL_LIMIT // FILE_LIMIT
    data = {f"src/notes/a{n:03}.json": b"#" * FILE_LIMIT for n in range(count)}
    found = collected({**data, TEXT: b"x = 1\n"})
    assert TEXT in found.delta.write
    assert len(found.ignored) == 1


def inside(*, package: bool):
    """Return a task whose tests lie in the package's folder, where the runner looks for imports."""
    moved = {"src/notes/test_text.py": Entry(TESTS), "src/notes/sub/test_sub.py": Entry(TESTS)}
    kept = {p: e for p, e in SOURCE.items() if not p.startswith("tests/test_")}
    if package:
        moved["src/notes/sub/__init__.py"] = Entry(b"")
    else:
        moved["src/notes/sub/part.py"] = Entry(b"y = 2\n")
    task = make_task()
    tree = Tree({**kept, **moved})
    layout = replace(task.layout, test_files=tuple(moved)[:2])
    return replace(task, layout=layout, grading_tree=tree, workspace=tree)


def test_a_name_that_hides_a_library_is_ignored_in_any_folder_the_runner_imports_from():
    task = inside(package=False)
    assert collected({"src/notes/sub/json.py": b"x = 1\n"}, task=task).ignored == (
        "src/notes/sub/json.py",
    )
    assert collected({"src/notes/sub/_pytest/reports.py": b""}, task=task).ignored
    assert not collected({"src/notes/json.py": b"x = 1\n"}, task=task).ignored


def test_taking_the_marker_of_a_package_away_opens_no_way_to_hide_a_library():
    task = inside(package=True)
    fine = collected({"src/notes/sub/json.py": b"x = 1\n"}, task=task)
    assert not fine.ignored
    gone = ("src/notes/sub/__init__.py", "src/notes/__init__.py")
    found = collected(
        {"src/notes/sub/json.py": b"x = 1\n", "src/notes/pytest.py": b""}, gone, task=task
    )
    assert set(found.ignored) == {"src/notes/sub/json.py", "src/notes/pytest.py"}
    assert found.delta.delete == set(gone)


def test_all_that_may_count_lies_in_the_counted_places():
    assert counted_places(TASK) == ("src/notes",)
    layout = replace(
        TASK.layout,
        packages=("lone", "notes"),
        source_files=("src/lone.py", "src/notes/__init__.py"),
    )
    found = counted_places(replace(TASK, layout=layout))
    assert set(found) == {"src/lone", "src/notes", "src/lone.py"}
