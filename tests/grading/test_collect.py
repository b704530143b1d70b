import pytest

from codeenv.grading.collect import FILE_LIMIT, TOTAL_LIMIT, collect_submission
from codeenv.materialise.git import without_git
from codeenv.tree import Delta, Entry, Tree
from tests.toytask import SOURCE, make_task

TASK = make_task()
BEFORE = without_git(TASK.workspace)
TEXT = "src/notes/text.py"


def submit(write: dict[str, Entry | bytes], delete: tuple[str, ...] = ()):
    entries = {p: e if isinstance(e, Entry) else Entry(e) for p, e in write.items()}
    return collect_submission(TASK, BEFORE.apply(Delta(entries, frozenset(delete))))


def test_nothing_done_is_nothing_submitted():
    assert collect_submission(TASK, TASK.workspace) == collect_submission(TASK, BEFORE)
    assert not collect_submission(TASK, BEFORE).delta


def test_the_oracles_work_is_admitted_whole():
    found = collect_submission(TASK, BEFORE.apply(TASK.oracle))
    assert found.delta == TASK.oracle
    assert found.ignored == ()


def test_changed_added_and_removed_source_counts():
    found = submit({TEXT: b"x = 1\n", "src/notes/new.py": b"y = 2\n"})
    assert found.delta.paths == ("src/notes/new.py", TEXT)
    assert submit({}, (TEXT,)).delta.delete == {TEXT}


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "tests/conftest.py",
        "tests/test_text.py",
        "tests/test_new.py",
        "src/notes/conftest.py",
        "pyproject.toml",
        "pytest.ini",
        "setup.py",
        "setup.cfg",
        "tox.ini",
        "sitecustomize.py",
        "src/sitecustomize.py",
        "src/usercustomize.py",
        "src/evil.pth",
        "src/evil.dist-info/entry_points.txt",
        "evil.egg-info/entry_points.txt",
        "src/pytest.py",
        "src/_pytest/reports.py",
        "src/json.py",
        "src/random/__init__.py",
        "src/some_library.py",
        "pytest.py",
        "src/notes/fast.so",
        "src/notes/old.pyc",
    ],
)
def test_what_could_reach_the_grader_is_ignored(path):
    found = submit({path: b"x = 1\n"})
    assert not found.delta
    assert found.ignored == (() if path.endswith(".pyc") else (path,))


def test_deleting_a_test_is_ignored():
    found = submit({}, ("tests/test_text.py",))
    assert not found.delta
    assert found.ignored == ("tests/test_text.py",)


def test_links_are_ignored():
    assert submit({TEXT: Entry(b"/etc/passwd", "link")}).ignored == (TEXT,)


@pytest.mark.parametrize("data", [b"\xff = 1\n", b"x = 1\0"])
def test_source_that_was_text_must_stay_text(data):
    assert submit({TEXT: data}).ignored == (TEXT,)


def test_a_file_that_never_was_utf8_may_stay_so():
    old = b"# coding: latin-1\nNAME = '\xe9'\n"
    source = Tree({**SOURCE, "src/notes/old.py": Entry(old)})
    task = make_task(source)
    changed = Delta({"src/notes/old.py": Entry(old + b"x = '\xe8'\n")})
    found = collect_submission(task, without_git(task.workspace).apply(changed))
    assert found.delta == changed


def test_a_huge_file_is_ignored():
    assert submit({TEXT: b"#" * (FILE_LIMIT + 1)}).ignored == (TEXT,)


def test_all_files_together_are_capped():
    count = TOTAL_LIMIT // FILE_LIMIT
    files = {f"src/notes/m{i:03}.py": b"#" * FILE_LIMIT for i in range(count + 2)}
    found = submit(files)
    assert len(found.delta.write) == count
    assert len(found.ignored) == 2


def test_running_code_leaves_nothing_to_report():
    found = submit({"src/notes/__pycache__/text.cpython-313.pyc": b"\0", ".pytest_cache/x": b""})
    assert found.ignored == ()


def test_a_file_where_an_ignored_folder_stays_is_ignored():
    source = Tree({**SOURCE, "src/notes/part/tests/test_x.py": Entry(b"def test(): pass\n")})
    task = make_task(source)
    gone = frozenset({"src/notes/part/tests/test_x.py"})
    tree = without_git(task.workspace).apply(Delta({"src/notes/part": Entry(b"")}, gone))
    assert not collect_submission(task, tree).delta
