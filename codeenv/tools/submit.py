"""``submit``: the agent says it is done; it is told nothing of the verdict."""

from typing import Annotated

from pydantic import Field

from codeenv.tools.base import Arguments, Tool, ToolContext, ToolResult


class Submit(Arguments):
    """What the agent says of its work."""

    message: Annotated[str, Field(description="Optional one-line summary of the change.")] = ""


def perform(_arguments: Submit, _context: ToolContext) -> ToolResult:
    """Acknowledge; the episode does the rest."""
    return ToolResult("submit", "Submitted.", output_bytes=len("Submitted."))


TOOL = Tool(
    "submit",
    "Finish the episode: the current state of the repository is graded. No further tool calls are "
    "possible.",
    Submit,
    perform,
)
