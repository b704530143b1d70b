"""An agent that does nothing: what it scores, a task gives away."""

from codeenv.tools import ToolCall, ToolResult
from codeenv_harness.agents.base import Briefing


class NopAgent:
    """Submits at once."""

    name = "nop"

    def reset(self, briefing: Briefing) -> None:
        """Nothing to remember."""

    def act(self, observation: ToolResult | None) -> ToolCall:
        """Submit."""
        return ToolCall(tool="submit", arguments={"message": "nothing done"})
