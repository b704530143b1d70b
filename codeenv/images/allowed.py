"""Which packages and variables an environment may have: their names come from repositories."""

import re
from collections.abc import Iterable, Mapping

from codeenv.errors import BuildError

_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.]*(-[a-z0-9+.]+)*")
"""An option of apt is none, nor is a name that tells apt to remove a package."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = re.compile(
    r"PATH|HOME|SHELL|USER|LOGNAME|VIRTUAL_ENV|IFS|ENV|(BASH|LD|PIP|GCONV)_\w*|(PYTHON|PYTEST)\w*"
)
"""What steers the loader, the shell, the interpreter, pip or pytest."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def is_package(name: str) -> bool:
    """Return whether a text is the name of a Debian package."""
    return _PACKAGE.fullmatch(name) is not None


def is_variable(name: str, value: str) -> bool:
    """Return whether a variable may be set to a value."""
    named = _VARIABLE.fullmatch(name) and not _RESERVED.fullmatch(name)
    return bool(named) and not _CONTROL.search(value)


def packages_in(base: str) -> tuple[str, ...]:
    """Return the packages that the name of a base (``debian:trixie+git,zsh``) speaks of."""
    return tuple(filter(None, base.partition("+")[2].split(",")))


def demand_packages(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of packages, sorted, each once.

    Raises:
        BuildError: If one of them is no name.
    """
    found = tuple(sorted(set(names)))
    for name in found:
        if not is_package(name):
            raise BuildError(f"{name!r} is not the name of a Debian package")
    return found


def demand_variables(variables: Mapping[str, str]) -> None:
    """Check the variables of an environment.

    Raises:
        BuildError: If one of them may not be set.
    """
    for name, value in variables.items():
        if not is_variable(name, value):
            raise BuildError(f"an environment may not set the variable {name!r}")
