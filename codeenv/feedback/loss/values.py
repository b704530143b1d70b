"""What all parts of the loss ask of their tensors."""

import torch
from torch import Tensor

from codeenv.errors import UsageError

_LOG_RATIO = 20.0


def wide(values: Tensor) -> Tensor:
    """Return the values in at least single precision: losses are not computed in half of it."""
    return values if values.dtype == torch.float64 else values.float()


def ratio(logp: Tensor, rollout_logp: Tensor) -> Tensor:
    """Return ``exp(logp - rollout_logp)``, finite: the log-ratio is held within 20 nats."""
    return (wide(logp) - wide(rollout_logp)).clamp(-_LOG_RATIO, _LOG_RATIO).exp()


def boolean(mask: Tensor, name: str = "mask") -> Tensor:
    """Return a mask of zeros and ones as booleans.

    Raises:
        UsageError: If it holds anything else: a weight is no mask.
    """
    if mask.dtype == torch.bool:
        return mask
    if not bool(((mask == 0) | (mask == 1)).all()):
        raise UsageError(f"{name} must be boolean, or zeros and ones")
    return mask.bool()


def mean(values: Tensor) -> float:
    """Return the mean as a detached number; 0 of nothing."""
    return float(values.detach().double().mean()) if values.numel() else 0.0


def require_shape(name: str, value: Tensor, shape: tuple[int, ...]) -> None:
    """Compare shapes.

    Raises:
        UsageError: If they differ. Nothing is broadcast silently.
    """
    if tuple(value.shape) != tuple(shape):
        raise UsageError(f"{name} has the shape {tuple(value.shape)}, not {tuple(shape)}")


def require_positive(name: str, value: float) -> None:
    """Check a number.

    Raises:
        UsageError: If it is not above zero.
    """
    if not value > 0:
        raise UsageError(f"{name} must be above 0, not {value}")
