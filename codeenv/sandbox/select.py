"""Choosing a backend by name, and telling what works on this machine."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from codeenv.errors import BackendUnavailable, CodeEnvError, UsageError
from codeenv.sandbox.base import Backend
from codeenv.sandbox.bubblewrap import BubblewrapBackend, find_program
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity
from codeenv.sandbox.cgroup import can_limit_memory
from codeenv.sandbox.image import Image
from codeenv.sandbox.local import LocalBackend
from codeenv.tree import Tree

NAMES = ("docker", "bubblewrap", "local")
DOCKER_OPTIONS = frozenset({"isolation", "runtime"})
_USER_NAMESPACES = "the kernel or a security module refuses unprivileged user namespaces"


@dataclass(frozen=True, slots=True)
class Probe:
    """What one backend's wall needs and whether it is here; ``hint`` says what to do if not."""

    name: str
    ok: bool
    detail: str = ""
    hint: str = ""
    version: str = ""


def open_backend(
    name: str = "auto", *, capacity: Capacity = DEFAULT_CAPACITY, **options: str
) -> Backend:
    """Return a backend: ``docker``, ``bubblewrap``, ``local``, or ``auto`` for a wall that works.

    Args:
        name: Which; ``auto`` takes Docker, else bubblewrap, and never ``local``.
        capacity: How many boxes there may be at once, and how many on a host.
        options: Of ``docker``: ``isolation="container"``, a fresh container per episode, and
            ``runtime=NAME``, one of the engine's runtimes.  With one, ``auto`` is ``docker``.

    Raises:
        UsageError: If there is no such backend or option.
        BackendUnavailable: If it does not work here.
    """
    makers: Mapping[str, Callable[..., Backend]] = {
        "auto": _auto,
        "docker": _docker,
        "bubblewrap": BubblewrapBackend,
        "local": LocalBackend,
    }
    if name not in makers:
        raise UsageError(f"no backend is named {name}", hint=f"one of auto, {', '.join(NAMES)}")
    unknown = set(options) - (DOCKER_OPTIONS if name in ("docker", "auto") else set())
    if unknown:
        raise UsageError(
            f"backend {name} has no option {', '.join(sorted(unknown))}",
            hint=f"docker has {', '.join(sorted(DOCKER_OPTIONS))}",
        )
    return makers[name](capacity=capacity, **options)


def probe(name: str) -> Probe:
    """Look whether a backend works here, by using it."""
    probes = {"docker": _probe_docker, "bubblewrap": _probe_bubblewrap}
    if name == "local":
        return Probe(name, ok=True, detail="no isolation at all: tests and documentation only")
    try:
        return probes[name]()
    except CodeEnvError as error:
        return Probe(name, ok=False, detail=error.message, hint=error.hint)


def _auto(capacity: Capacity, **options: str) -> Backend:
    if options:
        return _docker(capacity, **options)
    problems = []
    for make in (_docker, BubblewrapBackend):
        try:
            return make(capacity)
        except BackendUnavailable as error:
            problems.append(error.message)
    raise BackendUnavailable(
        f"no sandbox works here: {'; '.join(problems)}",
        hint="start Docker, or apt-get install bubblewrap; codeenv doctor tells more",
    )


def _docker(capacity: Capacity, isolation: str = "box", runtime: str = "") -> Backend:
    from codeenv.sandbox.docker import DockerBackend

    if isolation not in ("box", "container"):
        raise UsageError(f"no isolation is named {isolation}", hint="box or container")
    return DockerBackend("container" if isolation == "container" else "box", capacity, runtime)


def _probe_docker() -> Probe:
    from codeenv.sandbox.docker_client import connect, engine_errors, limits_memory

    with closing(connect()) as client, engine_errors("cannot ask the Docker engine"):
        info = client.info()
    detail = f"{info.get('Driver')}, cgroup v{info.get('CgroupVersion', '1')}, "
    detail += _memory(limited=limits_memory(info))
    hint = f"{_USER_NAMESPACES}: pass --docker-isolation container" if _refused() else ""
    return Probe("docker", ok=True, detail=detail, hint=hint, version=info["ServerVersion"])


def _probe_bubblewrap() -> Probe:
    program = find_program()
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = said.stdout.strip().rpartition(" ")[2]
    python = str(Path(sys.base_prefix).resolve() / "bin/python3")
    image = Image("probe", "host", Path("/"), (), {}, python)
    backend = BubblewrapBackend()
    try:
        with backend.open(image, Tree({})) as box:
            works = box.exec("true").exit_code == 0
            detail = "overlay workspaces" if box.overlay else "copied workspaces (no overlay)"
            detail += f", {_memory(limited=can_limit_memory())}"
    except CodeEnvError as error:
        return Probe("bubblewrap", False, error.message, f"{_USER_NAMESPACES}?", version)
    finally:
        backend.close()
    return Probe("bubblewrap", works, detail, version=version)


def _memory(*, limited: bool) -> str:
    return "memory limited by the kernel" if limited else "memory watched"


def _refused() -> bool:
    """Return whether this kernel's settings forbid ordinary users namespaces of their own."""
    settings = {
        "/proc/sys/user/max_user_namespaces": "0",
        "/proc/sys/kernel/unprivileged_userns_clone": "0",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
    }
    for path, refusing in settings.items():
        file = Path(path)
        if file.is_file() and file.read_text().strip() == refusing:
            return True
    return False
