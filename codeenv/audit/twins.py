"""Functions of a repository that can be read elsewhere, before anything is deleted."""

from collections import Counter
from collections.abc import Mapping

from codeenv.audit.fingerprint import functions_of
from codeenv.audit.library import library_of
from codeenv.audit.scan import LEAST_TWIN_IN_SOURCE
from codeenv.audit.secrets import LEAST_NODES
from codeenv.audit.shapes import keep_shapes, shapes_of
from codeenv.sandbox.image import Image
from codeenv.tree import suffix


def find_twins(sources: Mapping[str, bytes], image: Image) -> frozenset[tuple[str, int]]:
    """Return (path, line) of functions whose deletion would be a leak.

    Code of the same shape is in the environment, or a long function has a twin in the project.

    Args:
        sources: The project's source files.
        image: The environment.
    """
    functions = [(path, f) for path, data in sources.items() for f in functions_of(data)]
    known = frozenset(
        shape
        for view in library_of(image)
        if not view.binary and suffix(view.path) in (".py", ".pyi")
        for shape in shapes_of(view.data)
    )
    keep_shapes()
    counts = Counter(f.shape for _, f in functions if f.size >= LEAST_TWIN_IN_SOURCE)
    return frozenset(
        (path, f.first)
        for path, f in functions
        if counts[f.shape] > 1 or (f.size >= LEAST_NODES and f.shape in known)
    )
