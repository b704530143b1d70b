"""Trajectories as JSON files."""

from pathlib import Path

from pydantic import ValidationError

from codeenv.errors import UsageError
from codeenv.tasks.taskset import write_atomic
from codeenv.trajectory.models import Trajectory


def write_trajectory(path: Path, trajectory: Trajectory) -> None:
    """Write a trajectory; the file appears whole or not at all."""
    text = trajectory.model_dump_json(indent=1, exclude_none=True)
    write_atomic(path, text.encode() + b"\n")


def read_trajectory(path: Path) -> Trajectory:
    """Read a trajectory of any ATIF version 1.

    Raises:
        UsageError: If there is no such file or it is not a trajectory.
    """
    try:
        return Trajectory.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path} is not a trajectory: {where}: {first['msg']}") from error
