"""The teacher: an average of the student's past, or the student itself."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from codeenv.errors import UsageError
from codeenv.feedback.loss.values import wide


class EmaTeacher:
    """A teacher that follows a student slowly: ``teacher += rate * (student - teacher)``.

    Half-precision parameters are averaged in single precision, where a step of 5 % of a small
    change is not lost in rounding. Buffers are copied. Modules that cannot be deep-copied (sharded
    ones) can have a live teacher only.
    """

    def __init__(self, model: nn.Module, *, rate: float | None = 0.05) -> None:
        """Start as a copy of the model.

        Args:
            model: The student.
            rate: Share of the student in each update, in (0, 1]; ``None``: a live teacher, which
                is the model itself and takes no memory.

        Raises:
            UsageError: If the rate is out of range.
        """
        if rate is not None and not 0 < rate <= 1:
            raise UsageError(f"rate must be in (0, 1], or None for a live teacher, not {rate}")
        self.rate = rate
        self._model = model if rate is None else copy.deepcopy(model).eval().requires_grad_(False)
        # In single precision this is the parameter itself, not a second copy.
        parameters = () if rate is None else self._model.named_parameters()
        self._average: dict[str, Tensor] = {name: wide(p.detach()) for name, p in parameters}

    def update(self, model: nn.Module) -> None:
        """Move towards the student; call once after each optimiser step.

        Raises:
            UsageError: If the model has other parameters or buffers than the teacher.
        """
        if self.rate is None:
            self._model = model
            return
        theirs, buffers = dict(model.named_parameters()), dict(model.named_buffers())
        mine = dict(self._model.named_parameters()), dict(self._model.named_buffers())
        if _shapes(theirs, buffers) != _shapes(*mine):
            raise UsageError("the model has other parameters or buffers than its teacher")
        with torch.no_grad():
            for name, value in mine[0].items():
                average = self._average[name]
                average.lerp_(theirs[name].to(average), self.rate)
                value.copy_(average)
            for name, value in mine[1].items():
                value.copy_(buffers[name])

    @contextmanager
    def scoring(self) -> Iterator[nn.Module]:
        """Yield the teacher in evaluation mode without gradients; its modes are put back after."""
        modes = [(module, module.training) for module in self._model.modules()]
        self._model.eval()
        try:
            with torch.no_grad():
                yield self._model
        finally:
            for module, training in modes:
                module.training = training

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint needs; a live teacher has nothing of its own."""
        if self.rate is None:
            return {}
        return {"model": self._model.state_dict(), "average": dict(self._average)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take up where a checkpoint was.

        Raises:
            UsageError: If the checkpoint is of another kind of teacher or of another model.
        """
        if self.rate is None and not state:
            return
        if self.rate is None or set(state) != {"model", "average"}:
            raise UsageError("the checkpoint is of another kind of teacher")
        if _shapes(state["average"]) != _shapes(self._average):
            raise UsageError("the checkpoint is of another model")
        self._model.load_state_dict(state["model"])
        for name, value in self._average.items():
            value.copy_(state["average"][name])


def _shapes(*named: Mapping[str, Tensor]) -> list[dict[str, tuple[int, ...]]]:
    return [{name: tuple(value.shape) for name, value in group.items()} for group in named]
