"""The teacher that follows the student."""

import copy

import pytest

from codeenv.errors import UsageError

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from codeenv.feedback.loss import EmaTeacher  # noqa: E402


def model(seed=0, dtype=torch.float32):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2)).to(
        dtype
    )


def weight(of):
    return of[0].weight.detach()


def moved(student):
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.add_(1)
        student[1].running_mean.add_(2)
    return student


def held(teacher):
    with teacher.scoring() as module:
        return module


def test_each_update_goes_the_rates_share_of_the_way():
    student = model()
    before = weight(student).clone()
    teacher = EmaTeacher(student)

    moved(student)
    teacher.update(student)
    torch.testing.assert_close(weight(held(teacher)), before + 0.05)
    teacher.update(student)
    torch.testing.assert_close(weight(held(teacher)), before + 0.05 + 0.05 * 0.95)


def test_buffers_are_those_of_the_student():
    student = model()
    teacher = EmaTeacher(student)

    teacher.update(moved(student))

    assert torch.equal(held(teacher)[1].running_mean, student[1].running_mean)


def test_many_small_steps_are_not_lost_in_half_precision():
    student = model(dtype=torch.bfloat16)
    teacher = EmaTeacher(student)
    with torch.no_grad():
        student[0].weight.fill_(1.0)
    for _ in range(200):
        teacher.update(student)

    assert weight(held(teacher)).dtype == torch.bfloat16
    torch.testing.assert_close(weight(held(teacher)).float(), torch.ones(4, 3), atol=4e-3, rtol=0)


def test_in_single_precision_there_is_one_copy_of_the_model():
    state = EmaTeacher(model()).state_dict()

    for name, average in state["average"].items():
        assert average.data_ptr() == state["model"][name].data_ptr()


def test_a_live_teacher_is_the_student():
    student = model()
    teacher = EmaTeacher(student, rate=None)

    teacher.update(moved(student))

    assert held(teacher) is student
    assert teacher.state_dict() == {}
    teacher.load_state_dict({})


@pytest.mark.parametrize("rate", [0.05, None])
def test_scoring_has_no_gradient_and_no_dropout_and_leaves_the_modes_as_they_were(rate):
    student = model()
    student[1].eval()
    teacher = EmaTeacher(student, rate=rate)
    data = torch.ones(5, 3)

    with teacher.scoring() as module:
        first, second = module(data), module(data)

    assert torch.equal(first, second)
    assert not first.requires_grad
    assert [part.training for part in student] == [True, False, True, True]
    assert all(parameter.requires_grad for parameter in student.parameters())


def test_the_teacher_of_an_average_is_no_part_of_the_student():
    student = model()
    teacher = EmaTeacher(student)
    before = weight(held(teacher)).clone()

    moved(student)

    assert torch.equal(weight(held(teacher)), before)
    assert not any(parameter.requires_grad for parameter in held(teacher).parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_checkpoint_takes_up_where_it_was(dtype):
    student = model(dtype=dtype)
    teacher = EmaTeacher(student)
    teacher.update(moved(student))
    saved = copy.deepcopy(teacher.state_dict())
    teacher.update(student)

    again = EmaTeacher(model(seed=1, dtype=dtype))
    again.load_state_dict(saved)
    again.update(student)

    for mine, theirs in zip(
        held(again).state_dict().values(), held(teacher).state_dict().values(), strict=True
    ):
        assert torch.equal(mine, theirs)


def test_another_model_or_checkpoint_is_refused():
    teacher = EmaTeacher(model())
    with pytest.raises(UsageError, match="other parameters"):
        teacher.update(nn.Linear(3, 4))
    with pytest.raises(UsageError, match="another kind"):
        teacher.load_state_dict({})
    with pytest.raises(UsageError, match="another kind"):
        EmaTeacher(model(), rate=None).load_state_dict(teacher.state_dict())
    with pytest.raises(UsageError, match="another model"):
        teacher.load_state_dict(EmaTeacher(nn.Linear(3, 4)).state_dict())
    for rate in (0, 1.5):
        with pytest.raises(UsageError, match="rate"):
            EmaTeacher(model(), rate=rate)
