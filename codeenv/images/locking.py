"""One builder at a time for each thing in the cache, over threads and processes."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock ``.<name>.lock`` in a folder; it goes with the process that holds it."""
    with (folder / f".{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
