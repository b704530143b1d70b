"""Suites that need more memory than boxes have by default get it, and the lock says so."""

from dataclasses import replace

import pytest

from codeenv.images import build as build_module
from codeenv.images import build_environment, restore_environment
from tests.images.fakes import LAYOUT, TREE, FakeBackend, FakeLanguage, install, run


class Language(FakeLanguage):
    """What passes depends on the image."""

    def run_tests(self, sandbox, image, request):
        return self.outcome(image)


@pytest.fixture(autouse=True)
def prepared_base(index, base, monkeypatch):
    monkeypatch.setattr(build_module, "ensure_base", lambda kind="auto": base)
    monkeypatch.setattr("codeenv.images.restore.named_base", lambda name: base)


def build(outcome):
    return build_environment(TREE, Language([], outcome), LAYOUT, FakeBackend(install))


def test_a_suite_that_runs_out_of_memory_gets_more_and_the_lock_says_so(monkeypatch):
    monkeypatch.setattr("codeenv.images.attempts.most_memory", lambda: 8192)
    asked = []

    def outcome(image):
        asked.append(image.memory // 1024**2)
        enough = image.memory >= 8192 * 1024**2
        return run("a", "b") if enough else replace(run(exit_code=137), starved=True)

    found = build(outcome)

    assert asked[:3] == [0, 4096, 8192]
    assert found.lock.memory == 8192
    assert found.image.memory == 8192 * 1024**2
    assert restore_environment(found.lock, FakeBackend(install)).image.memory == 8192 * 1024**2


def test_memory_that_helps_no_test_is_not_asked_for(monkeypatch):
    monkeypatch.setattr("codeenv.images.attempts.most_memory", lambda: 8192)
    found = build(lambda image: replace(run("a", failed=["b"]), starved=True))

    assert found.lock.memory == 0


def test_no_more_memory_is_asked_for_than_a_machine_can_give(monkeypatch):
    monkeypatch.setattr("codeenv.images.attempts.most_memory", lambda: 1024)
    asked = []

    def outcome(image):
        asked.append(image.memory)
        return replace(run("a", failed=["b"]), starved=True)

    build(outcome)
    assert set(asked) == {0}
