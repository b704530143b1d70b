"""From one teacher pair to its loss: for trainers that take pairs one by one."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from codeenv.feedback.loss.divergence import REVERSE
from codeenv.feedback.loss.hint import HintBatch, hint_loss
from codeenv.feedback.loss.teacher import EmaTeacher
from codeenv.feedback.loss.values import wide
from codeenv.feedback.pairs import TeacherPair


def token_log_probs(logits: Tensor, ids: Tensor) -> Tensor:
    """Return the log-probabilities (nats) of tokens.

    Args:
        logits: (..., T, V) that predict the tokens; of a sequence, without its last place.
        ids: (..., T); of a sequence, without its first token.

    Returns:
        (..., T) in at least single precision.
    """
    return wide(logits).log_softmax(-1).gather(-1, ids[..., None])[..., 0]


def pair_loss(
    model: Callable[[Tensor], Any],
    teacher: EmaTeacher,
    pair: TeacherPair,
    *,
    normaliser: float,
    alpha: float = REVERSE,
    weight: float = 1.0,
    **clips: Any,  # noqa: ANN401 - those of hint_loss
) -> Tensor:
    """Return the hint loss of one pair, with gradient.

    Args:
        model: Maps ids (1, T) to logits (1, T, V), or to what has them as ``logits``, as models of
            transformers do.
        teacher: Of the same model.
        pair: What ``build_teacher_pair`` returned.
        normaliser: See ``hint_loss``.
        alpha: Direction; see ``divergence``.
        weight: Of the event.
        clips: ``kappa``, ``rho_max``, ``top_k``, ``support``, ``rescale``: see ``hint_loss``.
    """
    student, first = _spanned(model, pair.student_ids, pair.student_span)
    with teacher.scoring() as scorer:
        wanted, _ = _spanned(scorer, pair.teacher_ids, pair.teacher_span)
    logp = token_log_probs(student, first)
    old = logp if pair.logprobs is None else torch.tensor([pair.logprobs]).to(logp)
    one = torch.ones(1).to(logp)
    mask = torch.tensor([pair.span_mask], device=logp.device)
    batch = HintBatch(student, wanted, logp, old, mask, weight * one, alpha * one)
    return hint_loss(batch, normaliser=normaliser, **clips)[0]


def _spanned(
    model: Callable[[Tensor], Any], ids: tuple[int, ...], span: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Return the logits (1, n, V) that predict a span, and its tokens (1, n)."""
    device = next((p.device for p in getattr(model, "parameters", tuple)()), None)
    row = torch.tensor([ids[: span[1]]], device=device)
    out = model(row)
    logits: Tensor = getattr(out, "logits", out)
    return logits[:, span[0] - 1 : span[1] - 1], row[:, span[0] :]
