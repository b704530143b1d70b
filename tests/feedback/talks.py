"""Trajectories and events to make pairs from."""

from codeenv.feedback import FeedbackEvent, Target
from codeenv.trajectory import AgentInfo, RecordedCall, Step, Trajectory, messages_of
from codeenv.trajectory.models import RecordedObservation, RecordedResult

HINT = "Reminder: there is no such file; list the folder first."


def talk(*turns, system=""):
    """Return a trajectory: each turn is ``(content, [(tool, arguments, result), …])``."""
    steps = [("system", system)] if system else []
    steps = [*steps, ("user", "Repair src/a.py, please.")]
    made = [Step(step_id=i, source=s, message=m) for i, (s, m) in enumerate(steps, start=1)]
    for content, calls in turns:
        made.append(_turn(len(made) + 1, content, calls))
    return Trajectory(agent=AgentInfo(name="test", version="1"), steps=tuple(made))


def _turn(number, content, calls):
    names = [f"c{number}_{i}" for i in range(len(calls))]
    results = tuple(
        RecordedResult(source_call_id=name, content=call[2])
        for name, call in zip(names, calls, strict=True)
    )
    return Step(
        step_id=number,
        source="agent",
        message=content,
        tool_calls=tuple(
            RecordedCall(tool_call_id=name, function_name=call[0], arguments=call[1])
            for name, call in zip(names, calls, strict=True)
        )
        or None,
        observation=RecordedObservation(results=results or (RecordedResult(content="Go on."),)),
    )


def event_at(trajectory, turn, part="message", chars=(0, 0), call=0, hint=HINT, **fields):
    """Return an event about the agent's turn with that number, from 1."""
    places = [i for i, m in enumerate(messages_of(trajectory)) if m["role"] == "assistant"]
    target = Target(message=places[turn - 1], call=call, part=part, chars=chars)
    known = {"kind": "path_not_found", "severity": "error", "id": f"{turn}.0.path_not_found"}
    return FeedbackEvent(**{**known, **fields}, turn=turn, target=target, hint=hint)


def marked(pair, tokenizer):
    """Return the text of the tokens that a mask chooses."""
    start, end = pair.student_span
    span = pair.student_ids[start:end]
    return tokenizer.decode([i for i, on in zip(span, pair.span_mask, strict=True) if on])


def check(pair):
    """Assert what holds of every pair."""
    (s, e), (ts, te) = pair.student_span, pair.teacher_span
    assert 0 <= s < e == len(pair.student_ids)
    assert te == len(pair.teacher_ids)
    assert pair.teacher_ids[ts:te] == pair.student_ids[s:e]
    assert (ts - s, te - e) == (pair.hint_tokens, pair.hint_tokens)
    assert pair.hint_tokens > 0
    assert len(pair.span_mask) == e - s
    assert set(pair.span_mask) <= {0, 1}
    assert any(pair.span_mask)
