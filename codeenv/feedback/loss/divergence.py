"""How far a student's next-token distribution is from its teacher's."""

from typing import Literal

import torch
from torch import Tensor

from codeenv.errors import UsageError
from codeenv.feedback.loss.values import require_shape, wide

Support = Literal["student", "teacher"]
FORWARD = 0.0
"""KL(teacher || student): raises what the student never does."""
REVERSE = 1.0
"""KL(student || teacher): weighs by what the student does, and lowers what it should not."""
# exp(-1000) is 0 in every type, while a masked token (logit -inf) keeps finite differences.
_FLOOR = -1000.0


def divergence(
    student_logits: Tensor,
    teacher_logits: Tensor,
    alpha: float | Tensor = REVERSE,
    *,
    top_k: int | None = None,
    support: Support = "student",
) -> Tensor:
    """Return the divergence of each position in nats.

    ``alpha`` says which, as in SDPO (arXiv 2601.20802) and GKD (arXiv 2306.13649). With student S,
    teacher T and their mixture ``M = (1 - alpha) S + alpha T``:

    * 0 (``FORWARD``): KL(T || S);  1 (``REVERSE``): KL(S || T);
    * between: the generalised Jensen-Shannon divergence
      ``alpha KL(T || M) + (1 - alpha) KL(S || M)``, at most ln 2. It does not tend to the ends but
      to 0: near 0 it is ``alpha KL(T || S)``, near 1 it is ``(1 - alpha) KL(S || T)``.

    Args:
        student_logits: (..., V), any float type, with gradient. Half precision is computed in
            single precision. ``-inf`` is a token that cannot be.
        teacher_logits: (..., V) over the same vocabulary. No gradient flows into them.
        alpha: One number in [0, 1], or a tensor that broadcasts to (...): each row its own.
        top_k: Compare only the ``top_k`` tokens that the student finds likeliest, and the rest as
            one token. Never more than the full divergence (data processing). ``None``, or a number
            from V on: the full vocabulary.
        support: Whose likeliest tokens ``top_k`` means. Take the teacher's for forward KL: what the
            student never does is not among its own, and then hardly any gradient points there.

    Returns:
        (...) in single (or double) precision, at least 0 up to rounding. A token that one side
        cannot take counts as one of ``exp(-1000)``, so the result is finite.

    Raises:
        UsageError: If the shapes differ, or ``alpha`` or ``top_k`` is out of range.
    """
    require_shape("teacher_logits", teacher_logits, student_logits.shape)
    student = _log_probs(student_logits)
    teacher = _log_probs(teacher_logits.detach()).to(student.dtype)
    kinds = _alphas(alpha, student)
    if top_k is not None and top_k < 1:
        raise UsageError(f"top_k must be at least 1, not {top_k}")
    if top_k is not None and top_k < student.shape[-1]:
        whose = teacher if support == "teacher" else student.detach()
        likeliest = whose.topk(top_k, dim=-1).indices
        student, teacher = _fold(student, likeliest), _fold(teacher, likeliest)
    result = 0 * student[..., 0]  # part of the graph even where there is no row
    between = (kinds > FORWARD) & (kinds < REVERSE)
    for rows, of in ((kinds == FORWARD, _forward), (kinds == REVERSE, _reverse), (between, _jsd)):
        if rows.any():
            result[rows] = of(student[rows], teacher[rows], kinds[rows][:, None])
    return result


def _log_probs(logits: Tensor) -> Tensor:
    return torch.log_softmax(wide(logits), dim=-1).clamp(min=_FLOOR)


def _alphas(alpha: float | Tensor, student: Tensor) -> Tensor:
    given = torch.as_tensor(alpha, dtype=student.dtype, device=student.device).detach()
    if not bool(((given >= FORWARD) & (given <= REVERSE)).all()):
        raise UsageError("alpha must be in [0, 1]: 0 is forward, 1 is reverse")
    try:
        return given.expand(student.shape[:-1])
    except RuntimeError as error:
        raise UsageError(
            f"alpha has the shape {tuple(given.shape)}, which is not one of {student.shape[:-1]}"
        ) from error


def _fold(log_probs: Tensor, likeliest: Tensor) -> Tensor:
    """Keep some tokens and make one of all others, whose mass is summed and not 1 less the rest."""
    kept = torch.zeros_like(log_probs, dtype=torch.bool).scatter(-1, likeliest, value=True)
    rest = log_probs.masked_fill(kept, -torch.inf).logsumexp(dim=-1, keepdim=True)
    return torch.cat([log_probs.gather(-1, likeliest), rest], dim=-1)


def _kl(first: Tensor, second: Tensor) -> Tensor:
    return (first.exp() * (first - second)).sum(-1)


def _forward(student: Tensor, teacher: Tensor, _: Tensor) -> Tensor:
    return _kl(teacher, student)


def _reverse(student: Tensor, teacher: Tensor, _: Tensor) -> Tensor:
    return _kl(student, teacher)


def _jsd(student: Tensor, teacher: Tensor, alpha: Tensor) -> Tensor:
    mixture = torch.logaddexp(student + torch.log1p(-alpha), teacher + torch.log(alpha))
    part = alpha[..., 0]
    return part * _kl(teacher, mixture) + (1 - part) * _kl(student, mixture)
