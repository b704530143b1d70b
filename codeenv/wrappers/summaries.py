"""What is a summary among actions, and the space of calls and summaries."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from codeenv.env.spaces import UnicodeText
from codeenv.tools import ToolCall, parse_action

_ONE_IN = 8


class SummaryOrCall(spaces.Space[Any]):
    """Every action of the environment, and every summary: a text, or ``{"summary": text}``.

    Samples are calls, and one in eight a summary.
    """

    def __init__(
        self, calls: spaces.Space[Any], seed: int | np.random.Generator | None = None
    ) -> None:
        """Add summaries to a space of calls."""
        self.calls = calls
        self.summaries = UnicodeText(min_length=1)
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Texts are not arrays."""
        return False

    def seed(self, seed: Any = None) -> Any:  # noqa: ANN401 - Gymnasium's signature
        """Seed this space and the two it is made of."""
        self.calls.seed(seed)
        self.summaries.seed(seed)
        return super().seed(seed)

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - Gymnasium's signature
        """Return whether ``x`` is a call or a summary."""
        return self.calls.contains(x) or summary_of(x) is not None

    def sample(self, mask: Any = None, probability: Any = None) -> Any:  # noqa: ANN401
        """Return a call, or now and then a summary; there are no masks.

        Raises:
            ValueError: If a mask is given.
        """
        if mask is not None or probability is not None:
            raise ValueError("calls and summaries are sampled without masks")
        if self.np_random.integers(_ONE_IN):
            return self.calls.sample()
        return {"summary": self.summaries.sample()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SummaryOrCall) and self.calls == other.calls

    def __hash__(self) -> int:
        return hash(self.calls)

    def __repr__(self) -> str:
        return f"SummaryOrCall({self.calls!r})"


def summary_of(action: object) -> str | None:
    """Return the summary an action is, or None: any text that is no call, ``{"summary": text}``."""
    if isinstance(parse_action(action), ToolCall):
        return None
    said = _json(action) if isinstance(action, str) else action
    text = said.get("summary") if isinstance(said, Mapping) else None
    if text is None and isinstance(action, str):
        text = action
    if not isinstance(text, str) or not text.strip():
        return None
    return text.encode("utf-8", "replace").decode()


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
