"""Functions of a repository that can be read elsewhere, before anything is deleted."""

from collections import Counter
from collections.abc import Mapping

from codeenv.audit.fingerprint import functions_of
from codeenv.audit.library import library_of
from codeenv.audit.scan import LEAST_TWIN_IN_SOURCE, readable
from codeenv.audit.secrets import passage_of
from codeenv.audit.shapes import keep_shapes
from codeenv.sandbox.image import Image


def find_twins(sources: Mapping[str, bytes], image: Image) -> frozenset[tuple[str, int]]:
    """Return (path, line) of functions whose deletion would be a leak.

    The environment holds a copy, or code of the same shape, or a long function has a twin in the
    project.

    Args:
        sources: The project's source files.
        image: The environment.
    """
    functions = [(path, f) for path, data in sources.items() for f in functions_of(data)]
    held = readable(library_of(image), [passage_of(path, f) for path, f in functions])
    keep_shapes()
    counts = Counter(f.shape for _, f in functions if f.size >= LEAST_TWIN_IN_SOURCE)
    return frozenset(
        (path, f.first)
        for number, (path, f) in enumerate(functions)
        if counts[f.shape] > 1 or number in held
    )
