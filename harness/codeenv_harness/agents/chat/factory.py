"""Makes the chat agents of a run; they share client and budget."""

from codeenv.materialise.models import Task
from codeenv_harness.agents.chat.agent import ChatAgent
from codeenv_harness.agents.chat.client import ChatClient


class ChatFactory:
    """An agent factory over one client."""

    def __init__(self, client: ChatClient) -> None:
        """Take the client."""
        self._client = client

    def __call__(self, task: Task) -> ChatAgent:
        """Return an agent for one episode."""
        return ChatAgent(self._client)

    def close(self) -> None:
        """Let go of every request that is under way."""
        self._client.close()
