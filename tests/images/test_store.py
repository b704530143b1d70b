import os
import time

import pytest

from codeenv.images.layers import load_layer, store_layer
from codeenv.images.store import list_images, prune
from codeenv.tree import Entry, Tree
from tests.images.fakes import read_layer

TREE = Tree(
    {
        "bin/run": Entry(b"x", "exec"),
        "bin/python": Entry(b"/usr/bin/python3", "link"),
        "lib/a.py": Entry(b"y"),
    }
)


@pytest.fixture(autouse=True)
def no_docker(cache, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")


def test_a_layer_is_the_tree_as_a_folder():
    layer = store_layer(TREE, "/opt/env")
    assert layer.digest == TREE.digest
    assert read_layer(layer) == TREE
    assert os.access(layer.folder / "bin" / "run", os.X_OK)


def test_a_layer_is_written_once():
    folder = store_layer(TREE, "/opt/env").folder
    before = folder.stat().st_ino
    assert store_layer(TREE, "/opt/tools").folder.stat().st_ino == before


def test_times_and_modes_are_always_the_same():
    folder = store_layer(TREE, "/opt/env").folder
    facts = {(p.lstat().st_mtime, oct(p.lstat().st_mode)) for p in folder.rglob("*") if p.is_dir()}
    assert len(facts) == 1
    assert {p.lstat().st_mtime for p in folder.rglob("*")} == {next(iter(facts))[0]}


def test_what_is_stored_is_listed_with_its_size():
    store_layer(TREE, "/opt/env")
    (found,) = list_images()
    assert (found.kind, found.name) == ("layer", TREE.digest)
    assert found.size > 0


def test_pruning_removes_what_was_not_used_for_long():
    old = store_layer(TREE, "/opt/env")
    os.utime(old.folder, (1000, 1000))
    new = store_layer(Tree({"a": Entry(b"")}), "/opt/env")
    load_layer(new.digest, "/opt/env")
    assert [image.name for image in prune(max_age=3600)] == [old.digest]
    assert load_layer(old.digest, "/opt/env") is None
    assert load_layer(new.digest, "/opt/env") is not None


def test_what_was_stored_just_now_was_used_just_now():
    store_layer(TREE, "/opt/env")

    assert time.time() - list_images()[0].used < 3600


def test_pruning_to_a_budget_removes_what_was_used_longest_ago():
    layers = [store_layer(Tree({"a": Entry(bytes([n]) * 100_000)}), "/opt/env") for n in range(4)]
    for n, layer in enumerate(layers):
        os.utime(layer.folder, (1000 - n, 1000 - n))
    size = list_images()[0].size

    gone = prune(budget=2 * size)

    assert [image.name for image in gone] == [layers[2].digest, layers[3].digest]
    assert prune(budget=2 * size) == ()
    assert [image.name for image in prune(budget=size, keep=[layers[1].digest])] == [
        layers[0].digest
    ]


def test_a_dry_run_removes_nothing():
    layer = store_layer(TREE, "/opt/env")
    assert [image.name for image in prune(dry_run=True)] == [layer.digest]
    assert layer.folder.is_dir()


def test_what_is_to_be_kept_is_kept():
    layer = store_layer(TREE, "/opt/env")
    assert prune(keep=[layer.digest[:8]]) == ()
    assert layer.folder.is_dir()


def test_half_made_folders_of_killed_builders_go_too(cache):
    store_layer(TREE, "/opt/env")
    left = cache / "layers" / ".new-abandoned"
    left.mkdir()
    os.utime(left, (0, 0))
    prune(keep=[""])
    assert not left.exists()
