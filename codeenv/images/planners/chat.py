"""``chat:MODEL``: a model behind any server that speaks OpenAI's chat completions with tools."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from openai import OpenAI, OpenAIError
from openai.types.chat import ChatCompletionToolUnionParam
from pydantic import ValidationError

from codeenv.errors import BackendUnavailable, BuildError
from codeenv.images.planners.base import ACTIONS, Bench, Brief, Done, Install, Run

_TURNS = 60
_TASK = """\
You make the environment in which a repository's tests run. Fixed rules have made one already;
not all tests pass in it, or not all checks hold. You are given what the repository's files say,
what the rules did and what came of it. Look around with `run`, decide with `install`, and call
`done` when nothing better is in sight. `install` replaces the whole environment: name every
requirement again. Tests run without network; those that need it cannot pass and do not matter.
The environment is judged by commands that you do not see, so make it right as a whole.
"""


class ChatPlanner:
    """Talks with a model until it is done.

    The address and the key of the server are the SDK's: ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``.
    """

    def __init__(self, model: str) -> None:
        """Keep the model's name and make the client.

        Raises:
            BackendUnavailable: If no key is set.
        """
        self.model = model
        try:
            self._client = OpenAI()
        except OpenAIError as error:
            raise BackendUnavailable(
                f"no chat server is configured: {error}",
                hint="set OPENAI_API_KEY, and OPENAI_BASE_URL for another server",
            ) from error

    def plan(self, brief: Brief, bench: Bench) -> None:
        """Let the model act until it is done, says nothing to do, or had its turns.

        Raises:
            BuildError: If the server does not answer, or refuses.
        """
        messages: list[Any] = [
            {"role": "system", "content": _TASK},
            {"role": "user", "content": json.dumps(asdict(brief))},
        ]
        for _ in range(_TURNS):
            message = self._answer(messages)
            messages.append(message)
            calls = message.get("tool_calls") or []
            if not calls:
                return
            for call in calls:
                said = _act(call["function"], bench)
                if said is None:
                    return
                content = json.dumps(said)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})

    def _answer(self, messages: list[Any]) -> dict[str, Any]:
        try:
            reply = self._client.chat.completions.create(
                model=self.model, messages=messages, tools=_tools()
            )
        except (OpenAIError, ValueError) as error:  # the SDK lets errors of JSON through
            raise BuildError(
                f"the model {self.model} does not answer: {error}",
                hint="check OPENAI_BASE_URL, OPENAI_API_KEY and the name of the model",
            ) from error
        choices = getattr(reply, "choices", None)  # a text, if the server speaks something else
        if not choices:
            raise BuildError(
                f"the server answers for {self.model}, but with no chat completion",
                hint="does OPENAI_BASE_URL end as the server wants it, e.g. in /v1?",
            )
        message: dict[str, Any] = choices[0].message.model_dump(exclude_none=True)
        return message


def _act(function: Mapping[str, str], bench: Bench) -> dict[str, object] | None:
    """Do what a call asks for; None is the end."""
    try:
        arguments = json.loads(function["arguments"] or "{}")
        action = ACTIONS.validate_python({**arguments, "action": function["name"]})
    except (ValueError, TypeError, ValidationError) as error:
        return {"problem": f"the call cannot be read: {error}"}
    return None if isinstance(action, Done) else bench.act(action)


def _tools() -> list[ChatCompletionToolUnionParam]:
    """Return the actions as tools of the chat."""
    tools: list[ChatCompletionToolUnionParam] = []
    for kind in (Run, Install, Done):
        schema = kind.model_json_schema()
        description = schema.pop("description", "")
        schema["properties"].pop("action")
        name = kind.__name__.lower()
        tools.append({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": schema},
        })  # fmt: skip
    return tools
