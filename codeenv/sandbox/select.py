"""Choosing a backend by name, and telling what works on this machine."""

from codeenv.errors import UsageError
from codeenv.sandbox.base import Backend
from codeenv.sandbox.local import LocalBackend


def open_backend(name: str = "auto", **options: object) -> Backend:
    """Return a backend.

    Raises:
        UsageError: If there is no backend of this name.
        BackendUnavailable: If it does not work here.
    """
    if name == "local":
        return LocalBackend()
    raise UsageError(f"no backend named {name}")
