"""What rollouts took: tokens, money, time, calls, and how much of the code they changed.

What is not recorded is None and never 0; so is a sum of which a part is not recorded.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from codeenv.errors import UsageError
from codeenv.export import Rollout
from codeenv.tasks.reading import shorten
from codeenv.trajectory import Changes, FileChange, Step, StepMetrics, Trajectory
from codeenv_harness.prices import Price

Prices = Mapping[str, Price]
"""Model -> what its tokens cost."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one rollout took.

    Attributes:
        prompt_tokens: Of all calls of the model together, cached ones included.
        completion_tokens: That it wrote.
        cached_tokens: Of the prompts' that were read from a cache.
        cost_usd: As recorded, else by a table of prices.
        seconds: From the first time stamp to the last, so without the reset; the answer to the last
            call includes grading where that call ended the episode.
        tool_calls: That the agent made, of whatever name.
        lines_added: In files that the grader took; a line that only moved is no change.
        lines_removed: Likewise.
        files_changed: That the grader took; added and deleted ones are changed.
        instruction_words: Of the first message of the user, divided at white space.
        instruction_characters: Likewise.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    tool_calls: int
    lines_added: int | None
    lines_removed: int | None
    files_changed: int | None
    instruction_words: int | None
    instruction_characters: int | None


@dataclass(frozen=True, slots=True)
class Known:
    """A figure over the valid rollouts of which it is known.

    Attributes:
        rollouts: How many these are.
        total: Of all of them.
        median: Of one of them.
    """

    rollouts: int
    total: float
    median: float


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """What the valid rollouts of a run took; fields as those of ``Usage``.

    Attributes:
        rollouts: How many were valid.
        known: Field -> its figure; a field that is known of none is not there.
    """

    rollouts: int
    known: dict[str, Known]


def usage_of(trajectory: Trajectory, prices: Prices | None = None) -> Usage:
    """Return what a recorded episode took.

    An answer with several calls is recorded as several steps, of which the first tells the tokens
    and has the words: a later step with a call, without words and without tokens is taken as one of
    these.

    Args:
        trajectory: The record.
        prices: For steps whose cost is not recorded; a model that is not there has no cost.

    Raises:
        UsageError: If what is recorded of changes cannot be read.
    """
    own = [s for s in trajectory.steps if s.source == "agent" and not s.is_copied_context]
    asked = [step for step in own if step.llm_call_count != 0]
    asked = [step for step in asked if step is asked[0] or not _goes_on(step)]
    told = [step.metrics or StepMetrics() for step in asked]
    added, removed, files = _changed((trajectory.extra or {}).get("changes"))
    instruction = next((s.message for s in trajectory.steps if s.source == "user"), None)
    return Usage(
        prompt_tokens=_sum([_prompt(m) for m in told]),
        completion_tokens=_sum([_completion(m) for m in told]),
        cached_tokens=_sum([m.cached_tokens for m in told]),
        cost_usd=_cost(asked, trajectory.agent.model_name, prices or {}),
        seconds=_seconds([step.timestamp for step in trajectory.steps]),
        tool_calls=sum(len(step.tool_calls or ()) for step in own),
        lines_added=added,
        lines_removed=removed,
        files_changed=files,
        instruction_words=None if instruction is None else len(instruction.split()),
        instruction_characters=None if instruction is None else len(instruction),
    )


def summarise_usage(usages: Iterable[Usage]) -> UsageSummary:
    """Return what rollouts took together, field by field, each over those of which it is known.

    Args:
        usages: Of valid rollouts.
    """
    every = list(usages)
    known = {}
    for name in Usage.__slots__:
        values = [value for usage in every if (value := getattr(usage, name)) is not None]
        if values:
            median = float(statistics.median(values))
            known[name] = Known(len(values), math.fsum(values), median)
    return UsageSummary(len(every), known)


def usage_of_run(rollouts: Iterable[Rollout], prices: Prices | None = None) -> UsageSummary:
    """Return what the valid rollouts of a run took, e.g. of ``RunFolder(path).rollouts()``.

    Raises:
        UsageError: If what is recorded of changes cannot be read.
    """
    return summarise_usage(
        usage_of(rollout.trajectory, prices)
        for rollout in rollouts
        if rollout.reward_valid and rollout.trajectory is not None
    )


def _goes_on(step: Step) -> bool:
    """Return whether a step may be a further call of the answer before it, told of there."""
    words = step.message or step.reasoning_content
    return step.metrics is None and bool(step.tool_calls) and not words


def _prompt(told: StepMetrics) -> int | None:
    ids = told.prompt_token_ids
    return told.prompt_tokens if told.prompt_tokens is not None or ids is None else len(ids)


def _completion(told: StepMetrics) -> int | None:
    ids = told.completion_token_ids
    return told.completion_tokens if told.completion_tokens is not None or ids is None else len(ids)


def _sum(values: Sequence[int | None]) -> int | None:
    """Return the sum, unless one is not known or there is none."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _cost(steps: Sequence[Step], model: str | None, prices: Prices) -> float | None:
    costs = [_cost_of(step, model, prices) for step in steps]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known and len(known) == len(costs) else None


def _cost_of(step: Step, model: str | None, prices: Prices) -> float | None:
    told = step.metrics or StepMetrics()
    if told.cost_usd is not None:
        return told.cost_usd
    named = step.model_name or model
    price = prices.get(named) if named else None
    prompt, completion = _prompt(told), _completion(told)
    if price is None or prompt is None or completion is None:
        return None
    return price.cost(prompt, completion, told.cached_tokens or 0)


def _seconds(stamps: Sequence[str | None]) -> float | None:
    """Return the time from the first to the last; None if one of them is not told or no time."""
    ends = [_time(stamp) for stamp in (stamps[0], stamps[-1]) if stamp is not None]
    first, last = ends if len(ends) == 2 and len(stamps) > 1 else (None, None)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds()


def _time(stamp: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _changed(recorded: Any) -> tuple[int | None, int | None, int | None]:  # noqa: ANN401 - JSON
    """Return lines added, lines removed, files changed; lines are None where a text is not told."""
    if recorded is None:
        return None, None, None
    try:
        taken = [file for file in Changes.model_validate(recorded).files if file.counted]
    except ValidationError as error:
        raise UsageError(f"cannot read what changed: {shorten(error)}") from error
    lines = [_lines(file) for file in taken]
    known = [pair for pair in lines if pair is not None]
    if len(known) < len(lines):
        return None, None, len(taken)
    return sum(pair[0] for pair in known), sum(pair[1] for pair in known), len(taken)


def _lines(file: FileChange) -> tuple[int, int] | None:
    before = "" if file.kind == "added" else file.before
    after = "" if file.kind == "deleted" else file.after
    if before is None or after is None:
        return None
    old, new = (
        Counter(text.removesuffix("\n").split("\n") if text else ()) for text in (before, after)
    )
    return (new - old).total(), (old - new).total()
