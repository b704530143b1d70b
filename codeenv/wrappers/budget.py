"""All wrappers together take and give less than a solution is worth; see ``Budgeted``."""

from typing import Any, Self

from codeenv.errors import UsageError
from codeenv.wrappers.parts import RewardWrapper, TextEnv, forked

_STAKE = "stake"
_MARGIN = 1e-9
"""Sums of parts are rounded."""


class Budgeted(RewardWrapper):
    """Base of the wrappers that change the reward, so that a solution always pays best.

    Each declares its *stake*: the most it takes from a solved episode, plus the most that it gives
    to another.  A solution is worth 1, so where the stakes of a stack sum to less, every solved
    episode is paid more than any other, whatever happens in either.

    Attributes:
        stake: Of this wrapper and all that it wraps, below 1.
    """

    def __init__(
        self,
        env: TextEnv,
        names: tuple[str, ...],
        stake: float,
        **made_with: Any,  # noqa: ANN401 - a wrapper's own
    ) -> None:
        """Take the names of the parts and what is at stake.

        Raises:
            UsageError: If a name is taken, or a solution might not pay any more.
        """
        super().__init__(env, names, **made_with)
        before: float = env.get_wrapper_attr(_STAKE) if env.has_wrapper_attr(_STAKE) else 0.0
        self.stake = before + stake
        if not self.stake < 1 - _MARGIN:
            told = f"{stake:.3g} of {type(self).__name__} and {before:.3g} of what it wraps"
            raise UsageError(
                f"the wrappers might take all that a solved task is worth: {told}, of 1",
                hint="giving up must not pay: take lower weights or caps",
            )

    def fork(self) -> Self:
        """Return another environment that goes on from here; see ``CodeRepoEnv.fork``.

        What only checks the calls of an environment stays behind.

        Raises:
            UsageError: If what it wraps cannot fork.
        """
        other = type(self)(forked(self.env), **self._saved_kwargs)
        self._hand_over(other)
        return other

    def _hand_over(self, other: Self) -> None:
        """Give another, new one what was noted of the episode so far."""
