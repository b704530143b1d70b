"""A program in the box that acts by itself; its model, if it asks for one, is ours."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codeenv.grading.models import Reason
from codeenv.trajectory import plain, utc_now
from codeenv_harness.agents.chat.answers import Answer
from codeenv_harness.agents.chat.client import ChatClient, ContextExceeded, RequestRefused
from codeenv_harness.agents.command.options import CommandOptions
from codeenv_harness.agents.command.relay import Asked, Exited, Relay, Reply
from codeenv_harness.agents.command.requests import BadRequest, checked
from codeenv_harness.agents.command.talk import Talk
from codeenv_harness.agents.resident import Deed, Stay
from codeenv_harness.agents.stops import AgentError, AgentUnavailable

_WAIT = 20.0
"""Seconds of one look at what the program wants; then it is looked at whether time is up."""
_NOT_THERE = (126, 127)
_SAY = ({"role": "user", "content": "Say yes."},)
"""A request that no server can refuse, but for what options say."""


class CommandAgent:
    """Plays by one command line, run in the workspace with the instruction on standard input.

    It hands in what it did by exiting with 0.

    Args:
        command: For ``bash -c``.
        options: What the program gets.
        client: Of its model, if it has one.
        ran: Set once the program was seen to run, in any episode of the run.
    """

    name = "cmd"

    def __init__(
        self,
        command: str,
        options: CommandOptions,
        client: ChatClient | None = None,
        ran: threading.Event | None = None,
    ) -> None:
        """Take the command."""
        self._command, self._options, self._client = command, options, client
        self._ran = ran or threading.Event()
        self.model = options.model or None

    def live(self, stay: Stay) -> Reason:
        """Run the program to its end, and answer what it asks.

        Raises:
            AgentError: If the model does not answer.
            AgentUnavailable: If there is no such program, or nothing that can start it.
        """
        relay, options = Relay(stay.sandbox), self._options
        stay.facts["program"] = {"command": self._command, "exit_code": None, "output": ""}
        relay.start(self._command, stay.briefing.instruction, model=options.model, env=options.env)
        deadline = time.monotonic() + options.time_limit
        ended = _Visit(self._client, relay, stay, Talk(stay), deadline).attend()
        return self._exited(relay, stay, ended) if isinstance(ended, Exited) else ended

    def _exited(self, relay: Relay, stay: Stay, ended: Exited) -> Reason:
        told = stay.facts["program"]
        told |= {"exit_code": ended.code, "output": plain(relay.output())}
        missing = ended.code in _NOT_THERE and not stay.deeds
        if missing and not self._ran.is_set():
            line = " ".join(told["output"].split())[:300]
            raise AgentUnavailable(
                f"cmd:{self._command}: exit code {ended.code}: {line}",
                hint="--agent-option upload=PATH takes a program into the box, to /opt/agent",
            )
        if not missing:
            self._ran.set()
        if not stay.deeds and stay.next_step():  # it acted without a model
            code = "not known" if ended.code is None else ended.code
            stay.deeds.append(_deed(self._command, f"{told['output']}\n[exit code {code}]"))
        return "submitted" if ended.code == 0 else "agent_gave_up"


@dataclass
class _Visit:
    """One program while it runs."""

    client: ChatClient | None
    relay: Relay
    stay: Stay
    talk: Talk
    deadline: float
    _steps: int = 0

    def attend(self) -> Exited | Reason:
        """Answer until the program or its time is over; return which."""
        reply: Reply | None = None
        while not self.stay.over():
            if self.left() <= 0:
                self._note_output()
                return "wall_time"
            event = self.relay.poll(min(_WAIT, self.left()), reply)
            reply = None
            if isinstance(event, Exited):
                return event
            if isinstance(event, Asked):
                reply = self._answer(event)
        return "wall_time"  # what ended the episode has said why already

    def left(self) -> float:
        """Return the seconds until the program's or the episode's time is up."""
        return min(self.deadline - time.monotonic(), self.stay.time_left())

    def _answer(self, asked: Asked) -> Reply | None:
        """Answer a request, or say why that cannot be: it is the program's own affair then."""
        if self.client is None:
            return _refused(asked.number, 404, "there is no model")
        try:
            request = checked(asked.request)
        except BadRequest as error:
            return _refused(asked.number, 400, str(error))
        self.talk.asked(request)
        if self._steps >= self.stay.briefing.max_steps:
            self._note_output()
        if not self.stay.next_step():
            return None
        self._steps += 1
        try:
            answer = self._of_model(self.client, request)
        except ContextExceeded as error:
            return _refused(asked.number, 400, str(error), "context_length_exceeded")
        except RequestRefused as error:
            return _refused(asked.number, error.status, error.message)
        if answer is None:
            return None
        self.talk.answered(answer)
        return Reply(asked.number, 200, answer.reply)

    def _of_model(self, client: ChatClient, request: Mapping[str, Any]) -> Answer | None:
        """Return the model's answer, None if time is up.

        Where the server fails, it is asked something else.  If it answers that, and fails again,
        the request is to blame: a program must not make its episode invalid by what it asks.
        """
        for last in (False, True):
            try:
                return self._asked(client, request)
            except (ContextExceeded, RequestRefused):
                if not client.heard:  # what options say may be wrong for whatever is asked
                    self._ask_plainly(client)
                raise
            except (TypeError, ValueError) as error:  # the SDK cannot make a request of it
                raise RequestRefused(str(error), 400) from error
            except (AgentError, AgentUnavailable) as error:
                self._ask_plainly(client)
                if self.left() <= 0:
                    return None
                if last:
                    raise RequestRefused(error.message, 502) from error
        raise AssertionError("the last try returns or raises")

    def _asked(self, client: ChatClient, request: Mapping[str, Any]) -> Answer:
        rest = {name: v for name, v in request.items() if name not in ("messages", "tools")}
        return client.answer(
            request["messages"],
            request["tools"],
            seed=self.stay.briefing.seed,
            number=len(self.stay.deeds) + 2,  # never the first: that is for what options say
            more=rest,
            within=self.left(),
        )

    def _ask_plainly(self, client: ChatClient) -> None:
        """Raise what is wrong with the server, if it does not answer a plain question either."""
        try:
            client.answer(_SAY, (), within=self.left())
        except AgentError:
            if self.left() > 0:  # else there was no time to
                raise

    def _note_output(self) -> None:
        self.stay.facts["program"]["output"] = plain(self.relay.output())


def _deed(command: str, told: str) -> Deed:
    call = ("call_1", "program", {"command": command})
    result: Mapping[str, Any] = {"role": "tool", "tool_call_id": "call_1", "content": told}
    return Deed("", utc_now(), calls=(call,), after=(result,))


def _refused(number: int, status: int, told: str, code: str | None = None) -> Reply:
    error = {"message": told, "type": "invalid_request_error", "code": code}
    return Reply(number, status, {"error": error})
