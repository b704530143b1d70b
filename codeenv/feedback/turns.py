"""One action of the agent and what it gave, the same from a running episode and from a record."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from codeenv.tools import ToolCall, ToolResult, parse_action
from codeenv.tools.action import REASONING, fields_of, words_of
from codeenv.trajectory import Trajectory, arguments_text, plain
from codeenv.trajectory.models import RecordedCall, RecordedResult, Step

_ERROR = re.compile(r"error\[([a-z_]+)\]: |\nerror\[(timeout)\]: [^\n]*\Z")
_BESIDE = {"role", "content", *REASONING}
_EXIT = re.compile(r"\[exit code (-?\d{1,4})\]\s*\Z")


@dataclass(frozen=True, slots=True)
class Turn:
    """One action and its answer.

    Attributes:
        number: From 1, over all actions of the episode.
        message: Index of the agent's message in ``messages_of``.
        call: Which tool call of that message.
        tool: Name of the tool, or "" if the action was no tool call.
        arguments: Of the call, as JSON can say them.
        content: What the agent wrote beside the call or instead of one.
        reasoning: What it thought; nothing but effort is read off it.
        text: What it got to read.
        ok: Whether the call was carried out.
        error: Code of the error, or "".
        exit_code: Of a command, from 0; None where there was none (some records say -1).
        named: The tool that the answer speaks of; that of a malformed call is only here.
    """

    number: int
    message: int
    call: int = 0
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""
    reasoning: str = ""
    text: str = ""
    ok: bool = True
    error: str = ""
    exit_code: int | None = None
    named: str = ""

    def value(self, key: str) -> str:
        """Return a text among the arguments; "" if there is none."""
        found = self.arguments.get(key)
        return found if isinstance(found, str) else ""

    @property
    def written(self) -> str:
        """The arguments as JSON text; "" if JSON cannot say them."""
        try:
            return arguments_text(self.arguments)
        except (ValueError, TypeError, RecursionError):
            return ""


def said(action: object) -> ToolCall | str:
    """Return the tool call that an action is, or the text that stands in the record for it."""
    call = parse_action(action)
    if isinstance(call, ToolCall):
        return call
    if isinstance(action, str):
        return str(plain(action))
    try:
        return _as_text(fields_of(action)) or str(plain(repr(action)))
    except Exception:  # noqa: BLE001 - an object of the agent's own
        return f"({type(action).__name__})"


def _as_text(fields: Mapping[Any, Any]) -> str:
    """Return what was said beside a call that is none, and that call as JSON; "" for nothing."""
    call = {name: value for name, value in fields.items() if name not in _BESIDE}
    words = words_of(fields)
    written = arguments_text(plain(call)) if call else ""
    return "\n".join(text for text in (plain(words), written) if text)


def said_instead(action: object) -> str:
    """Return the text that stands in the record for an action where no call was wanted."""
    made = said(action)
    if isinstance(made, str):
        return made
    whole = plain({"tool": made.tool, "arguments": made.arguments})
    return str(plain(action)) if isinstance(action, str) else arguments_text(whole)


def turn_of(
    number: int,
    action: ToolCall | str,
    result: ToolResult,
    *,
    message: int | None = None,
    words: str = "",
    reasoning: str = "",
) -> Turn:
    """Return a turn of a running episode.

    Args:
        number: Of the action, from 1.
        action: What the agent did, by ``said``.
        result: What it gave.
        message: Index of the agent's message; if None, there is nothing before it but the
            instruction, the actions and their answers.
        words: What the agent wrote beside a call.
        reasoning: What the agent thought.
    """
    call = action if isinstance(action, ToolCall) else None
    return Turn(
        number=number,
        message=2 * number - 1 if message is None else message,
        tool=plain(call.tool) if call else "",
        arguments=plain(call.arguments) if call else {},
        content=plain(words) if isinstance(action, ToolCall) else action,
        reasoning=plain(reasoning),
        text=plain(result.text),
        ok=result.ok,
        error=result.error,
        exit_code=_status(result.exit_code),
        named=plain(result.name),
    )


def turns_of(trajectory: Trajectory) -> Iterator[Turn]:
    """Yield the turns of a record; of other writers' ATIF as far as it goes."""
    return (turn for _, turn in numbered_turns(trajectory))


def numbered_turns(trajectory: Trajectory) -> Iterator[tuple[int, Turn]]:
    """Yield the turns of a record, each with the id of its step."""
    number = message = 0
    for step in trajectory.steps:
        results = step.observation.results if step.observation else ()
        if step.source == "agent":
            for call, (made, result) in enumerate(_pairs(step, results)):
                number += 1
                yield step.step_id, _recorded(step, made, result, (number, message, call))
            message += len(results)
        message += 1


def _pairs(
    step: Step, results: tuple[RecordedResult, ...]
) -> list[tuple[RecordedCall | None, RecordedResult]]:
    if not step.tool_calls:
        return [(None, results[0] if results else RecordedResult())]
    answers = {result.source_call_id: result for result in results}
    return [(c, answers.get(c.tool_call_id, RecordedResult())) for c in step.tool_calls]


def _recorded(
    step: Step, call: RecordedCall | None, result: RecordedResult, at: tuple[int, int, int]
) -> Turn:
    text = result.content or ""
    facts = _facts(step, result, text)
    exit_code, name = facts.get("exit_code"), facts.get("name")
    return Turn(
        number=at[0],
        message=at[1],
        call=at[2],
        tool=call.function_name if call else "",
        arguments=call.arguments if call else {},
        content=step.message,
        reasoning=step.reasoning_content or "",
        text=text,
        ok=bool(facts.get("ok", True)),
        error=str(facts.get("error") or ""),
        exit_code=_status(exit_code),
        named=name if isinstance(name, str) else call.function_name if call else "",
    )


def _status(exit_code: object) -> int | None:
    return exit_code if isinstance(exit_code, int) and exit_code >= 0 else None


def _facts(step: Step, result: RecordedResult, text: str) -> Mapping[str, Any]:
    """Return what is recorded of a result beside its text, else what the text's form says."""
    alone = len(step.tool_calls or ()) < 2
    for extra in (result.extra, step.extra if alone else None):
        tool = (extra or {}).get("tool")
        if isinstance(tool, Mapping) and "ok" in tool:
            return tool
    failed = _ERROR.match(text) or _ERROR.search(text[-400:])
    left = _EXIT.search(text[-40:])
    return {
        "ok": failed is None,
        "error": (failed[1] or failed[2]) if failed else "",
        "exit_code": int(left[1]) if left else None,
    }
