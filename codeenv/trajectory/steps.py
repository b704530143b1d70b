"""One message of a trajectory, with an agent's calls and what they gave.

Field names and rules are those of the Agent Trajectory Interchange Format; ours is in ``extra``.
"""

import math
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Model(BaseModel):
    """Base of what a trajectory is made of."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RecordedCall(Model):
    """One tool call an agent made."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] | None = None


class RecordedResult(Model):
    """What one tool call gave; ``source_call_id`` is a call of the same step, or None."""

    source_call_id: str | None = None
    content: str | None = None
    extra: dict[str, Any] | None = None


class RecordedObservation(Model):
    """What the agent saw after a step."""

    results: tuple[RecordedResult, ...]


class StepMetrics(Model):
    """Tokens of one model answer; ids and log-probabilities belong to the trainer.

    ``extra["policy_version"]`` says which weights answered.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: list[int] | None = None
    completion_token_ids: list[int] | None = None
    logprobs: list[float] | None = None
    extra: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _aligned(self) -> "StepMetrics":
        chances, ids = self.logprobs, self.completion_token_ids
        if chances is not None and ids is not None and len(chances) != len(ids):
            raise ValueError("there is one log-probability for each token of the completion")
        if not all(math.isfinite(chance) for chance in chances or ()):
            raise ValueError("a log-probability is not finite")
        return self


class Step(Model):
    """One message, with an agent's calls and what they gave."""

    step_id: int = Field(ge=1)
    timestamp: str | None = None
    source: Literal["system", "user", "agent"]
    message: str
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[RecordedCall, ...] | None = None
    observation: RecordedObservation | None = None
    metrics: StepMetrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = None
    extra: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Step":
        if self.source != "agent" and (self.tool_calls or self.metrics):
            raise ValueError("only an agent's step has tool calls or metrics")
        calls = {call.tool_call_id for call in self.tool_calls or ()}
        results = self.observation.results if self.observation else ()
        if not {r.source_call_id for r in results if r.source_call_id is not None} <= calls:
            raise ValueError("an observation refers to a call that is not in its step")
        return self
