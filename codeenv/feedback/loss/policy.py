"""Advantages within groups, and the clipped policy gradient with a constant normaliser."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from codeenv.errors import UsageError
from codeenv.feedback.loss.values import boolean, mean, ratio, require_positive, require_shape, wide

_STD_FLOOR = 1e-4


@dataclass(frozen=True)
class PolicyStats:
    """What a policy gradient was made of; plain numbers, detached.

    Attributes:
        tokens: Tokens that counted.
        clip_fraction: Share of them whose gradient was clipped away.
        mean_ratio: Mean of rho; 1 where the data are on-policy.
        approx_kl: Mean of ``rho - 1 - log rho`` in nats: how far the student is from the sampler.
    """

    tokens: int
    clip_fraction: float
    mean_ratio: float
    approx_kl: float


def group_advantages(
    rewards: Tensor,
    groups: Tensor | Sequence[int],
    *,
    valid: Tensor | None = None,
    std: bool = False,
) -> Tensor:
    """Return each reward less the mean of its group.

    Args:
        rewards: (N,), any float or integer type.
        groups: (N,), equal numbers for rollouts of one task.
        valid: (N,) boolean; a reward that is not valid (``reward_valid=False``) may hold anything,
            counts in no mean and gets the advantage 0. Default: all are.
        std: Also divide by the sample standard deviation of the group (+ 1e-4), as GRPO does.
            Off: it lets tasks weigh most that are nearly always or never solved.

    Returns:
        (N,) float. A group with a single valid reward gets 0.

    Raises:
        UsageError: If the shapes differ.
    """
    ids = torch.as_tensor(groups, device=rewards.device)
    use = torch.ones_like(rewards, dtype=torch.bool) if valid is None else boolean(valid, "valid")
    if rewards.dim() != 1:
        raise UsageError(f"rewards must be of one dimension, not {tuple(rewards.shape)}")
    require_shape("groups", ids, rewards.shape)
    require_shape("valid", use, rewards.shape)
    names, group = torch.unique(ids, return_inverse=True)
    values = torch.where(use, wide(rewards), 0)

    def total(of: Tensor) -> Tensor:
        return torch.zeros(len(names), dtype=of.dtype, device=of.device).index_add(0, group, of)

    count = total(use.to(values.dtype))
    centred = torch.where(use, values - (total(values) / count.clamp(min=1))[group], 0)
    if not std:
        return centred
    deviation = (total(centred.square()) / (count - 1).clamp(min=1)).sqrt()
    return centred / (deviation[group] + _STD_FLOOR)


def policy_gradient_loss(
    logp: Tensor,
    rollout_logp: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    normaliser: float,
    eps_lo: float = 0.2,
    eps_hi: float = 0.28,
) -> tuple[Tensor, PolicyStats]:
    """Return the clipped policy gradient, summed over tokens and divided by a constant.

    Args:
        logp: (N, T) log-probabilities of the sampled tokens under the student, with gradient.
        rollout_logp: (N, T) the same under the sampler, as it recorded them. Taken as constants.
        advantages: (N,) or (N, T). Taken as constants.
        mask: (N, T), 1 at tokens that the model wrote. What is elsewhere is never looked at, so
            padding may hold anything.
        normaliser: ``N * L0``: rollouts of the step times a constant length, such as the largest
            number of tokens of a rollout. No length of the batch's own, so no length is favoured.
            With gradient accumulation, N is that of all micro-batches together.
        eps_lo: The ratio's lower clip is ``1 - eps_lo``.
        eps_hi: The ratio's upper clip is ``1 + eps_hi``.

    Returns:
        The loss (a scalar), and what it was made of.

    Raises:
        UsageError: If shapes differ, the mask has other values, or the normaliser is not positive.
    """
    require_positive("normaliser", normaliser)
    if logp.dim() != 2:
        raise UsageError(f"logp must be (rollouts, tokens), not {tuple(logp.shape)}")
    require_shape("rollout_logp", rollout_logp, logp.shape)
    require_shape("mask", mask, logp.shape)
    require_shape("advantages", advantages, logp.shape[: advantages.dim()] or logp.shape)
    rows = boolean(mask)
    each = advantages if advantages.dim() == 2 else advantages[:, None].expand_as(logp)
    gain = wide(each.detach())[rows]
    rho = ratio(logp[rows], rollout_logp.detach()[rows])
    free, clipped = rho * gain, rho.clamp(1 - eps_lo, 1 + eps_hi) * gain
    loss = -torch.minimum(free, clipped).sum() / normaliser
    return loss, PolicyStats(
        tokens=int(rows.sum()),
        clip_fraction=mean((clipped < free).double()),
        mean_ratio=mean(rho),
        approx_kl=mean(rho.detach() - 1 - rho.detach().log()),
    )
