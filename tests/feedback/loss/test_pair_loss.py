from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

import torch

from codeenv.feedback import TeacherPair
from codeenv.feedback.loss import EmaTeacher, divergence, pair_loss, token_log_probs

PAIR = TeacherPair(
    student_ids=(1, 2, 3, 4, 5),
    teacher_ids=(1, 9, 8, 2, 3, 4, 5),
    student_span=(2, 5),
    teacher_span=(4, 7),
    span_mask=(0, 1, 1),
    event_id="1.1.unknown_tool",
    hint_tokens=2,
    placement="before_target",
    granularity="span",
    logprobs=None,
)


class Summing(torch.nn.Module):
    """Logits that depend on all that was read so far."""

    def __init__(self, wrapped):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(10, 12, dtype=torch.float64)
        self.wrapped = wrapped

    def forward(self, ids):
        logits = self.embedding(ids).cumsum(1)[..., :10]
        return SimpleNamespace(logits=logits) if self.wrapped else logits


def by_hand(model, alpha):
    student = model(torch.tensor([PAIR.student_ids]))[0, 1:4]
    teacher = model(torch.tensor([PAIR.teacher_ids]))[0, 3:6]
    each = divergence(student, teacher.detach(), alpha)
    return each[1:].clamp(max=5).sum() / 7


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_it_is_the_divergence_at_the_masked_tokens_over_the_normaliser(alpha):
    model = Summing(wrapped=False)

    loss = pair_loss(model, EmaTeacher(model), PAIR, normaliser=7, alpha=alpha)

    assert float(loss.detach()) == pytest.approx(float(by_hand(model, alpha).detach()), abs=1e-12)
    assert torch.allclose(*gradients(model, loss, by_hand(model, alpha)))


def gradients(model, *losses):
    return [torch.autograd.grad(loss, model.embedding.weight)[0] for loss in losses]


def test_a_model_may_wrap_its_logits():
    plain, wrapped = Summing(wrapped=False), Summing(wrapped=True)

    losses = [pair_loss(m, EmaTeacher(m), PAIR, normaliser=7) for m in (plain, wrapped)]

    assert torch.equal(*losses)


def test_the_weight_and_the_sampler_scale_the_loss():
    model = Summing(wrapped=False)
    logp = token_log_probs(model(torch.tensor([PAIR.student_ids]))[0, 1:4], torch.tensor([3, 4, 5]))
    drawn = SimpleNamespace(**vars_of(PAIR), logprobs=tuple((logp.detach() + 0.5).tolist()))

    plain = pair_loss(model, EmaTeacher(model), PAIR, normaliser=7)
    heavier = pair_loss(model, EmaTeacher(model), PAIR, normaliser=7, weight=3.0)
    older = pair_loss(model, EmaTeacher(model), drawn, normaliser=7)

    assert torch.allclose(heavier, 3 * plain)
    assert torch.allclose(older, plain * torch.tensor(-0.5).exp())


def vars_of(pair):
    names = ("student_ids", "teacher_ids", "student_span", "teacher_span", "span_mask")
    return {name: getattr(pair, name) for name in names}


def test_log_probabilities_of_tokens_are_those_of_the_softmax():
    logits = torch.randn(2, 3, 5, dtype=torch.float64)
    ids = torch.tensor([[0, 4, 2], [1, 1, 3]])

    told = token_log_probs(logits, ids)

    assert told[1, 2] == pytest.approx(float(logits[1, 2].softmax(-1)[3].log()))
    assert told.shape == ids.shape
