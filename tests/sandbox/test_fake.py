import pytest

from codeenv.errors import PathError, SandboxError
from codeenv.sandbox.base import ExecResult, SearchQuery
from codeenv.sandbox.fake import FakeBackend, FakeSandbox
from codeenv.sandbox.image import Image
from codeenv.tree import Delta, Entry, Tree

TREE = Tree(
    {"a.py": Entry(b"import os\n"), "b/c.sh": Entry(b"#!x\n", "exec"), ".git/HEAD": Entry(b"r")}
)
IMAGE = Image("digest", "base", None, ())


def test_files_are_read_written_and_exported_without_git():
    box = FakeSandbox(TREE)
    box.write_file("b/c.sh", b"new\n")
    box.write_file("d/e.py", b"x\n")
    box.apply(Delta(delete=frozenset({"a.py"})))

    assert box.read_file("b/c.sh") == b"new\n"
    assert box.export() == Tree({"b/c.sh": Entry(b"new\n", "exec"), "d/e.py": Entry(b"x\n")})


@pytest.mark.parametrize(
    ("path", "code"),
    [("none", "not_found"), ("b", "is_directory"), ("../x", "outside"), ("/etc/passwd", "outside")],
)
def test_paths_that_cannot_be_read_have_the_contracts_codes(path, code):
    with pytest.raises(PathError) as caught:
        FakeSandbox(TREE).read_file(path)
    assert caught.value.code == code


def test_listing_and_search_leave_git_out():
    box = FakeSandbox(TREE)

    assert [info.path for info in box.list_files()] == ["a.py", "b", "b/c.sh"]
    assert [match.path for match in box.search(SearchQuery("r")).matches] == ["a.py"]


def test_commands_are_the_runners_or_a_few_of_its_own():
    box = FakeSandbox(
        TREE, lambda _box, command, _stdin: ExecResult(7, b"") if command == "x" else None
    )

    assert box.exec("x").exit_code == 7
    assert box.exec("echo hi").output == b"hi\n"
    assert box.exec("cat a.py").output == b"import os\n"
    assert box.exec(("nonesuch",)).exit_code == 127
    assert box.commands == ["x", "echo hi", "cat a.py", ("nonesuch",)]


def test_a_closed_or_broken_box_is_a_sandbox_error():
    box = FakeSandbox(TREE)
    box.broken = True
    with pytest.raises(SandboxError):
        box.exec("true")
    with FakeSandbox(TREE) as box:
        pass
    with pytest.raises(SandboxError):
        box.export()


def test_a_backend_fails_as_often_as_it_is_told_and_closes_its_boxes():
    backend = FakeBackend(failures=1)
    with pytest.raises(SandboxError):
        backend.open(IMAGE, TREE)
    box = backend.open(IMAGE, TREE)
    backend.close()

    assert backend.boxes == [box]
    assert box.closed
