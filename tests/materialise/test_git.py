import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codeenv.materialise.git import git_folder, without_git
from codeenv.tree import Entry, Tree

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

TREE = Tree(
    {
        "a.txt": Entry(b"x"),
        "a/b.py": Entry(b"print()\r\n"),
        "a/deep/er/c": Entry(b""),
        "a-b": Entry(b"sorts between a. and a/"),
        "run.sh": Entry(b"#!/bin/sh\n", "exec"),
        "to": Entry(b"a/b.py", "link"),
        ".gitattributes": Entry(b"* text eol=lf ident filter=lfs\n"),
        ".gitignore": Entry(b"*.py\n"),
        "ünï\udcff.txt": Entry(b"name with a byte that is not UTF-8"),
        "long/" + "n" * 200 + "/" + "m" * 200: Entry(b"y"),
        "big.bin": Entry(bytes(range(256)) * 1024),
    }
)


def place(tree: Tree, folder: Path) -> None:
    for path, entry in tree.items():
        target = os.fsencode(folder) + b"/" + path.encode("utf-8", "surrogateescape")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if entry.mode == "link":
            os.symlink(entry.data, target)
        else:
            with open(target, "wb") as file:
                file.write(entry.data)
            os.chmod(target, 0o755 if entry.mode == "exec" else 0o644)


def git(folder: Path, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place(TREE, tmp_path)
    place(git_folder(TREE), tmp_path)
    return tmp_path


def test_git_finds_nothing_wrong(repository: Path) -> None:
    assert git(repository, "fsck", "--full", "--strict", "--unreachable") == ""


def test_status_is_clean_whatever_the_attributes_say(repository: Path) -> None:
    assert git(repository, "status", "--porcelain", "--ignored") == ""
    assert git(repository, "diff", "HEAD") == ""


def test_there_is_one_commit_on_main_by_nobody_at_no_time(repository: Path) -> None:
    assert git(repository, "log", "--all", "--reflog", "--format=%an %at %s %D").splitlines() == [
        "codeenv 1704067200 Initial commit HEAD -> main"
    ]


def test_every_object_is_a_file_of_the_tree(repository: Path) -> None:
    rows = git(repository, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    kinds = [row.split()[1] for row in rows]
    assert kinds.count("commit") == 1
    assert kinds.count("blob") == len({entry.data for entry in TREE.values()})


def test_git_itself_makes_the_same_commit_tree(repository: Path, tmp_path: Path) -> None:
    ours = git(repository, "rev-parse", "HEAD^{tree}")
    shutil.rmtree(repository / ".git")
    git(tmp_path, "init", "-q", ".")
    (tmp_path / ".git/info/attributes").write_text("* -text -ident -filter\n")
    git(tmp_path, "add", "-f", ".")
    assert git(tmp_path, "write-tree") == ours


def test_an_agent_can_commit_stash_and_restore(repository: Path) -> None:
    (repository / "a.txt").write_bytes(b"changed")
    assert git(repository, "status", "--porcelain").strip() == "M a.txt"
    git(repository, "stash")
    assert (repository / "a.txt").read_bytes() == b"x"
    git(repository, "stash", "pop")
    git(repository, "commit", "-qam", "second")
    assert git(repository, "rev-list", "--count", "HEAD").strip() == "2"


def test_the_same_tree_gives_the_same_bytes() -> None:
    shuffled = Tree(dict(reversed(list(TREE.items()))))
    assert git_folder(TREE).digest == git_folder(shuffled).digest


def test_without_git_takes_only_the_repository_away() -> None:
    kept = {".github/x": Entry(b""), "a/.git-keep": Entry(b"")}
    both = Tree({**kept, **git_folder(TREE)})
    assert dict(without_git(both)) == kept


def test_an_empty_tree_is_a_repository_too(tmp_path: Path) -> None:
    place(git_folder(Tree({})), tmp_path)
    assert git(tmp_path, "status", "--porcelain") == ""
