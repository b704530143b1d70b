"""Asks a chat server: retries what may pass, and says what cannot."""

import os
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from codeenv_harness.agents.chat.answers import Answer, answer_of
from codeenv_harness.agents.chat.options import ChatOptions
from codeenv_harness.agents.chat.waiting import Waiting
from codeenv_harness.agents.purse import Purse
from codeenv_harness.agents.stops import AgentError, AgentUnavailable
from codeenv_harness.prices import Price

_WRONG = (openai.BadRequestError, openai.UnprocessableEntityError, openai.ConflictError)
_CONTEXT = (
    "context length",
    "context window",
    "context_length",
    "maximum context",
    "prompt is too long",
)
"""How servers say it that have no code for it."""
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached")
_HINT = "check base_url (OPENAI_BASE_URL; it often ends in /v1), the key, and the model's name"


_LONGEST = 600  # characters of an error
_PAUSE, _LONGEST_PAUSE = 0.25, 8.0  # seconds between two tries
_AT_FIRST = 2
"""Tries more if a server never answered well: its address may be wrong."""


class ContextExceeded(Exception):
    """Raised when the history is longer than the model can read."""


class RequestRefused(AgentError):
    """Raised when the server says that this very request cannot be answered.

    Attributes:
        status: Of its answer.
    """

    def __init__(self, message: str, status: int) -> None:
        """Keep the status beside the message."""
        super().__init__(message)
        self.status = status


class _Garbled(Exception):
    """Raised when an answer is cut off or is none."""


class ChatClient:
    """One server and one model, for all episodes of a run.  Thread-safe."""

    def __init__(
        self,
        model: str,
        options: ChatOptions | None = None,
        *,
        purse: Purse | None = None,
        price: Price | None = None,
    ) -> None:
        """Make the client; nothing is asked yet.

        Raises:
            AgentUnavailable: If no key is set.
        """
        self.model, self.options = model, options or ChatOptions()
        self._purse, self._price = purse or Purse(), price
        self._waiting = Waiting()
        self._heard = False
        key = os.environ.get(self.options.api_key_env)
        if not key:  # the SDK would take another one, of another server
            raise AgentUnavailable(
                f"no key for {self._name}: {self.options.api_key_env} is not set",
                hint="any text will do for a server that wants none",
            )
        try:
            self._client = openai.OpenAI(
                api_key=key,
                base_url=self.options.base_url,
                timeout=self.options.timeout,
                max_retries=self.options.retries,
            )
            self._create: Any = self._client.chat.completions.create
        except openai.OpenAIError as error:
            raise AgentUnavailable(f"{self._name}: {error}", hint=_HINT) from error

    def answer(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int = 0,
        number: int = 0,
        more: Mapping[str, Any] | None = None,
        within: float | None = None,
    ) -> Answer:
        """Return what the model says next.

        Args:
            messages: The history.
            tools: Function schemas.
            seed: Of the rollout.
            number: Of the answer in its episode.
            more: Fields of the request that options do not set.
            within: Seconds it may take, if that is less than the option says.

        Raises:
            AgentError: If no answer came; the next episode may have more luck.
            AgentUnavailable: If the key is refused, or no good answer ever came.
            BudgetSpent: If the run may not ask any more.
            ContextExceeded: If the history is too long for the model.
            RequestRefused: If the server refuses just this request.
        """
        self._purse.check()
        own = self.options.sampling(seed)
        if "max_completion_tokens" in own:  # two names of one thing
            more = {name: v for name, v in (more or {}).items() if name != "max_tokens"}
        request = {"model": self.model, "messages": [*messages], **(more or {}), **own}
        if tools:
            request["tools"] = [*tools]
        most = min(self.options.answer_timeout, inf if within is None else within)
        found = self._waiting.call(lambda: self._asked(request, number), most)
        self._heard = True
        self._purse.pay(found.metrics)
        return found

    @property
    def heard(self) -> bool:
        """Whether the server ever answered well."""
        return self._heard

    def close(self) -> None:
        """Let go of every request that is under way."""
        self._waiting.close()
        self._client.close()

    def _asked(self, request: Mapping[str, Any], number: int) -> Answer:
        """Ask, and ask again where an answer is cut off or is no completion."""
        ask = self._streamed if self.options.stream else self._whole
        tries = self.options.retries if self._heard else min(self.options.retries, _AT_FIRST)
        for left in range(tries, -1, -1):
            try:
                return self._read(ask(request), number)
            except (_Garbled, ValueError) as error:  # the SDK lets errors of JSON through
                if not left:
                    raise self._failed(f"the answer is no chat completion: {error}") from error
                self._waiting.pause(min(_LONGEST_PAUSE, _PAUSE * 2 ** (tries - left)))
            except openai.APIStatusError as error:
                raise self._refused(error, first=number <= 1) from error
            except openai.OpenAIError as error:
                raise self._failed(f"the server does not answer: {error}") from error
        raise AssertionError("the last try raises or returns")

    def _read(self, reply: ChatCompletion, number: int) -> Answer:
        try:
            return answer_of(reply, number, self._price, reasoning=self.options.send_reasoning)
        except Exception as error:  # whatever a server may send
            raise _Garbled(f"it cannot be read: {error}") from error

    def _whole(self, request: Mapping[str, Any]) -> ChatCompletion:
        reply: ChatCompletion = self._create(**request)
        if not getattr(reply, "choices", None):  # a text, if the server speaks something else
            told = (getattr(reply, "model_extra", None) or {}).get("error")
            raise _Garbled(f"it is an error: {told}" if told else "there is no choice in it")
        return reply

    def _streamed(self, request: Mapping[str, Any]) -> ChatCompletion:
        told = {"stream": True, "stream_options": {"include_usage": True}}
        with self._create(**request, **told) as stream:
            reply = _gathered(stream)
        if reply is None or not reply.choices or not reply.choices[0].finish_reason:
            raise _Garbled("the stream was cut off")
        return reply

    def _refused(self, error: openai.APIStatusError, *, first: bool) -> Exception:
        """Return what a refusal means; a first request is too long only by a wrong option."""
        told = f"{self._name}: {_in_a_line(error.message)}"
        if isinstance(error, openai.AuthenticationError) or error.code in _NO_MONEY:
            return AgentUnavailable(told, hint=_HINT)
        if isinstance(error, _WRONG) and not first:
            said = f"{error.code or ''} {error.message}".lower()
            if any(word in said for word in _CONTEXT):
                return ContextExceeded(told)
        if not first and _of_the_request(error.status_code):
            return RequestRefused(told, error.status_code)
        return self._failed(error.message)

    def _failed(self, told: str) -> Exception:
        """Return the error of one episode, or of the run if the server never answered."""
        told = f"{self._name}: {_in_a_line(told)}"
        return AgentError(told) if self._heard else AgentUnavailable(told, hint=_HINT)

    @property
    def _name(self) -> str:
        return f"chat:{self.model}"


def _of_the_request(status: int) -> bool:
    """Return whether a status is about what was asked, and not about who asks, or when."""
    return 400 <= status < 500 and status not in (401, 402, 404, 408, 429)


def _in_a_line(text: str) -> str:
    """Return what a server said in one line, and not more than a reader wants."""
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"


def _gathered(stream: Iterable[ChatCompletionChunk]) -> ChatCompletion | None:
    """Return the completion that a stream is, None if nothing comes.

    Raises:
        _Garbled: If it breaks off, or tells an error in between.
    """
    state, begun = ChatCompletionStreamState(), False
    try:
        for chunk in stream:
            state.handle_chunk(chunk)
            begun = True
    except Exception as error:  # the SDK lets those of its transport through
        raise _Garbled(f"the stream was cut off: {error}") from error
    return state.current_completion_snapshot if begun else None
