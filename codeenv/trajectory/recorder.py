"""Writes an episode down while it is played; nothing that was written is ever changed."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal

from codeenv.grading.models import Outcome
from codeenv.trajectory.models import AgentInfo, FinalMetrics, Trajectory
from codeenv.trajectory.seal import CHAIN, chain_of
from codeenv.trajectory.segments import SEGMENT, SegmentMark
from codeenv.trajectory.steps import (
    RecordedCall,
    RecordedObservation,
    RecordedResult,
    Step,
    StepMetrics,
)

_DEEPEST = 50
_LONGEST_NUMBER = 1024  # bits


def utc_now() -> str:
    """Return the time as a trajectory writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Recorder:
    """Collects the steps of one episode."""

    def __init__(
        self, agent: AgentInfo, trajectory_id: str, *, now: Callable[[], str] = utc_now
    ) -> None:
        """Start empty; ``now`` gives time stamps."""
        self._agent = agent
        self._id = trajectory_id
        self._now = now
        self._steps: list[Step] = []

    def instruct(self, text: str) -> None:
        """Write down what the agent was told."""
        self._add(source="user", message=text)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        text: str,
        extra: Mapping[str, Any],
        *,
        message: str = "",
        reasoning: str = "",
        metrics: StepMetrics | None = None,
    ) -> None:
        """Write down a tool call and the text it gave.

        Args:
            tool: Name of the tool.
            arguments: Of the call.
            text: What it gave.
            extra: Facts about the step, its reward among them.
            message: What the agent said beside the call.
            reasoning: What it thought.
            metrics: Its tokens.
        """
        name = f"call_{len(self._steps) + 1}"
        made = RecordedCall(
            tool_call_id=name, function_name=plain(tool), arguments=plain(arguments)
        )
        seen = RecordedResult(source_call_id=name, content=plain(text))
        self._add_act(
            message,
            reasoning,
            tool_calls=(made,),
            observation=RecordedObservation(results=(seen,)),
            metrics=metrics,
            extra=dict(extra),
        )

    def say(
        self,
        message: str,
        text: str,
        extra: Mapping[str, Any],
        *,
        reasoning: str = "",
        metrics: StepMetrics | None = None,
    ) -> None:
        """Write down a message that was no tool call, and what was answered."""
        self._add_act(
            message,
            reasoning,
            observation=RecordedObservation(results=(RecordedResult(content=plain(text)),)),
            metrics=metrics,
            extra=dict(extra),
        )

    def did(
        self,
        message: str,
        calls: tuple[RecordedCall, ...],
        results: tuple[RecordedResult, ...],
        extra: Mapping[str, Any],
        *,
        reasoning: str = "",
        metrics: StepMetrics | None = None,
        time: str,
    ) -> None:
        """Write down a step of an agent with tools of its own.

        Args:
            message: What it said.
            calls: Of its tools.
            results: What it was told next.
            extra: Facts about the step.
            reasoning: What it thought.
            metrics: Its tokens.
            time: When that was.
        """
        self._add_act(
            message,
            reasoning,
            tool_calls=calls or None,
            observation=RecordedObservation(results=results) if results else None,
            metrics=metrics,
            extra=dict(extra),
            timestamp=time,
        )

    def told(self, source: Literal["system", "user"], text: str, time: str) -> None:
        """Write down what such an agent was told before its next step."""
        self._add(source=source, message=plain(text), timestamp=time)

    def offered(self, tools: Sequence[dict[str, Any]]) -> None:
        """Note the tools that such an agent has."""
        self._agent = self._agent.model_copy(update={"tool_definitions": [*tools]})

    def summarise(
        self,
        text: str,
        extra: Mapping[str, Any],
        *,
        reasoning: str = "",
        metrics: StepMetrics | None = None,
    ) -> None:
        """Write down the agent's summary of a context that is about to be cut."""
        self._add_act(text, reasoning, metrics=metrics, extra={**extra, "summary": True})

    def segment(self, mark: SegmentMark, text: str) -> None:
        """Begin a segment; ``text`` is the message its context starts with, kept as a copy."""
        extra = {SEGMENT: mark.model_dump()}
        self._add(source="user", message=plain(text), is_copied_context=True, extra=extra)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is written so far."""
        return tuple(self._steps)

    def finished(
        self, outcome: Outcome | None, extra: Mapping[str, Any] | None = None
    ) -> Trajectory:
        """Return all of it, with the outcome if there is one, and a hash chain over all."""
        facts: dict[str, Any] = dict(extra or {})
        if outcome is not None:
            facts["outcome"] = outcome_facts(outcome)
        acted = sum(step.source == "agent" for step in self._steps)
        return Trajectory(
            trajectory_id=self._id,
            agent=self._agent,
            steps=tuple(self._steps),
            final_metrics=FinalMetrics(total_steps=acted),
            extra={**facts, CHAIN: chain_of(self._steps, facts)},
        )

    def _add_act(self, message: str, reasoning: str, **fields: Any) -> None:  # noqa: ANN401
        thought = plain(reasoning) or None
        self._add(source="agent", message=plain(message), reasoning_content=thought, **fields)

    def _add(self, **fields: Any) -> None:  # noqa: ANN401 - Step's own
        if "timestamp" not in fields:
            fields["timestamp"] = self._now()
        self._steps.append(Step(step_id=len(self._steps) + 1, **fields))


def plain(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - an agent's own data
    """Return what an agent sent as JSON can say it: no half characters, no endless nesting."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _LONGEST_NUMBER else "(a number too long to write)"
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {plain(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    return f"({type(value).__name__})"


def outcome_facts(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data; of the verdict, what did not pass and what counted."""
    facts = dataclasses.asdict(dataclasses.replace(outcome, grade=None))
    del facts["grade"]
    grade = outcome.grade
    return {
        **facts,
        "resolved": grade is not None and grade.valid and grade.resolved,
        "not_passed": grade.not_passed if grade else {},
        "accepted_paths": list(grade.accepted_paths) if grade else [],
        "ignored_paths": list(grade.ignored_paths) if grade else [],
    }
