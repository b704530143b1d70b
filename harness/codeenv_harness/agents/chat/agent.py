"""An agent that is a chat model: its messages are the history, and they only grow."""

from collections import deque
from typing import Any

from codeenv.tools import ToolResult
from codeenv.trajectory import StepMetrics
from codeenv_harness.agents.base import Briefing
from codeenv_harness.agents.chat.answers import Answer
from codeenv_harness.agents.chat.client import ChatClient, ContextExceeded
from codeenv_harness.agents.stops import Ended


class ChatAgent:
    """Plays with the tool calls of a model, also several in one answer.

    Calls of one answer are carried out one after the other, each a step; the model reads all
    results before it answers again.  What it says without a call goes to the environment as it is,
    and comes back as an error that says how a call looks.
    """

    name = "chat"

    def __init__(self, client: ChatClient) -> None:
        """Take the model."""
        self._client = client
        self.model = client.model

    def reset(self, briefing: Briefing) -> None:
        """Begin an episode."""
        system = self._client.options.system
        self._messages: list[dict[str, Any]] = [
            *([{"role": "system", "content": system}] if system else []),
            {"role": "user", "content": briefing.instruction},
        ]
        self._tools, self._seed = briefing.tools, briefing.seed
        self._calls = deque[tuple[str, str, str]]()
        self._open, self._answers = "", 0
        self._metrics: StepMetrics | None = None

    def act(self, observation: ToolResult | None) -> object:
        """Return the next call of the model's last answer, or of a new one."""
        if observation is not None:
            self._messages.append(self._told(observation.text))
        self._metrics = None
        beside: dict[str, object] = {}
        if not self._calls:
            try:
                answer = self._ask()
            except ContextExceeded:
                return Ended("context_exceeded")
            beside = {"content": answer.words, "reasoning_content": answer.reasoning}
            if not answer.calls:
                self._open = ""
                return beside if answer.reasoning else answer.words
        self._open, name, arguments = self._calls.popleft()
        return {"tool": name, "arguments": arguments, **beside}

    def metrics(self) -> StepMetrics | None:
        """Return the tokens of the last answer, with the first of its calls."""
        return self._metrics

    def _ask(self) -> Answer:
        self._answers += 1
        answer = self._client.answer(
            self._messages, self._tools, seed=self._seed, number=self._answers
        )
        self._messages.append(answer.message)
        self._calls.extend(answer.calls)
        self._metrics = answer.metrics
        return answer

    def _told(self, text: str) -> dict[str, Any]:
        if self._open:
            return {"role": "tool", "tool_call_id": self._open, "content": text}
        return {"role": "user", "content": text}
