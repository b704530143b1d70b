"""Which combinations of versions are tried: the repository's own pins, then ever older pytests."""

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_RUNNER = "pytest"
_LADDER = ("pytest", "pytest<9", "pytest<8")
INSTALLERS = frozenset({"pip", "setuptools", "wheel"})
"""Never in an environment for their own sake: they carry copies of dozens of projects."""
_FOR = frozenset({"flake8", "mypy", "plugin", "pytest", "sphinx", "stubs", "types"})
"""Words in names of what is made for a distribution, and is not the distribution."""
_NEVER_ASKED_FOR = INSTALLERS | {
    "build", "nox", "pip-compile-multi", "pip-tools", "pre-commit", "tox", "twine", "uv",
}  # fmt: skip


@dataclass(frozen=True)
class Rung:
    """A test runner's requirement, and what else is installed with it."""

    runner: str
    others: tuple[str, ...]


def rungs_of(requirements: Sequence[str], python: str) -> tuple[Rung, ...]:
    """Return what to try for a Python version, in order.

    First everything as the repository pins it (made for the Python of its day, perhaps), then its
    requirements without exact pins under the newest pytest and the ones before.
    """
    wanted = [text for text in requirements if _applies(text, python)]
    others = tuple(t for t in wanted if project(t) != _RUNNER)
    runners = [t for t in wanted if project(t) == _RUNNER and _keeps_newest_out(t)]
    loose = tuple(dict.fromkeys(loosen(text) for text in others))
    own = Rung(next(iter(runners), _RUNNER), others)
    return tuple(dict.fromkeys([own, *(Rung(runner, loose) for runner in _LADDER)]))


def loosen(text: str) -> str:
    """Return a requirement without its exact pins; ranges stay."""
    requirement = Requirement(text)
    kept = [s for s in requirement.specifier if s.operator not in ("==", "===")]
    if len(kept) == len(requirement.specifier):
        return text
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return requirement.name + extras + ",".join(sorted(str(s) for s in kept))


def as_stated(name: str, optional: Sequence[str]) -> str:
    """Return the optional requirement that a missing distribution is, else its name as it is.

    The name was guessed from a module's: ``railroad`` is ``railroad-diagrams`` where the repository
    asks for that, and nothing else has this word in its name.
    """
    named = {project(text): text for text in optional}
    words = {other: frozenset(other.split("-")) for other in named}
    alike = [other for other in named if project(name) in words[other] and not words[other] & _FOR]
    chosen = project(name) if project(name) in named else alike[0] if len(alike) == 1 else ""
    return named.get(chosen, name)


def project(text: str) -> str:
    """Return the normalised name of what a requirement asks for, or ""."""
    try:
        return canonicalize_name(Requirement(text).name)
    except InvalidRequirement:
        return ""


def _applies(text: str, python: str) -> bool:
    """Return whether a requirement is wanted on a Python version and this platform."""
    if not project(text) or project(text) in _NEVER_ASKED_FOR:
        return False
    marker = Requirement(text).marker
    versions = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
    return marker is None or marker.evaluate({"extra": "", **versions})


def _keeps_newest_out(text: str) -> bool:
    pins = ("==", "~=", "<", "<=", "===")
    return any(s.operator in pins for s in Requirement(text).specifier)
