import pytest

from codeenv.audit import Verification
from codeenv.errors import SandboxError
from codeenv.generate.candidate import demand_calibrated
from codeenv.generate.models import Reason, Rejected


def test_a_calibrated_task_passes():
    demand_calibrated(Verification("t", (0.0,), (1.0,)))


def test_a_task_that_is_graded_wrong_is_rejected():
    with pytest.raises(Rejected) as caught:
        demand_calibrated(Verification("t", (1.0,), (1.0,), ("nop: reward 1 instead of 0",)))
    assert caught.value.reason == Reason.UNSTABLE


@pytest.mark.parametrize("nop", [0.0, 1.0, None])
def test_a_task_that_could_not_be_graded_is_not_rejected_for_it(nop):
    with pytest.raises(SandboxError, match="the grader failed"):
        demand_calibrated(Verification("t", (nop,), (None,), ("oracle: the grader failed",)))
