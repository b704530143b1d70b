"""The agent's tools."""

from codeenv.tools.action import parse_action
from codeenv.tools.base import ErrorCode, ToolCall, ToolContext, ToolError, ToolResult
from codeenv.tools.registry import PROFILES, Profile, perform, schemas, tools_of, validate

__all__ = [
    "PROFILES",
    "ErrorCode",
    "Profile",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolResult",
    "parse_action",
    "perform",
    "schemas",
    "tools_of",
    "validate",
]
