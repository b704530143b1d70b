"""What a tool is: its arguments as a model, its behaviour as a function, its result as a value.

A ``ToolError`` becomes an observation the agent sees; a ``SandboxError`` passes through, because an
agent never sees a failed sandbox.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from codeenv.errors import CodeEnvError, PathError
from codeenv.sandbox.base import Sandbox
from codeenv.tree import Tree

ErrorCode = Literal[
    "invalid_action",
    "unknown_tool",
    "bad_arguments",
    "not_found",
    "not_unique",
    "no_match",
    "binary",
    "outside_repo",
    "protected_path",
    "too_large",
    "timeout",
    "summary_due",
    "episode_over",
]
EditGuard = Literal["warn", "reject"]
_PATH_CODES: dict[str, ErrorCode] = {
    "not_found": "not_found",
    "outside": "outside_repo",
    "too_large": "too_large",
    "denied": "protected_path",
}


class ToolError(CodeEnvError):
    """Raised inside a tool when a call cannot be done as asked; the agent sees it as text."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        """Keep the code beside the message."""
        super().__init__(message)
        self.code = code

    @classmethod
    def of(cls, error: PathError) -> "ToolError":
        """Translate what the sandbox says of a path."""
        return cls(_PATH_CODES.get(error.code, "bad_arguments"), error.message)


class ToolCall(BaseModel):
    """One call of one tool: the shape every form of action is brought into."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave.

    Attributes:
        name: The tool, or "" if the action named none.
        text: What the agent reads.
        ok: Whether the call was carried out.  A command that fails was carried out.
        error: Why not, or "".
        exit_code: Of a command; None for other tools.
        timed_out: Whether a command was killed at its deadline.
        truncated: Whether ``text`` leaves something out.
        output_bytes: Bytes a command wrote, or of ``text``.
        exhausted: What the box ran out of: ``memory``, ``disk``, ``files``.
    """

    name: str
    text: str
    ok: bool = True
    error: ErrorCode | Literal[""] = ""
    exit_code: int | None = None
    timed_out: bool = False
    truncated: bool = False
    output_bytes: int = 0
    exhausted: tuple[str, ...] = ()

    @classmethod
    def failed(cls, name: str, code: ErrorCode, message: str) -> "ToolResult":
        """Return an error observation."""
        text = f"error[{code}]: {message}"
        return cls(name, text, ok=False, error=code, output_bytes=len(text.encode()))


class Arguments(BaseModel):
    """Base of the tools' argument models: flat scalars; an absent one, None and "" are alike."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return dict(_filled(cls, data))


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool works on.

    Attributes:
        sandbox: The agent's box.
        start: The workspace as it was when the episode began.
        writable: Whether the edit tool may change a path; by default any (grading resets what
            does not count).
        edit_guard: Whether an edit that breaks the syntax is done with a warning, or refused.
    """

    sandbox: Sandbox
    start: Tree = field(default_factory=lambda: Tree({}))
    writable: Callable[[str], bool] = lambda _path: True
    edit_guard: EditGuard = "warn"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: name, the description a model reads, argument model, behaviour."""

    name: str
    description: str
    arguments: type[Arguments]
    perform: Callable[[Any, ToolContext], ToolResult]


def _filled(model: type[Arguments], data: dict[object, object]) -> list[tuple[object, object]]:
    """Return the items that say something: blanks of optional arguments go, None becomes ""."""
    kept: list[tuple[object, object]] = []
    for key, value in data.items():
        known = model.model_fields.get(key) if isinstance(key, str) else None
        blank = value is None or value == ""
        if known is not None and blank and not known.is_required():
            continue
        is_text = known is not None and known.annotation is str
        kept.append((key, "" if value is None and is_text else value))
    return kept
