"""Which tools there are, and the one place where a call is carried out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from codeenv.errors import PathError
from codeenv.tools import edit_file, lint, read_file, run_command, search, submit
from codeenv.tools.base import Arguments, Tool, ToolCall, ToolContext, ToolError, ToolResult
from codeenv.tools.schema import schema_of
from codeenv.tools.text import readable

Profile = Literal["core4", "core4+lint"]
_CORE = (read_file.TOOL, edit_file.TOOL, run_command.TOOL, search.TOOL, submit.TOOL)
PROFILES: Mapping[Profile, tuple[Tool, ...]] = {
    "core4": _CORE,
    "core4+lint": (*_CORE, lint.TOOL),
}


def tools_of(profile: Profile = "core4") -> dict[str, Tool]:
    """Return the tools of a profile by name.

    Raises:
        ValueError: If there is no such profile.
    """
    if profile not in PROFILES:
        raise ValueError(f"no tool profile {profile!r}; there are {', '.join(PROFILES)}")
    return {tool.name: tool for tool in PROFILES[profile]}


def schemas(profile: Profile = "core4") -> list[dict[str, Any]]:
    """Return the OpenAI function schemas of a profile's tools."""
    return [schema_of(tool) for tool in tools_of(profile).values()]


def perform(call: ToolCall, context: ToolContext, profile: Profile = "core4") -> ToolResult:
    """Carry a call out.

    Whatever is wrong with the call is an error observation.

    Raises:
        SandboxError: If the sandbox failed; the agent must not see it.
    """
    tools = tools_of(profile)
    tool = tools.get(call.tool)
    if tool is None:
        known = ", ".join(tools)
        return _clean(
            ToolResult.failed(
                call.tool, "unknown_tool", f"there is no tool {call.tool!r}; there are {known}"
            )
        )
    try:
        arguments = tool.arguments.model_validate(call.arguments)
        return _clean(tool.perform(arguments, context))
    except ValidationError as error:
        return _clean(ToolResult.failed(tool.name, "bad_arguments", _explain(tool, error)))
    except PathError as error:
        failure = ToolError.of(error)
        return _clean(ToolResult.failed(tool.name, failure.code, failure.message))
    except ToolError as error:
        return _clean(ToolResult.failed(tool.name, error.code, error.message))


def validate(call: ToolCall, profile: Profile = "core4") -> Arguments | None:
    """Return the call's arguments as their model, or None if tool or arguments are wrong."""
    tool = tools_of(profile).get(call.tool)
    if tool is None:
        return None
    try:
        return tool.arguments.model_validate(call.arguments)
    except ValidationError:
        return None


def _clean(result: ToolResult) -> ToolResult:
    return replace(result, name=readable(result.name), text=readable(result.text))


def _explain(tool: Tool, error: ValidationError) -> str:
    problems = "; ".join(_problem(detail) for detail in error.errors(include_url=False)[:5])
    fields = tool.arguments.model_fields.items()
    names = ", ".join(f"{name}{'' if info.is_required() else '?'}" for name, info in fields)
    return f"{tool.name}: {problems} (parameters: {names})"


def _problem(detail: ErrorDetails) -> str:
    where = ".".join(str(part) for part in detail["loc"])[:80]
    if detail["type"] == "missing":
        return f"{where} is missing"
    if detail["type"] == "extra_forbidden":
        return f"there is no parameter {where}"
    return f"{where}: {detail['msg'][:200]}"
