"""Finished rollouts as rows for trainers, with the names that each trainer uses.

A row is one context of one rollout: a rollout whose context was cut has several, with the same
``rollout_id``, group and reward.  An advantage is therefore taken over rollouts and copied to
their rows.  A rollout without a valid reward is a row whose reward is null; it is for the trainer
to leave it out, or to play it again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from codeenv.export.samples import Sample, samples_of, turn_records, version_of
from codeenv.trajectory import Message, Step, Trajectory, messages_of

Format = Literal["messages", "trl", "verl", "prime-rl"]
FORMATS: tuple[Format, ...] = get_args(Format)
Row = dict[str, Any]


@dataclass(frozen=True)
class Rollout:
    """One finished rollout.

    Attributes:
        task_id: What was played.
        rollout: Its number among those of the task.
        reward: What it earned; meaningless unless ``reward_valid``.
        reward_valid: Whether it was graded.
        components: What the tests gave, as graded: a monitor takes nothing from them.
        reason: Why it ended.
        truncated: Whether it was ended by a limit.
        error: What went wrong, if it was not graded.
        monitor: What a monitor said is to be done, if one looked.
        trajectory: What happened; None if it never began.
    """

    task_id: str
    rollout: int
    reward: float
    reward_valid: bool
    components: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    truncated: bool = False
    error: str = ""
    monitor: str | None = None
    trajectory: Trajectory | None = None

    @property
    def ok(self) -> bool:
        """Whether it was graded, and no monitor took its reward away or put it aside."""
        return self.reward_valid and self.monitor not in ("mask", "quarantine")


def rollout_rows(rollouts: Iterable[Rollout], format: Format = "messages") -> Iterator[Row]:
    """Yield the rows of rollouts.

    Args:
        rollouts: Of one run, e.g. ``RunFolder(path).rollouts()``.
        format: Whose names the columns have.  ``messages``: chat messages with a mask for each;
            ``trl``: prompt and completion; ``verl``: the columns of its parquet files;
            ``prime-rl``: what its orchestrator makes of a trace.
    """
    shape = _SHAPES[format]
    for rollout in rollouts:
        for part in _parts(rollout):
            yield shape(part)


@dataclass(frozen=True)
class _Part:
    """One context of a rollout."""

    rollout: Rollout
    number: int
    messages: list[Message]
    mask: list[int]
    steps: Sequence[Step]
    first_turn: int
    version: int | str | None

    @property
    def tools(self) -> list[dict[str, Any]]:
        trajectory = self.rollout.trajectory
        return (trajectory.agent.tool_definitions if trajectory else None) or []

    @property
    def samples(self) -> list[Sample]:
        return samples_of(turn_records(self.steps, self.first_turn))

    @property
    def opening(self) -> int:
        """How many messages there are before the model's first."""
        return self.mask.index(1) if 1 in self.mask else len(self.mask)

    def facts(self) -> Row:
        """Return what every format has."""
        rollout = self.rollout
        group = f"{rollout.task_id}@{self.version}" if self.version is not None else rollout.task_id
        return {
            "task_id": rollout.task_id,
            "group_id": group,
            "rollout": rollout.rollout,
            "rollout_id": f"{rollout.task_id}__{rollout.rollout}",
            "segment": self.number,
            "policy_version": self.version,
            "reward": rollout.reward if rollout.reward_valid else None,
            "reward_valid": rollout.reward_valid,
            "graded_components": dict(rollout.components),
            "reason": rollout.reason,
            "truncated": rollout.truncated,
            "error": rollout.error,
            "monitor": rollout.monitor,
        }


def _parts(rollout: Rollout) -> Iterator[_Part]:
    trajectory = rollout.trajectory
    if trajectory is None:
        yield _Part(rollout, 0, [], [], (), 1, None)
        return
    versions = (version_of(step) for step in trajectory.steps)
    version = next((found for found in versions if found is not None), None)
    turn = 1
    for segment in trajectory.segments():
        messages, mask = messages_of(segment), [*segment.mask]
        number = segment.segment_id
        yield _Part(rollout, number, messages, mask, segment.steps, turn, version)
        turn += sum(step.source == "agent" for step in segment.steps)


def _behind(values: list[float] | None, start: int) -> list[float] | None:
    return values[start:] if values is not None else None


def _messages(part: _Part) -> Row:
    turns = [asdict(turn) for turn in turn_records(part.steps, part.first_turn)]
    said = {"messages": part.messages, "mask": part.mask, "tools": part.tools}
    return {**part.facts(), **said, "turns": turns}


def trl_sample(sample: Sample) -> Row:
    """Return a sequence as a rollout function of TRL's returns it."""
    return {
        "prompt_ids": sample.ids[: sample.prompt],
        "completion_ids": sample.ids[sample.prompt :],
        "logprobs": _behind(sample.logprobs, sample.prompt),
        "env_mask": sample.mask[sample.prompt :],
    }


def _trl(part: _Part) -> Row:
    """Columns of TRL's datasets, and ``samples``."""
    samples = [trl_sample(sample) for sample in part.samples]
    opening = part.opening
    said = {"prompt": part.messages[:opening], "completion": part.messages[opening:]}
    return {**part.facts(), **said, "tools": part.tools, "samples": samples}


def _verl(part: _Part) -> Row:
    """Columns of verl's prompts and of its multi-turn SFT; ``samples`` as its agent loop's."""
    facts = part.facts()
    samples = [
        {
            "prompt_ids": sample.ids[: sample.prompt],
            "response_ids": sample.ids[sample.prompt :],
            "response_mask": sample.mask[sample.prompt :],
            "response_logprobs": _behind(sample.logprobs, sample.prompt),
            "reward_score": facts["reward"],
            "num_turns": sample.turns,
        }
        for sample in part.samples
    ]
    return {
        "data_source": "codeenv",
        "prompt": part.messages[: part.opening],
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": part.rollout.task_id},
        "extra_info": {"index": part.rollout.rollout, **facts},
        "messages": part.messages,
        "tools": part.tools,
        "samples": samples,
    }


def _prime_rl(part: _Part) -> Row:
    """Columns of prime-rl's SFT; ``samples`` as its training samples, rewards as its traces'.

    Arrays of a sample are as long as its ``token_ids``; one that is not recorded is not there.
    """
    facts, rollout = part.facts(), part.rollout
    score = {"score": rollout.reward, "weight": 1.0} if rollout.reward_valid else None
    samples = [
        {
            "token_ids": sample.ids,
            "mask": [bool(bit) for bit in sample.mask],
            **({"logprobs": sample.logprobs} if sample.logprobs is not None else {}),
            "env_name": "codeenv",
        }
        for sample in part.samples
    ]
    return {
        **facts,
        "messages": part.messages,
        "tools": part.tools,
        "rewards": {"codeenv": score},
        "metrics": {f"graded_{name}": value for name, value in rollout.components.items()},
        "ok": rollout.ok,
        "stop_condition": rollout.reason,
        "errors": [{"type": "codeenv", "message": rollout.error}] if rollout.error else [],
        "samples": samples,
    }


_SHAPES: Mapping[Format, Callable[[_Part], Row]] = {
    "messages": _messages,
    "trl": _trl,
    "verl": _verl,
    "prime-rl": _prime_rl,
}
