"""An agent that makes valid calls at random: the floor any other must beat."""

from codeenv.env.spaces import ActionSpace
from codeenv.tools import Profile, ToolResult
from codeenv_harness.agents.base import Briefing


class RandomAgent:
    """Samples the action space; the same seed makes the same calls."""

    name = "random"

    def __init__(self, profile: Profile = "core4") -> None:
        """Sample from the tools of a profile."""
        self._space = ActionSpace(profile)

    def reset(self, briefing: Briefing) -> None:
        """Seed the draws."""
        self._space.seed(briefing.seed)

    def act(self, observation: ToolResult | None) -> object:
        """Return a random call."""
        return self._space.sample()
