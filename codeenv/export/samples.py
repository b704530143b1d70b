"""What a sampler left of an episode, turn by turn, and the sequences that follow from it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codeenv.trajectory import Step


@dataclass(frozen=True)
class TurnRecord:
    """One answer of the model, as it was sampled.

    Attributes:
        turn: Number of the agent's action, from 1.
        prompt_ids: All that the model saw.
        output_ids: What it wrote.
        output_log_probs: One for each token it wrote, from the sampler; empty if not recorded.
        output_mask: 1 for each token that may be trained: all of them.
        policy_version: Which weights wrote it, if that is known.
    """

    turn: int
    prompt_ids: list[int]
    output_ids: list[int]
    output_log_probs: list[float]
    output_mask: list[int]
    policy_version: int | str | None = None


@dataclass(frozen=True)
class Sample:
    """Turns that extend each other, as one sequence.

    Attributes:
        ids: The sequence.
        mask: 1 where the model wrote.
        logprobs: The sampler's, 0 where the model did not write; None unless all are recorded.
        prompt: How many of the ids are before the model's first.
        turns: How many turns it has.
    """

    ids: list[int]
    mask: list[int]
    logprobs: list[float] | None
    prompt: int
    turns: int


def turn_records(steps: Iterable[Step], first: int = 1) -> list[TurnRecord]:
    """Return the turns of which prompt and answer are recorded.

    Args:
        steps: Of a trajectory.
        first: Number of the first agent's turn among them.
    """
    agent = [step for step in steps if step.source == "agent"]
    found = [_record(step, number) for number, step in enumerate(agent, start=first)]
    return [record for record in found if record is not None]


def _record(step: Step, number: int) -> TurnRecord | None:
    metrics = step.metrics
    if metrics is None or step.is_copied_context:
        return None
    prompt, output = metrics.prompt_token_ids, metrics.completion_token_ids
    if prompt is None or output is None:
        return None
    return TurnRecord(
        turn=number,
        prompt_ids=prompt,
        output_ids=output,
        output_log_probs=metrics.logprobs or [],
        output_mask=[1] * len(output),
        policy_version=version_of(step),
    )


def version_of(step: Step) -> int | str | None:
    """Return which weights answered, if the sampler told."""
    extra = (step.metrics.extra if step.metrics else None) or {}
    version = extra.get("policy_version")
    return version if isinstance(version, int | str) else None


def samples_of(turns: Sequence[TurnRecord]) -> list[Sample]:
    """Join turns while each prompt begins with all that was there before; else begin anew.

    Every token that was sampled is in one sequence, with mask 1, exactly once.
    """
    chains: list[list[TurnRecord]] = []
    held: list[int] = []
    for turn in turns:
        if not chains or turn.prompt_ids[: len(held)] != held:
            chains.append([])
        chains[-1].append(turn)
        held = [*turn.prompt_ids, *turn.output_ids]
    return [_joined(chain) for chain in chains]


def _joined(chain: Sequence[TurnRecord]) -> Sample:
    ids: list[int] = []
    mask: list[int] = []
    logprobs: list[float] = []
    for turn in chain:
        new = turn.prompt_ids[len(ids) :]
        ids += [*new, *turn.output_ids]
        mask += [*[0] * len(new), *turn.output_mask]
        logprobs += [*[0.0] * len(new), *turn.output_log_probs]
    known = len(logprobs) == len(ids)
    return Sample(ids, mask, logprobs if known else None, len(chain[0].prompt_ids), len(chain))
