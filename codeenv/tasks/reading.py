"""Reading persisted models from files that people or other versions may have written."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from codeenv.errors import TaskError
from codeenv.tasks.models import Model, Recipe
from codeenv.tasks.packing import unpack

_SHOWN = 3
M = TypeVar("M", bound=Model)


def read_model(path: Path, kind: type[M]) -> M:
    """Read one model.

    Raises:
        TaskError: If the file cannot be read, is not JSON, is of another schema version, or does
            not fit the model; the message names the file and the first few problems.
    """
    text = _read(path)
    values = _parse(path, text)
    known = kind.model_fields["schema_version"].default
    version = values.get("schema_version", known)
    if version != known:
        raise TaskError(
            f"{path}: schema version {version!r} is not known; this codeenv reads {known}",
            hint="upgrade codeenv-gym, or generate the taskset again with this version",
        )
    try:
        whole = unpack(values) if issubclass(kind, Recipe) else values
        return kind.model_validate_json(json.dumps(whole))
    except ValueError as error:  # what pydantic raises is one
        what = kind.__name__.lower()
        told = shorten(error) if isinstance(error, ValidationError) else str(error)
        raise TaskError(
            f"{path} is not a {what}: {told}",
            hint=f"a {what} file is written by codeenv generate and not meant to be edited",
        ) from None


def shorten(error: ValidationError) -> str:
    """Return the first few problems of a validation on one line."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, p['loc'])) or 'file'}: {p['msg']}" for p in problems[:_SHOWN]]
    more = len(problems) - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"cannot read {path}: {error}", hint="is it a recipe file?") from None


def _parse(path: Path, text: str) -> dict[str, object]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{path} is not JSON: {error}", hint="is it a recipe file?") from None
    if not isinstance(values, dict):
        raise TaskError(f"{path} holds no JSON object", hint="is it a recipe file?")
    return values
