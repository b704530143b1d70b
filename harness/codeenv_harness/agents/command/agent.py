"""A program in the box that acts by itself; its model, if it asks for one, is ours."""

import time
from collections.abc import Mapping
from typing import Any

from codeenv.grading.models import Reason
from codeenv.trajectory import plain, utc_now
from codeenv_harness.agents.chat.client import ChatClient, ContextExceeded, RequestRefused
from codeenv_harness.agents.command.options import CommandOptions
from codeenv_harness.agents.command.relay import Asked, Exited, Relay, Reply
from codeenv_harness.agents.command.talk import Talk
from codeenv_harness.agents.resident import Deed, Stay
from codeenv_harness.agents.stops import AgentUnavailable

_WAIT = 20.0
"""Seconds of one look at what the program wants; then it is looked at whether time is up."""
_OWN = (
    *("tools", "tool_choice", "parallel_tool_calls", "response_format", "stop"),
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort"),
    *("presence_penalty", "frequency_penalty", "logit_bias"),
)
"""Fields of a request that a program may set; where an option says otherwise, that counts."""
_NOT_THERE = (126, 127)


class CommandAgent:
    """Plays by one command line, run in the workspace with the instruction on standard input.

    It hands in what it did by exiting with 0.

    Args:
        command: For ``bash -c``.
        options: What the program gets.
        client: Of its model, if it has one.
    """

    name = "cmd"

    def __init__(
        self, command: str, options: CommandOptions, client: ChatClient | None = None
    ) -> None:
        """Take the command."""
        self._command, self._options, self._client = command, options, client
        self.model = options.model or None

    def live(self, stay: Stay) -> Reason:
        """Run the program to its end, and answer what it asks.

        Raises:
            AgentError: If the model does not answer.
            AgentUnavailable: If there is no such program.
        """
        relay, talk = Relay(stay.sandbox), Talk(stay)
        options = self._options
        deadline = time.monotonic() + options.time_limit
        relay.start(self._command, stay.briefing.instruction, model=options.model, env=options.env)
        ended = self._attend(relay, talk, stay, deadline)
        if isinstance(ended, Exited):
            return self._exited(relay, stay, ended)
        return ended

    def _attend(self, relay: Relay, talk: Talk, stay: Stay, deadline: float) -> Exited | Reason:
        reply: Reply | None = None
        while not stay.over():
            left = deadline - time.monotonic()
            if left <= 0:
                return "wall_time"
            event = relay.poll(min(_WAIT, left, stay.time_left()), reply)
            reply = None
            if isinstance(event, Exited):
                return event
            if isinstance(event, Asked):
                talk.asked(event.request)
                if not stay.next_step():
                    break
                reply = self._answer(event, talk, stay)
        return "wall_time"  # what ended the episode has said why already

    def _answer(self, asked: Asked, talk: Talk, stay: Stay) -> Reply:
        """Ask the model; a request that it refuses is the program's own affair."""
        assert self._client is not None, "without a model there is no server to ask"
        request = plain(asked.request)
        own = {name: request[name] for name in _OWN if request.get(name) is not None}
        messages, tools = request.get("messages"), own.pop("tools", [])
        if not _listed(messages) or not _listed(tools):
            return _refused(asked.number, 400, "messages and tools are lists of objects", None)
        place = {"seed": stay.briefing.seed, "number": len(stay.deeds) + 1}
        try:
            answer = self._client.answer(messages, tools, **place, more=own)
        except ContextExceeded as error:
            return _refused(asked.number, 400, str(error), "context_length_exceeded")
        except RequestRefused as error:
            return _refused(asked.number, error.status, error.message, None)
        except (TypeError, ValueError) as error:  # the SDK cannot make a request of it
            return _refused(asked.number, 400, str(error), None)
        talk.answered(answer)
        return Reply(asked.number, 200, answer.reply)

    def _exited(self, relay: Relay, stay: Stay, ended: Exited) -> Reason:
        output = plain(relay.output())
        if ended.code in _NOT_THERE and not stay.deeds:
            told = " ".join(output.split())[:300]
            raise AgentUnavailable(
                f"cmd:{self._command}: exit code {ended.code}: {told}",
                hint="--agent-option upload=PATH takes a program into the box, to /opt/agent",
            )
        code = "not known" if ended.code is None else ended.code
        stay.facts["program"] = {
            "command": self._command,
            "exit_code": ended.code,
            "output": output,
        }
        if not stay.deeds and stay.next_step():  # it acted without a model
            stay.deeds.append(_deed(self._command, f"{output}\n[exit code {code}]"))
        return "submitted" if ended.code == 0 else "agent_gave_up"


def _listed(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _deed(command: str, told: str) -> Deed:
    call = ("call_1", "program", {"command": command})
    result: Mapping[str, Any] = {"role": "tool", "tool_call_id": "call_1", "content": told}
    return Deed("", utc_now(), calls=(call,), after=(result,))


def _refused(number: int, status: int, told: str, code: str | None) -> Reply:
    error = {"message": told, "type": "invalid_request_error", "code": code}
    return Reply(number, status, {"error": error})
