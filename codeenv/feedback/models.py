"""Feedback events: what was wrong at one place of one turn, and the hint that would have helped.

The layout follows targeted textual feedback: an event names the exact span that a trainer
distils at, and carries no token ids, so it holds for any tokenizer.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Kind = Literal[
    "unknown_tool",
    "malformed_call",
    "bad_args",
    "edit_no_match",
    "edit_not_unique",
    "path_not_found",
    "redundant_read",
    "no_verify",
    "command_timeout",
    "protected_path",
    "artefact_access",
    "repeated_failure",
    "premature_finish",
    "verbose_final",
    "overthinking_easy",
    "todo_left",
    "style",
]
"""``style`` is for judges; all others are rules."""
Part = Literal["tool_name", "arguments", "content", "message"]
Placement = Literal["before_target", "append_last"]
Severity = Literal["info", "warning", "error"]
EventSource = Literal["rule", "tool_error", "verifier", "monitor", "judge"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Target(_Model):
    """Where a mistake is.

    Attributes:
        message: Index into the chat messages of the trajectory (``messages_of``).
        call: Which tool call of that message.
        part: Of which text ``chars`` are: the tool's name, the arguments as JSON text
            (``arguments_text``), the message's content, or the message as a whole, where ``chars``
            are (0, 0).
        chars: Half-open range of characters.
    """

    message: Annotated[int, Field(ge=0)]
    call: Annotated[int, Field(ge=0)] = 0
    part: Part = "message"
    chars: tuple[int, int] = (0, 0)

    @model_validator(mode="after")
    def _in_order(self) -> "Target":
        if not 0 <= self.chars[0] <= self.chars[1]:
            raise ValueError("chars is a half-open range [a, b) with 0 <= a <= b")
        return self


class FeedbackEvent(_Model):
    """One mistake, and the hint for it.

    Attributes:
        id: ``<turn>.<number>.<kind>``, unique in its episode.
        kind: Which mistake.
        severity: ``error``: the call was lost; ``warning``: it was a bad move; ``info``: style.
        turn: Number of the agent's action, from 1.
        target: The span that a trainer distils at.
        evidence: Plain data the event rests on (tool, arguments, error, path …).
        hint: One or two sentences.
        placement: Where the hint goes in the teacher's context: a message of its own before the
            target, or at the end of the last message that is not the agent's.
        source: Who says so.
        privileged: Whether the hint may hold what the agent cannot know (solution, hidden tests).
    """

    id: str
    kind: Kind
    severity: Severity
    turn: Annotated[int, Field(ge=1)]
    target: Target
    evidence: dict[str, Any] = Field(default_factory=dict)
    hint: str
    placement: Placement = "before_target"
    source: EventSource = "rule"
    privileged: bool = False
