import subprocess

import pytest

from codeenv.errors import SourceError
from codeenv.generate import GenerateOptions, generate


@pytest.fixture
def told(tmp_path, monkeypatch, local_backend):
    """Returns what a run says of a source that has no tests, so that it ends early."""
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "cache"))

    def go(spec):
        events = []
        with pytest.raises(SourceError):
            generate(
                str(spec),
                GenerateOptions(out=tmp_path / "out"),
                backend=local_backend,
                on_event=events.append,
            )
        return [event.text for event in events if event.kind == "checkout"]

    return go


def _git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "project"
    made.mkdir()
    (made / "code.py").write_text("x = 1\n")
    return made


def test_it_is_said_that_uncommitted_changes_are_not_taken(told, folder):
    _git(folder, "init", "--quiet")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "--message", "one")
    (folder / "more.py").write_text("y = 2\n")

    first, note = told(folder)

    assert first.startswith("project ")
    assert first.endswith(": 1 files")
    assert "uncommitted changes are not" in note


def test_a_source_without_a_version_is_named_alone(told, folder):
    assert told(folder) == ["project: 1 files"]


def test_what_tools_left_in_a_source_is_told(told, folder):
    (folder / ".pytest_cache").mkdir()
    (folder / ".pytest_cache/nodeids").write_text("[]")
    (folder / "code.py~").write_text("x = 0\n")
    (folder / "tags").write_text("x\n")
    _, left, scrubbed = told(folder)
    assert left == "left out, as tools made them: .pytest_cache"
    assert scrubbed == "agents do not get what tools have left: 1 cache, 1 editor debris"
