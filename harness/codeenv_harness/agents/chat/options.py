"""How a chat server is asked."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codeenv.errors import UsageError


class ChatOptions(BaseModel):
    """What goes into each request, and how patient the client is.

    Attributes:
        base_url: Of the server; by default the SDK's (``OPENAI_BASE_URL``).
        api_key_env: Name of the variable that holds the key.
        system: A system message before the instruction; none if empty.
        temperature, top_p, reasoning_effort, parallel_tool_calls: As the interface has them; the
            server's own where None.
        max_tokens: Of one answer (``max_completion_tokens``).
        seed: Whether the rollout's seed is sent.
        stream: Whether answers are streamed: for servers or proxies that end silent connections.
        timeout: Seconds until a silent server is given up.
        answer_timeout: Seconds that an answer may take in all, retries included.
        retries: Of a request that failed in a way that may pass (429, 5xx, a cut connection).
        send_reasoning: Whether reasoning goes back to the server with the history.
        extra_body: More fields of the request, for what one server alone knows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    system: str = ""
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    reasoning_effort: str | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    seed: bool = False
    stream: bool = False
    timeout: float = Field(default=600.0, gt=0)
    answer_timeout: float = Field(default=3600.0, gt=0)
    retries: int = Field(default=8, ge=0)
    send_reasoning: bool = True
    extra_body: dict[str, Any] = {}

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Self:
        """Return options from names and values.

        Raises:
            UsageError: If a name is unknown or a value does not fit.
        """
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            known = ", ".join(cls.model_fields)
            raise UsageError(
                f"agent option {name}: {first['msg'].lower()}", hint=f"options are: {known}"
            ) from error

    def sampling(self, seed: int) -> dict[str, Any]:
        """Return the fields of a request that are set."""
        fields = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "reasoning_effort": self.reasoning_effort,
            "parallel_tool_calls": self.parallel_tool_calls,
            "max_completion_tokens": self.max_tokens,
            "seed": seed if self.seed else None,
            "extra_body": self.extra_body or None,
        }
        return {name: value for name, value in fields.items() if value is not None}
