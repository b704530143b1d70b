"""What the host asks a supervisor for when it opens a box."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from codeenv.guest.frames import Header
from codeenv.guest.places import Places
from codeenv.guest.server import Setting

Mode = Literal["namespaces", "plain"]


@dataclass(frozen=True, slots=True)
class BoxSpec:
    """One box.

    Attributes:
        box: Its number on this wall.
        mode: ``namespaces``: a box of its own; ``plain``: a process of the wall.
        layer: Digest of the workspace.
        workspace: Where the workspace is in the box.
        home: Home folder.
        temporary: Temporary folders; the first holds the commands' logs.
        mounts: Read-only trees: absolute target and digest of the layer.
        variables: Environment of every command.
        alone: Whether every process the box's server sees is its own.
        network: Whether the box keeps the wall's network.
        uid: User and group in the box (``namespaces``).
        memory: Bytes one process may allocate (0: no limit).
        pids: Processes (0: no limit).
        disk: Bytes of files outside the base.
        entries: Largest number of entries of an exported tree.
        idle: Seconds a command may write nothing; 0 for no limit.
    """

    box: int
    mode: Mode
    layer: str
    workspace: str
    home: str
    temporary: tuple[str, ...]
    mounts: tuple[tuple[str, str], ...]
    variables: Mapping[str, str]
    alone: bool
    network: bool
    uid: int
    memory: int
    pids: int
    disk: int
    entries: int
    idle: float = 0.0

    @classmethod
    def from_header(cls, header: Header) -> Self:
        """Read the spec from a request's header."""
        fields = {**header["spec"]}
        fields["temporary"] = tuple(fields["temporary"])
        fields["mounts"] = tuple((target, digest) for target, digest in fields["mounts"])
        return cls(**fields)

    @property
    def setting(self) -> Setting:
        """What the box's tool server works on."""
        places = Places(self.workspace, self.temporary)
        return Setting(
            places, self.variables, f"{self.temporary[0]}/codeenv/out", self.alone, self.idle
        )
