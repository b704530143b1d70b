"""A box's files at one moment, as a value that any box of the same workspace can begin with."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the processes of a box have written; the processes themselves are not part of it.

    Folders, modes, times and links are kept, ``.git`` too; sockets, pipes and devices are not, and
    a file of several names becomes several.  It can be pickled.

    Attributes:
        workspace: Digest of the tree the box was opened with.
        index: Where in ``data`` which file lies.
        data: The bytes of all files.
    """

    workspace: str
    index: dict[str, Any] = field(repr=False)
    data: bytes = field(repr=False)
