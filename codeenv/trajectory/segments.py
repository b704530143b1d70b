"""An episode whose context was cut and summarised, as the chain of contexts it consists of.

A segment is what one context held from its first message to its last.  The message that a later
segment begins with (instruction and summary) is copied into it and was not sampled there.  The
rules are those of summary-based context management (SUPO, arXiv 2510.06727): one reward and one
advantage per episode, shared by its segments; statistics of a group are over episodes.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codeenv.errors import UsageError
from codeenv.trajectory.steps import Step

SEGMENT = "segment"
"""Where a step's ``extra`` says which segment it is in; a step that does not is in its
predecessor's."""


class SegmentMark(BaseModel):
    """How a segment began.

    Attributes:
        segment_id: Number, from 0.
        parent_segment: The segment it goes on from; -1 for the first.
        trigger: Why that one was cut; "" for the first.
        tokens_before: What the context held when it was cut, as its counter counts.
        tokens_after: What the new context began with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    segment_id: int = Field(default=0, ge=0)
    parent_segment: int = Field(default=-1, ge=-1)
    trigger: str = ""
    tokens_before: int = Field(default=0, ge=0)
    tokens_after: int = Field(default=0, ge=0)


@dataclass(frozen=True)
class Segment:
    """One context of an episode; ``messages_of`` gives its messages.

    Attributes:
        mark: How it began.
        steps: Its steps, those that were copied into it first.
        first_message: Where its messages begin among those of the whole trajectory.
        mask: Per message 1 if the agent wrote it here, else 0.  A summary is written in the
            segment that it ends.
    """

    mark: SegmentMark
    steps: tuple[Step, ...]
    first_message: int = 0
    mask: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Work out who wrote what."""
        mask = tuple(bit for step in self.steps for bit in _mask(step))
        object.__setattr__(self, "mask", mask)

    @property
    def segment_id(self) -> int:
        """Number, from 0."""
        return self.mark.segment_id

    @property
    def parent_segment(self) -> int:
        """The segment it goes on from; -1 for the first."""
        return self.mark.parent_segment

    @property
    def trigger(self) -> str:
        """Why the parent was cut."""
        return self.mark.trigger

    @property
    def n_copied(self) -> int:
        """How many of its messages were copied into it."""
        return sum(len(_mask(step)) for step in self.steps if step.is_copied_context)


def segments_of(steps: Sequence[Step]) -> tuple[Segment, ...]:
    """Return the segments of a trajectory's steps, in order.

    Raises:
        UsageError: If what is recorded of segments cannot be read.
    """
    marked: list[tuple[SegmentMark, Step]] = []
    mark = SegmentMark()
    for step in steps:
        mark = _mark_of(step, mark)
        marked.append((mark, step))
    segments: list[Segment] = []
    first = 0
    for _, members in groupby(marked, key=lambda pair: pair[0].segment_id):
        group = list(members)
        segments.append(Segment(group[0][0], tuple(step for _, step in group), first))
        first += len(segments[-1].mask)
    return tuple(segments)


def shared_advantages(
    rollouts: Sequence[Sequence[object]],
    rewards: Sequence[float],
    groups: Sequence[Hashable],
) -> tuple[tuple[float, ...], ...]:
    """Return the advantage of each segment: its rollout's reward less the mean of the group.

    Not divided by the deviation (Dr. GRPO).  A rollout counts once in its group, however many
    segments it has.  For a loss, divide by the number of *rollouts* and a constant, or rollouts
    of many segments weigh more.

    Args:
        rollouts: The segments of each rollout; those without a valid reward left out.
        rewards: One per rollout.
        groups: One per rollout, e.g. its task's id.

    Raises:
        UsageError: If the lengths differ, or a reward is not finite.
    """
    if not len(rollouts) == len(rewards) == len(groups):
        raise UsageError("there must be one reward and one group per rollout")
    if not all(math.isfinite(reward) for reward in rewards):
        raise UsageError("a reward is not finite", hint="leave out rollouts without a valid reward")
    of_group: dict[Hashable, list[float]] = {}
    for group, reward in zip(groups, rewards, strict=True):
        of_group.setdefault(group, []).append(reward)
    means = {group: math.fsum(found) / len(found) for group, found in of_group.items()}
    return tuple(
        (reward - means[group],) * len(segments)
        for segments, reward, group in zip(rollouts, rewards, groups, strict=True)
    )


def _mask(step: Step) -> tuple[int, ...]:
    """Return 1 or 0 per message of a step, in the order of ``messages_of``."""
    if step.source != "agent":
        return (0,)
    answers = len(step.observation.results) if step.observation else 0
    written = not step.is_copied_context and step.llm_call_count != 0
    return (int(written), *(0,) * answers)


def _mark_of(step: Step, current: SegmentMark) -> SegmentMark:
    said: Any = (step.extra or {}).get(SEGMENT)
    if said is None:
        return current
    try:
        found = SegmentMark.model_validate(said)
    except ValidationError as error:
        raise UsageError(f"step {step.step_id}: extra[{SEGMENT!r}] is no segment") from error
    return current if found.segment_id == current.segment_id else found
