import ast

import pytest

from codeenv.errors import SourceError
from codeenv.sources import checkout, fetch


def test_the_toy_repository_is_there_without_a_network():
    found = checkout("bundled:toy")
    assert {"pyproject.toml", "pocketbook/text.py", "tests/test_text.py"} <= set(found.tree)
    assert (found.pin.kind, found.pin.location, found.pin.licence) == (
        "bundled",
        "toy",
        "Apache-2.0",
    )
    assert fetch(found.pin) == found


def test_every_python_file_of_the_toy_parses():
    for path, entry in checkout("bundled:toy").tree.items():
        if path.endswith(".py"):
            ast.parse(entry.data, path)


def test_an_unknown_bundle_lists_the_others():
    with pytest.raises(SourceError, match="no repository 'nope' is bundled") as caught:
        checkout("bundled:nope")
    assert "toy" in caught.value.hint


def test_a_ref_makes_no_sense():
    with pytest.raises(SourceError, match="has no refs"):
        checkout("bundled:toy", ref="x")


def test_what_is_neither_folder_nor_address_is_a_clear_error(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for spec in ("", "nothing/here", "ftp://example.org/x", "bundled"):
        with pytest.raises(SourceError):
            checkout(spec)
