"""The tools as JSON schemas: flat scalars only, which is what every trainer's parser keeps."""

from typing import Any, get_args

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from codeenv.tools.base import Tool

_TYPES: dict[object, str] = {str: "string", int: "integer", bool: "boolean"}


def schema_of(tool: Tool) -> dict[str, Any]:
    """Return the OpenAI function schema of one tool."""
    fields = tool.arguments.model_fields
    parameters = {
        "type": "object",
        "properties": {name: _property(info) for name, info in fields.items()},
        "required": [name for name, info in fields.items() if info.is_required()],
        "additionalProperties": False,
    }
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _property(info: FieldInfo) -> dict[str, Any]:
    choices = get_args(info.annotation)
    found: dict[str, Any] = {
        "type": "string" if choices else _TYPES[info.annotation],
        "description": info.description or "",
    }
    if choices:
        found["enum"] = list(choices)
    for bound in info.metadata:
        if isinstance(bound, Ge):
            found["minimum"] = bound.ge
        if isinstance(bound, Le):
            found["maximum"] = bound.le
    if not info.is_required():
        found["default"] = info.default
    return found
