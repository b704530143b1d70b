"""Functions of a repository that can be read elsewhere, before anything is deleted."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from codeenv._paths import cache_folder
from codeenv.audit import fingerprint, scan, shapes
from codeenv.audit.fingerprint import functions_of
from codeenv.audit.library import Library, library_of
from codeenv.audit.scan import LEAST_TWIN_IN_SOURCE, readable
from codeenv.audit.secrets import Passage, passage_of
from codeenv.audit.shapes import keep_shapes
from codeenv.sandbox.image import Image
from codeenv.tasks.taskset import write_atomic

_FILE = "twins.json"
_RULES = (fingerprint, scan, shapes)


def find_twins(sources: Mapping[str, bytes], image: Image) -> frozenset[tuple[str, int]]:
    """Return (path, line) of functions whose deletion would be a leak.

    The environment holds a copy, or code of the same shape, or a long function has a twin in the
    project.  What the environment holds is looked up once and cached.

    Args:
        sources: The project's source files.
        image: The environment.
    """
    functions = [(path, f) for path, data in sources.items() for f in functions_of(data)]
    held = _held(library_of(image), [passage_of(path, f) for path, f in functions], sources)
    keep_shapes()
    counts = Counter(f.shape for _, f in functions if f.size >= LEAST_TWIN_IN_SOURCE)
    return frozenset(
        (path, f.first)
        for number, (path, f) in enumerate(functions)
        if counts[f.shape] > 1 or number in held
    )


def _held(
    library: Library, passages: Sequence[Passage], sources: Mapping[str, bytes]
) -> frozenset[int]:
    folder = cache_folder("words", _key(library, sources))
    with suppress(OSError, ValueError):
        return frozenset(map(int, json.loads((folder / _FILE).read_bytes())))
    held = readable(library, passages)
    with suppress(OSError):  # a shared cache may belong to someone else
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / _FILE, json.dumps(sorted(held)).encode())
    return held


def _key(library: Library, sources: Mapping[str, bytes]) -> str:
    total = hashlib.sha256(library.key.encode())
    for module in _RULES:
        total.update(Path(str(module.__file__)).read_bytes())
    for path, data in sources.items():
        total.update(f"\n{path}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return total.hexdigest()[:32]
