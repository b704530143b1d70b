import pytest

from codeenv.errors import SourceError
from codeenv.sources import checkout, fetch
from codeenv.sources.entries import Caps
from codeenv.sources.git import snapshot
from codeenv.tree import Entry


def test_a_folder_under_git_gives_what_is_committed(repository, git):
    (repository / "a.py").write_bytes(b"changed")
    (repository / "new.py").write_bytes(b"untracked")
    found = checkout(str(repository))
    assert dict(found.tree) == {
        "a.py": Entry(b"x = '\xe9'\r\n"),
        "run.sh": Entry(b"#!/bin/sh\n", "exec"),
        "sub/b.py": Entry(b""),
        "sub/link.py": Entry(b"../a.py", "link"),
    }
    assert found.pin.kind == "path"
    assert found.pin.location == str(repository)
    assert found.pin.version == git(repository, "rev-parse", "HEAD")
    assert found.pin.sha256 == found.pin.tree == found.tree.digest


def test_it_is_said_that_uncommitted_changes_are_not_taken(repository):
    assert "uncommitted changes are not" in checkout(str(repository)).notes[0]
    assert checkout(repository.as_uri()).notes == ()


def test_a_plain_web_server_is_enough(repository, git, serve, tmp_path):
    first = git(repository, "rev-parse", "HEAD")
    (repository / "a.py").write_bytes(b"second")
    git(repository, "commit", "-qam", "two")
    git(repository, "update-server-info")
    address = f"http://127.0.0.1:{serve(repository).server_port}/.git"
    assert checkout(address).tree["a.py"].data == b"second"
    assert checkout(address, ref=first).tree["a.py"].data == b"x = '\xe9'\r\n"


def test_a_file_address_is_a_git_source(repository, git):
    pin = checkout(repository.as_uri()).pin
    assert (pin.kind, pin.location) == ("git", repository.as_uri())
    assert pin.version == git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("ref", ["v1", "side", "hash", "short hash", "annotated"])
def test_branches_tags_and_commits_are_refs(repository, git, ref):
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "v1")
    git(repository, "tag", "-a", "annotated", "-m", "x")
    git(repository, "branch", "side")
    (repository / "a.py").write_bytes(b"second")
    git(repository, "commit", "-qam", "two")
    name = {"hash": first, "short hash": first[:8]}.get(ref, ref)
    found = checkout(repository.as_uri(), ref=name)
    assert found.pin.version == first
    assert found.tree["a.py"].data == b"x = '\xe9'\r\n"


def test_a_pin_gives_the_same_tree_after_the_source_moved_on(repository, git):
    found = checkout(str(repository))
    (repository / "a.py").write_bytes(b"second")
    git(repository, "commit", "-qam", "two")
    assert fetch(found.pin) == found


def test_a_pin_is_read_again_when_the_cache_is_empty(repository, git, monkeypatch, tmp_path):
    found = checkout(str(repository))
    (repository / "a.py").write_bytes(b"second")
    git(repository, "commit", "-qam", "two")
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "other"))
    assert fetch(found.pin) == found


def test_a_changed_pin_is_refused(repository):
    found = checkout(str(repository))
    wrong = found.pin.model_copy(update={"tree": "0" * 64})
    with pytest.raises(SourceError, match="not what the recipe was made from"):
        fetch(wrong)


def test_subdir_is_the_root_of_the_tree(repository, git):
    (repository / "sub" / "link.py").unlink()
    git(repository, "commit", "-qam", "no link")
    found = checkout(str(repository), subdir="sub/")
    assert list(found.tree) == ["b.py"]
    assert found.pin.subdir == "sub"
    assert found.pin.sha256 != found.pin.tree
    assert fetch(found.pin).tree == found.tree


def test_a_link_out_of_the_subdir_is_refused(repository):
    with pytest.raises(SourceError, match=r"link\.py.*points out"):
        checkout(str(repository), subdir="sub")


def test_a_missing_subdir_lists_what_there_is(repository):
    with pytest.raises(SourceError, match="no folder 'lib'") as caught:
        checkout(str(repository), subdir="lib")
    assert "sub" in caught.value.hint


def test_an_unknown_ref_is_a_clear_error(repository):
    with pytest.raises(SourceError, match="no branch, tag or commit 'nope'"):
        checkout(repository.as_uri(), ref="nope")


def test_options_cannot_be_smuggled_in(repository):
    with pytest.raises(SourceError, match="not a git address or ref"):
        checkout(repository.as_uri(), ref="--upload-pack=touch /tmp/owned")


def test_an_empty_repository_says_so(tmp_path, git):
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(SourceError, match="has no commits"):
        checkout((tmp_path / "empty").as_uri())


def test_what_is_not_a_repository_says_so(tmp_path):
    with pytest.raises(SourceError, match="is not a git repository"):
        checkout((tmp_path / "nothing").as_uri())


def test_submodules_are_left_out_and_named(repository, git):
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
    git(repository, "commit", "-qm", "submodule")
    found = checkout(str(repository))
    assert found.notes[1:] == ("the submodule vendor/lib is left out",)
    assert not [path for path in found.tree if path.startswith("vendor")]


def test_lfs_pointers_are_refused_and_named(repository, git):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    (repository / "model.bin").write_bytes(pointer)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "lfs")
    with pytest.raises(SourceError, match=r"Git LFS pointers.*model\.bin") as caught:
        checkout(str(repository))
    assert caught.value.exit_code == 2


def test_no_filter_or_hook_of_the_repository_runs(repository, git, tmp_path):
    owned = tmp_path / "owned"
    (repository / ".gitattributes").write_text("* filter=evil text eol=crlf ident\n")
    (repository / "unix.txt").write_bytes(b"$Id$\na\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "attributes")
    git(repository, "config", "filter.evil.smudge", f"touch {owned}")
    git(repository, "config", "core.fsmonitor", f"touch {owned}")
    git(repository, "config", "uploadpack.packObjectsHook", f"touch {owned}")
    assert checkout(str(repository)).tree["unix.txt"].data == b"$Id$\na\n"
    assert not owned.exists()


def test_a_clone_over_the_cap_is_refused(repository):
    with pytest.raises(SourceError, match="too large"):
        snapshot(repository.as_uri(), caps=Caps(total=10))


def test_a_protocol_that_runs_commands_is_refused(tmp_path):
    owned = tmp_path / "owned"
    for spec in (f"ext::touch {owned}", f"git@host:x --upload-pack={owned}", "fd::17"):
        with pytest.raises(SourceError):
            checkout(spec)
    assert not owned.exists()


def test_an_unreachable_server_is_a_network_error():
    with pytest.raises(SourceError, match="cannot be reached") as caught:
        checkout("http://127.0.0.1:1/x.git")
    assert "network" in caught.value.hint


def test_credentials_do_not_enter_messages():
    with pytest.raises(SourceError) as caught:
        checkout("http://user:secret-token@127.0.0.1:1/x.git")
    assert "secret-token" not in str(caught.value)


def test_a_private_repository_says_how_to_get_access(serve, tmp_path):
    answers = {"/x.git/info/refs?service=git-upload-pack": [401] * 9}
    port = serve(tmp_path, answers).server_port
    with pytest.raises(SourceError, match="no access to") as caught:
        checkout(f"http://127.0.0.1:{port}/x.git")
    assert "ssh key" in caught.value.hint
