"""The environment variables every command starts with; nothing of the host's environment."""

from collections.abc import Mapping

from codeenv.sandbox.image import Image

WORKSPACE = "/workspace"
HOME = "/home/agent"
PATH = "/opt/env/bin:/usr/local/bin:/usr/bin:/bin"

_QUIET: Mapping[str, str] = {
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "true",
    "GIT_EDITOR": "true",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LANG": "C.UTF-8",
    "LOGNAME": "agent",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "PIP_PROGRESS_BAR": "off",
    "PYTHONDONTWRITEBYTECODE": "1",
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "TQDM_DISABLE": "1",
    "USER": "agent",
}


def base_variables(image: Image, *, home: str = HOME, path: str = PATH) -> dict[str, str]:
    """Return what commands of an image start with: no pager, no editor, no colours, no prompts."""
    return {**_QUIET, "HOME": home, "PATH": path, **image.variables}
