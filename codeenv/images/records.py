"""Which layer and lock a build ended with, kept in the cache so that it is done once."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

from pydantic import ValidationError

from codeenv._paths import cache_folder
from codeenv.images.base import Base
from codeenv.images.layers import ENV, Environment, compose, load_layer
from codeenv.tasks.digest import canonical
from codeenv.tasks.models import EnvironmentLock


def remember(key: str, environment: Environment) -> None:
    """Keep an environment under a key."""
    folder = cache_folder("environments")
    lock = json.loads(canonical(environment.lock))
    record = {"layer": environment.image.layers[0].digest, "lock": lock}
    with NamedTemporaryFile("w", dir=folder, prefix=".new-", delete=False) as file:
        json.dump(record, file, indent=1)
    Path(file.name).replace(folder / f"{key}.json")


def recall(key: str, base: Base) -> Environment | None:
    """Return the environment of a key on a base, or None if its layer is gone."""
    try:
        record = json.loads((cache_folder("environments") / f"{key}.json").read_text())
        lock = EnvironmentLock.model_validate(record["lock"])
    except (OSError, ValueError, ValidationError, KeyError):
        return None
    layer = load_layer(record["layer"], ENV)
    return Environment(lock, compose(base, (layer,), lock.variables)) if layer else None


def recall_by_lock(lock: EnvironmentLock, base: Base) -> Environment | None:
    """Return an environment that was built or restored here with the same lock, or None."""
    found = (recall(key, base) for key in _keys())
    return next((e for e in found if e is not None and e.lock == lock), None)


def _keys() -> Iterator[str]:
    for file in sorted(cache_folder("environments").glob("*.json")):
        yield file.stem
