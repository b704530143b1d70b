"""The reference loss: group advantages, and a hint distilled at the tokens that it is about.

Per rollout ``i`` with reward ``R_i`` and model tokens ``t``, and per feedback event ``e``::

    A_i    = R_i - mean of its group                                       group_advantages
    L_PG   = -1/(N L0) sum_i sum_t min(rho A, clip(rho, 1-eps_lo, 1+eps_hi) A)
    D_et   = KL(student || sg teacher), KL(sg teacher || student) or JSD   divergence
    L_hint = 1/(N L0) sum_e w_e sum_t s_et min(rho_et, 2)_sg min(D_et, kappa)
    L      = L_PG + lambda L_hint

``rho`` is the student's probability of a sampled token over the sampler's, ``sg`` stops the
gradient, ``s_et`` is the mask of the span that the event targets, and the teacher is the same model
(an average of its past, ``EmaTeacher``) that reads the hint before that span. Both losses share the
normaliser ``N L0``, so a hint token and a reward token are on one scale, lambda is 1, and it stays
1 however many errors there are.

Needs the extra ``torch``; nothing else in the library imports this package. All logarithms are
natural: divergences are in nats.

Sources: Dr. GRPO arXiv 2503.20783; asymmetric clips arXiv 2503.14476; distillation between two
contexts of one model, top-k with a tail, and alpha as in its public ports arXiv 2601.20802; hints
on single turns arXiv 2603.10165.
"""

from codeenv.errors import UsageError

try:
    import torch as _torch
except ImportError as error:
    raise UsageError(
        "codeenv.feedback.loss needs torch", hint="pip install 'codeenv-gym[torch]'"
    ) from error

from codeenv.feedback.loss.direction import AlphaChoice, choose_alpha, teacher_choice_probability
from codeenv.feedback.loss.divergence import FORWARD, REVERSE, divergence
from codeenv.feedback.loss.hint import HintBatch, HintStats, hint_loss
from codeenv.feedback.loss.pairs import pair_loss, token_log_probs
from codeenv.feedback.loss.policy import PolicyStats, group_advantages, policy_gradient_loss
from codeenv.feedback.loss.teacher import EmaTeacher

del _torch

__all__ = [
    "FORWARD",
    "REVERSE",
    "AlphaChoice",
    "EmaTeacher",
    "HintBatch",
    "HintStats",
    "PolicyStats",
    "choose_alpha",
    "divergence",
    "group_advantages",
    "hint_loss",
    "pair_loss",
    "policy_gradient_loss",
    "teacher_choice_probability",
    "token_log_probs",
]
