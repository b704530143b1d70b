"""The environment variables every command starts with; nothing of the host's environment."""

from collections.abc import Mapping

from codeenv.sandbox.image import Image

WORKSPACE = "/workspace"
HOME = "/home/agent"
PATH = "/opt/env/bin:/usr/local/bin:/usr/bin:/bin"

_ALWAYS: Mapping[str, str] = {
    "DEBIAN_FRONTEND": "noninteractive",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LANG": "C.UTF-8",
    "LOGNAME": "agent",
    "PYTHONDONTWRITEBYTECODE": "1",
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "USER": "agent",
}
"""Nothing that changes what programs write (``NO_COLOR`` and the like): tests look at that."""


def base_variables(image: Image, *, home: str = HOME, path: str = PATH) -> dict[str, str]:
    """Return what commands of an image start with: no prompts, no terminal."""
    return {**_ALWAYS, "HOME": home, "PATH": path, **image.variables}
