"""A box in namespaces of its own, made by a supervisor that has no privilege."""

from collections.abc import Callable

from codeenv.guest import system
from codeenv.guest.spec import BoxSpec


def flags(spec: BoxSpec) -> int:
    """Return the ``clone`` flags of a box."""
    own = (
        system.CLONE_NEWUSER
        | system.CLONE_NEWNS
        | system.CLONE_NEWPID
        | system.CLONE_NEWIPC
        | system.CLONE_NEWUTS
    )
    return own if spec.network else own | system.CLONE_NEWNET


def enter(spec: BoxSpec, layer: Callable[[str], str]) -> bool:
    """Build the box around the new process and lock it; return whether an overlay was possible."""
    raise OSError("not written yet")
