"""The hint loss: the teacher's distribution, at the tokens that an event targets."""

from dataclasses import dataclass

from torch import Tensor

from codeenv.errors import UsageError
from codeenv.feedback.loss.divergence import Support, divergence
from codeenv.feedback.loss.values import boolean, mean, ratio, require_positive, require_shape


@dataclass(frozen=True, eq=False)
class HintBatch:
    """E events, padded to T target tokens; a row may stand for any turn of any rollout.

    Attributes:
        student_logits: (E, T, V) that predict the target tokens in the student's context, with
            gradient.
        teacher_logits: (E, T, V) that predict the same tokens in the context with the hint.
        logp: (E, T) log-probabilities of the target tokens under the student.
        rollout_logp: (E, T) the same as the sampler recorded them. Where they are not known, pass
            ``logp``: the data then count as on-policy.
        mask: (E, T), 1 in the targeted part of the turn (s_et). What is elsewhere is never looked
            at, so padding may hold anything.
        weights: (E,) w_e.
        alpha: (E,) the direction per event: see ``divergence`` and ``choose_alpha``.

    Raises:
        UsageError: If the shapes do not fit together.
    """

    student_logits: Tensor
    teacher_logits: Tensor
    logp: Tensor
    rollout_logp: Tensor
    mask: Tensor
    weights: Tensor
    alpha: Tensor

    def __post_init__(self) -> None:
        """Check the shapes."""
        if self.student_logits.dim() != 3:
            shape = tuple(self.student_logits.shape)
            raise UsageError(f"student_logits must be (events, tokens, vocabulary), not {shape}")
        events, tokens, _ = self.student_logits.shape
        require_shape("teacher_logits", self.teacher_logits, self.student_logits.shape)
        for name in ("logp", "rollout_logp", "mask"):
            require_shape(name, getattr(self, name), (events, tokens))
        for name in ("weights", "alpha"):
            require_shape(name, getattr(self, name), (events,))


@dataclass(frozen=True)
class HintStats:
    """What a hint loss was made of; plain numbers, detached.

    Attributes:
        tokens: Target tokens that counted.
        mean_divergence: Their mean divergence in nats, before ``kappa``.
        kappa_fraction: Share of them above ``kappa``; cut off, they give no gradient.
        mean_ratio: Mean of rho before its clip; 1 where the data are on-policy.
        rho_fraction: Share of them whose ratio was clipped.
    """

    tokens: int
    mean_divergence: float
    kappa_fraction: float
    mean_ratio: float
    rho_fraction: float


def hint_loss(
    batch: HintBatch,
    *,
    normaliser: float,
    kappa: float = 5.0,
    rho_max: float = 2.0,
    top_k: int | None = None,
    support: Support = "student",
    rescale: bool = False,
) -> tuple[Tensor, HintStats]:
    """Return ``1/(N L0) sum_e w_e sum_t s_et min(rho_et, rho_max)_sg min(D_et, kappa)``.

    Args:
        batch: The events, in any number; none gives 0.
        normaliser: ``N * L0``, the one of ``policy_gradient_loss`` and not the number of events.
        kappa: Clip of a token's divergence in nats. Tokens of style have many times the divergence
            of others; one that is cut off gives no gradient.
        rho_max: Clip of the ratio, which corrects for data that an older policy sampled.
        top_k: See ``divergence``; ``None`` fits vocabularies up to some 8,000, else 20 to 100.
        support: See ``divergence``.
        rescale: Above ``kappa``, scale a token's divergence down to it instead of cutting it off:
            the same value, but its gradient stays, ``kappa / D`` of what it was. A student that
            does what its teacher wants less than once in a few hundred times is above 5 nats in
            forward KL: cut off, it would never learn it.

    Returns:
        The loss (a scalar), and what it was made of.

    Raises:
        UsageError: If a number is out of range or the mask holds other values than 0 and 1.
    """
    for name, value in (("normaliser", normaliser), ("kappa", kappa), ("rho_max", rho_max)):
        require_positive(name, value)
    rows = boolean(batch.mask)
    event = rows.nonzero()[:, 0]
    distance = divergence(
        batch.student_logits[rows],
        batch.teacher_logits[rows],
        batch.alpha[event],
        top_k=top_k,
        support=support,
    )
    rho = ratio(batch.logp.detach()[rows], batch.rollout_logp.detach()[rows])
    weight = batch.weights.detach()[event] * rho.clamp(max=rho_max)
    scaled = distance * (kappa / distance.detach().clamp(min=kappa))
    held = scaled if rescale else distance.clamp(max=kappa)
    loss = (weight * held).sum() / normaliser
    return loss, HintStats(
        tokens=len(event),
        mean_divergence=mean(distance),
        kappa_fraction=mean((distance > kappa).double()),
        mean_ratio=mean(rho),
        rho_fraction=mean((rho > rho_max).double()),
    )
