"""Which direction and weight an event's divergence has."""

from typing import NamedTuple

import torch
from torch import Tensor

from codeenv.errors import UsageError
from codeenv.feedback.loss.divergence import FORWARD, REVERSE
from codeenv.feedback.loss.values import boolean, require_shape, wide

_FORWARD_WEIGHT = 0.3


class AlphaChoice(NamedTuple):
    """Per event: ``alpha`` and ``weight``, both of the shape that was asked about."""

    alpha: Tensor
    weight: Tensor


def choose_alpha(p_student: Tensor, threshold: float = 0.05) -> AlphaChoice:
    """Choose the direction by whether the student ever does what the teacher would.

    Reverse KL weighs by the student's own probability, so it cannot raise what the student never
    does: below the threshold the choice is forward with the weight 0.3, else reverse with 1.
    The forward gradient is larger, and with the weight 1 it takes the step from the reward.

    Args:
        p_student: (E,) the student's probability of the teacher's likeliest token, at the first
            token of each event's span: ``teacher_choice_probability``.
        threshold: Where "never" ends.
    """
    never = p_student.detach() < threshold
    one = torch.ones_like(wide(p_student.detach()))
    return AlphaChoice(
        alpha=torch.where(never, FORWARD * one, REVERSE * one),
        weight=torch.where(never, _FORWARD_WEIGHT * one, one),
    )


def teacher_choice_probability(
    student_logits: Tensor, teacher_logits: Tensor, mask: Tensor
) -> Tensor:
    """Return what the student thinks of the teacher's likeliest token where the span begins.

    Args:
        student_logits: (E, T, V).
        teacher_logits: (E, T, V).
        mask: (E, T), 1 in the span of each event.

    Returns:
        (E,) probabilities, detached.

    Raises:
        UsageError: If the shapes differ or an event's span is empty.
    """
    require_shape("teacher_logits", teacher_logits, student_logits.shape)
    require_shape("mask", mask, student_logits.shape[:-1])
    rows = boolean(mask)
    if not bool(rows.any(-1).all()):
        raise UsageError("an event has no token in its span")
    events = torch.arange(len(rows), device=rows.device)
    first = rows.int().argmax(-1)
    probabilities = wide(student_logits.detach()[events, first]).softmax(-1)
    likeliest = teacher_logits.detach()[events, first].argmax(-1)
    return probabilities[events, likeliest]
