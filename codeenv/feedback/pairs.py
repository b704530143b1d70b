"""Teacher pairs: the tokens of one turn behind two contexts, the agent's own and one with a hint.

A trainer draws the first towards what the model itself says behind the second (on-policy
distillation from a privileged context).  Layout as in public implementations: two sequences,
two equal spans, and a mask over the span.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from codeenv.errors import UsageError
from codeenv.feedback.completion import Completion, shown_in, spellings
from codeenv.feedback.hints import MessagePair, message_pair, step_of
from codeenv.feedback.locate import Span, common_prefix
from codeenv.feedback.models import FeedbackEvent, Placement
from codeenv.feedback.render import ChatTokenizer, Renderer, renderer_of
from codeenv.trajectory import StepMetrics, Trajectory


@dataclass(frozen=True)
class TeacherPair:
    """One turn behind two contexts.

    Attributes:
        student_ids: What the agent saw and wrote, up to the end of the target turn.
        teacher_ids: The same, with the hint in it.
        student_span: Half-open range of the turn's tokens in ``student_ids``, end of turn included.
        teacher_span: The same tokens in ``teacher_ids``.
        span_mask: One number for each token of the span; 1 where the event's target is.
        logprobs: The sampler's log-probability of each token of the span, if it was recorded.
        event_id: Of the event.
        hint_tokens: By how many tokens the teacher's context is longer.
        placement: Where the hint is.
        granularity: ``span`` if the mask is the target's part of the message, ``message`` if it is
            all of the turn, because that is the target or because the part could not be found.
    """

    student_ids: tuple[int, ...]
    teacher_ids: tuple[int, ...]
    student_span: Span
    teacher_span: Span
    span_mask: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    event_id: str
    hint_tokens: int
    placement: Placement
    granularity: Literal["span", "message"]


def build_teacher_pair(
    trajectory: Trajectory,
    event: FeedbackEvent,
    tokenizer: ChatTokenizer | Renderer,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    placement: Placement | None = None,
    hint_role: str = "user",
) -> TeacherPair:
    """Build the pair of an event.

    Token ids that the sampler left in the trajectory are taken as they are; else prompt and turn
    are rendered, and tokenised apart from each other.

    Args:
        trajectory: Where the event happened.
        event: What the hint is from.
        tokenizer: A Hugging Face tokenizer with a chat template, or a renderer.
        tools: Schemas that the prompt lists; those of the trajectory if None.
        placement: Where the hint goes; where the event says, if None.
        hint_role: Who says it, if it is a message of its own.

    Raises:
        UsageError: If the template cannot give a right pair; the hint says what to do.
    """
    renderer = renderer_of(tokenizer)
    listed = trajectory.agent.tool_definitions or () if tools is None else tools
    harmless = event.model_copy(update={"hint": _harmless(event.hint, renderer.marks)})
    pair = message_pair(trajectory, harmless, placement=placement, hint_role=hint_role)
    prompts = renderer.prompt(pair.student, listed), renderer.prompt(pair.teacher, listed)
    _check_inserted(*prompts, harmless.hint, pair)
    step, _ = step_of(trajectory, event.target.message)
    metrics = step.metrics if step else None
    prompt, hinted = _prompts(renderer, prompts, metrics)
    turn = Completion.of(renderer, pair, listed, metrics)
    start, length, shift = len(prompt), len(turn.ids), len(hinted) - len(prompt)
    mask = turn.mask(event.target)
    return TeacherPair(
        student_ids=(*prompt, *turn.ids),
        teacher_ids=(*hinted, *turn.ids),
        student_span=(start, start + length),
        teacher_span=(start + shift, start + shift + length),
        span_mask=mask or (1,) * length,
        logprobs=_logprobs(metrics),
        event_id=event.id,
        hint_tokens=shift,
        placement=pair.placement,
        granularity="span" if mask else "message",
    )


def _logprobs(metrics: StepMetrics | None) -> tuple[float, ...] | None:
    if metrics is None or metrics.completion_token_ids is None or metrics.logprobs is None:
        return None
    return tuple(metrics.logprobs)


def _harmless(hint: str, marks: Sequence[str]) -> str:
    """Return a hint that cannot end its message or open another one."""
    for mark in marks:
        hint = hint.replace(mark, f"{mark[:1]} {mark[1:]}")
    return hint


def _check_inserted(student: str, teacher: str, hint: str, pair: MessagePair) -> None:
    """Raise unless the teacher's prompt is the student's with the hint in it, and nothing else."""
    for message in pair.student:
        if message["role"] != "assistant" and not shown_in(student, message["content"]):
            raise UsageError(
                f"the chat template does not show what the {message['role']} said",
                hint="use a template that knows tool messages, or PlainRenderer",
            )
    same = common_prefix(student, teacher) + common_prefix(student[::-1], teacher[::-1])
    more = [text for text in spellings(hint) if teacher.count(text) > student.count(text)]
    if same >= len(student) and more and _is_behind(teacher, more[0], pair):
        return
    other = "append_last" if pair.placement == "before_target" else "before_target"
    raise UsageError(
        f"the chat template rewrites the conversation for a hint placed {pair.placement}",
        hint=f"placement='{other}', another hint_role, or PlainRenderer",
    )


def _is_behind(teacher: str, hint: str, pair: MessagePair) -> bool:
    """Return whether the hint comes behind what was said last, and was not moved elsewhere."""
    before = teacher[: teacher.rindex(hint)]
    others = [message for message in pair.student if message["role"] != "assistant"]
    return not others or shown_in(before, others[-1]["content"])


def _prompts(
    renderer: Renderer, texts: tuple[str, str], metrics: StepMetrics | None
) -> tuple[list[int], list[int]]:
    """Return the tokens of the student's and the teacher's prompt.

    Behind recorded ids the hint is put by tokens: from where the two renderings part, the
    teacher's replaces the student's.
    """
    plain, hinted = (renderer.encode(text).ids for text in texts)
    recorded = metrics.prompt_token_ids if metrics else None
    if recorded is None:
        return plain, hinted
    same = common_prefix(plain, hinted)
    tail = plain[same:]
    kept = len(recorded) - len(tail)
    if kept < 0 or recorded[kept:] != tail:
        raise UsageError(
            "the recorded prompt does not end the way this tokenizer renders it",
            hint="give the tokenizer, template and options that the sampler had",
        )
    return [*recorded], [*recorded[:kept], *hinted[same:]]
