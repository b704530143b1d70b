"""Which layer and lock a build ended with, kept in the cache so that it is done once."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from pydantic import ValidationError

from codeenv._paths import cache_folder
from codeenv.images.base import Base, named_base
from codeenv.images.layers import ENV, Environment, compose, load_layer
from codeenv.tasks.digest import canonical
from codeenv.tasks.models import EnvironmentLock


def remember(key: str, environment: Environment, passed: int = 0) -> None:
    """Keep an environment under a key, with the number of tests that passed in it."""
    folder = cache_folder("environments")
    lock = json.loads(canonical(environment.lock))
    layer = environment.image.layers[0].digest
    record = {"layer": layer, "lock": lock, "passed": passed}
    with NamedTemporaryFile("w", dir=folder, prefix=".new-", delete=False) as file:
        json.dump(record, file, indent=1)
    Path(file.name).replace(folder / f"{key}.json")


def recall(key: str, base: Base) -> Environment | None:
    """Return the environment of a key, or None if its layer is gone.

    It stands on ``base``, unless its lock names one with more packages.
    """
    found = _read(key)
    layer = load_layer(found[1], ENV) if found else None
    if found is None or layer is None:
        return None
    lock = found[0]
    own = base if lock.base == base.name else named_base(lock.base)
    return Environment(lock, compose(own, (layer,), lock.variables, lock.services, lock.memory))


def recall_by_lock(lock: EnvironmentLock, base: Base) -> Environment | None:
    """Return an environment that was built or restored here with the same lock, or None."""
    same = (key for key in _keys() if (found := _read(key)) and found[0] == lock)
    return next((e for key in same if (e := recall(key, base)) is not None), None)


def passed_of(key: str) -> int:
    """Return how many tests passed when the environment of a key was made (0: not known)."""
    try:
        return int(_record(key).get("passed", 0))
    except (OSError, ValueError):
        return 0


def _read(key: str) -> tuple[EnvironmentLock, str] | None:
    """Return the lock and the layer of a key."""
    try:
        record = _record(key)
        return EnvironmentLock.model_validate(record["lock"]), str(record["layer"])
    except (OSError, ValueError, ValidationError, KeyError):
        return None


def _record(key: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((cache_folder("environments") / f"{key}.json").read_text())
    return found


def _keys() -> Iterator[str]:
    for file in sorted(cache_folder("environments").glob("*.json")):
        yield file.stem
