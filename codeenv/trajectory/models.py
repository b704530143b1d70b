"""A trajectory as data: the Agent Trajectory Interchange Format (ATIF), version 1.

Field names and rules are the format's; what is ours (rewards, outcome, seed) is in ``extra``.
"""

from typing import Any

from pydantic import Field, model_validator

from codeenv.trajectory.segments import Segment, segments_of
from codeenv.trajectory.steps import (
    Model,
    RecordedCall,
    RecordedObservation,
    RecordedResult,
    Step,
    StepMetrics,
)

__all__ = [
    "SCHEMA_VERSION",
    "AgentInfo",
    "FinalMetrics",
    "RecordedCall",
    "RecordedObservation",
    "RecordedResult",
    "Step",
    "StepMetrics",
    "Trajectory",
]
SCHEMA_VERSION = "ATIF-v1.8"


class AgentInfo(Model):
    """Who acted, and with which tools."""

    name: str
    version: str
    model_name: str | None = None
    tool_definitions: list[dict[str, Any]] | None = None
    extra: dict[str, Any] | None = None


class FinalMetrics(Model):
    """Totals of a trajectory."""

    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = None
    extra: dict[str, Any] | None = None


class Trajectory(Model):
    """One episode as its agent lived it."""

    schema_version: str = Field(default=SCHEMA_VERSION, pattern=r"^ATIF-v1\.\d+$")
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: AgentInfo
    steps: tuple[Step, ...] = Field(min_length=1)
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    subagent_trajectories: list[dict[str, Any]] | None = None
    extra: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _sequential(self) -> "Trajectory":
        if [step.step_id for step in self.steps] != list(range(1, len(self.steps) + 1)):
            raise ValueError("steps are not numbered 1, 2, 3 …")
        return self

    def segments(self) -> tuple[Segment, ...]:
        """Return the contexts the agent worked in, one after the other, each a training sample.

        All of them share the episode's reward and advantage; an episode whose context was never
        cut is one segment.

        Raises:
            UsageError: If what is recorded of segments cannot be read.
        """
        return segments_of(self.steps)
