"""One candidate's end is its own, and a machine's end is everybody's."""

import errno

import pytest

from codeenv.errors import BackendUnavailable, MachineError, SandboxError, SandboxTimeout
from codeenv.generate.attempt import attempt
from codeenv.generate.models import Reason, Rejected


def raising(error):
    def work(item):
        raise error

    return attempt(work)


def test_what_work_returns_is_returned():
    assert attempt(str.upper)("a") == "A"


@pytest.mark.parametrize("error", [KeyError("name"), AssertionError(), ZeroDivisionError("x")])
def test_a_fault_of_our_own_ends_one_candidate_with_the_place(error):
    found = raising(error)("item")
    assert isinstance(found, Rejected)
    assert found.reason == Reason.INTERNAL
    assert found.detail.startswith(f"{type(error).__name__}: {error} (work, line ")


def test_the_place_is_the_innermost_one_however_long_the_text_is():
    def deep(item):
        raise ValueError(item * 1000)

    def work(item):
        deep(item)

    detail = attempt(work)("x").detail
    assert "x (deep, line " in detail
    assert len(detail) < 300


@pytest.mark.parametrize(
    "error",
    [MachineError("no disk"), BackendUnavailable("gone"), OSError(errno.ENOSPC, "full")],
)
def test_what_the_machine_lacks_ends_everything(error):
    with pytest.raises(type(error)) as caught:
        raising(error)("item")
    assert caught.value is error


@pytest.mark.parametrize(
    "error",
    [Rejected(Reason.CRASHES, "x"), SandboxError("lost"), SandboxTimeout("slow")],
)
def test_what_ends_a_candidate_is_its_value(error):
    assert raising(error)("item") is error


@pytest.mark.parametrize("ended", [Rejected(Reason.WEAK_TESTS, "x"), SandboxError("lost")])
def test_a_candidate_that_has_ended_is_passed_on_without_work(ended):
    seen = []
    assert attempt(seen.append)(ended) is ended
    assert seen == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_an_interruption_is_not_a_candidate_s_end(error):
    with pytest.raises(type(error)):
        raising(error)("item")
