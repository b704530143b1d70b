"""``chat:MODEL``: a model behind any server that speaks OpenAI's chat completions with tools."""

from codeenv_harness.agents.chat.agent import ChatAgent
from codeenv_harness.agents.chat.answers import Answer
from codeenv_harness.agents.chat.client import ChatClient, ContextExceeded
from codeenv_harness.agents.chat.factory import ChatFactory
from codeenv_harness.agents.chat.options import ChatOptions

__all__ = ["Answer", "ChatAgent", "ChatClient", "ChatFactory", "ChatOptions", "ContextExceeded"]
