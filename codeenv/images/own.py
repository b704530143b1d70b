"""Keeping the project itself out of what is installed: its tests must run the workspace's code."""

from collections.abc import Iterable

from packaging.utils import canonicalize_name

from codeenv.images.base import Base
from codeenv.images.venv import programs_of
from codeenv.languages.base import InstallPlan, Layout

_FOLDERS = ("usr/lib/python3*/dist-packages", "usr/lib/python3*/site-packages")


def own_packages(plan: InstallPlan, layout: Layout) -> frozenset[str]:
    """Return the Debian packages that may be the project itself."""
    stated = (plan.name, *layout.packages, *programs_of(plan.metadata))
    names = {canonicalize_name(name) for name in stated if name}
    return frozenset(names | {f"python3-{name}" for name in names})


def system_copy(base: Base, packages: Iterable[str]) -> str:
    """Return where a base has one of the project's packages, or ""."""
    folders = [folder for place in _FOLDERS for folder in sorted(base.rootfs.glob(place))]
    for package in packages:
        for folder in folders:
            for path in (folder / package, folder / f"{package}.py"):
                if path.exists():
                    return path.relative_to(base.rootfs).as_posix()
    return ""
