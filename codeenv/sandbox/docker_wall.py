"""One container as a wall: what it may do, and how it starts."""

import json
import socket
import time
from dataclasses import dataclass
from typing import Any

import docker
from docker.types import LogConfig, Mount, Ulimit

from codeenv._paths import cache_folder
from codeenv.errors import SandboxError
from codeenv.sandbox.bundle import bootstrap
from codeenv.sandbox.docker_client import engine_errors
from codeenv.sandbox.docker_stream import DOOR, DockerTransport
from codeenv.sandbox.door import Door
from codeenv.sandbox.owner import owner
from codeenv.sandbox.pool import HostKey
from codeenv.sandbox.variables import HOME, WORKSPACE
from codeenv.sandbox.walled import AGENT, LAYERS, somebody

OWNER_LABEL, DEADLINE_LABEL, RUN_LABEL = "codeenv.owner", "codeenv.deadline", "codeenv.run"
LIFETIME = 24 * 3600
"""Seconds after which ``gc`` removes a container whoever owns it."""
_HEADROOM = 128 * 1024**2
"""Bytes for the supervisor and the layers, on top of what a box may use."""
_OWN_PROCESSES = 16
_DESCRIPTORS, _PROCESSES = 16_384, 32_768
"""Open files of a process, and processes of a user: no more than engines may give anywhere."""
_DENIED = (
    "acct add_key adjtimex bpf clock_adjtime clock_settime create_module delete_module "
    "fanotify_init finit_module init_module io_uring_enter io_uring_register io_uring_setup ioperm "
    "iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie migrate_pages modify_ldt "
    "move_pages nfsservctl open_by_handle_at perf_event_open pidfd_getfd process_vm_readv "
    "process_vm_writev ptrace quotactl quotactl_fd reboot request_key setns settimeofday swapoff "
    "swapon syslog uselib userfaultfd vhangup"
).split()
_PROFILE = json.dumps(
    {
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [{"names": _DENIED, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}],
    }
)


@dataclass(frozen=True, slots=True)
class Wall:
    """What all containers of a backend have in common.

    Attributes:
        run: Label that names who started them.
        nested: Whether boxes get namespaces of their own in it.
        boxes: How many live in one at once.
        runtime: The engine's runtime to use; "" for its default.
    """

    run: str
    nested: bool = True
    boxes: int = 1
    runtime: str = ""


def start_wall(
    client: docker.DockerClient, engine: dict[str, Any], tag: str, key: HostKey, wall: Wall
) -> DockerTransport:
    """Start a container and attach to it.

    Args:
        client: The engine.
        engine: What it says of itself.
        tag: Image to start.
        key: What it will serve.
        wall: What all have in common.

    Raises:
        SandboxError: If the engine refuses.
    """
    user = somebody(mapped=_maps_users(engine)) if wall.nested else AGENT
    options = _host_options(engine, key, wall, user)
    door = _door(client)
    if door is not None:
        try:
            return _start(client, tag, user, {**options, "mounts": [_shown(door)]}, wall, door)
        except SandboxError:  # the engine may not see this machine's folders: tried without
            door.close()
        except BaseException:
            door.close()
            raise
    return _start(client, tag, user, options, wall)


def _door(client: docker.DockerClient) -> Door | None:
    """Return a door to show, if the engine is reached through a socket of this machine."""
    if not client.api.base_url.startswith("http+docker://"):
        return None
    try:
        return Door()
    except OSError:
        return None


def _start(
    client: docker.DockerClient,
    tag: str,
    user: int,
    options: dict[str, Any],
    wall: Wall,
    door: Door | None = None,
) -> DockerTransport:
    api = client.api
    deadline = int(time.time()) + LIFETIME
    with engine_errors("cannot start a sandbox container"):
        host_config = api.create_host_config(**options)
        host_config["MaskedPaths"] = []  # else no box could mount a /proc of its own
        host_config["ReadonlyPaths"] = []
        created = api.create_container(
            tag,
            command=list(bootstrap("/usr/bin/python3")),
            entrypoint=[],
            user=f"{user}:{user}",
            environment={"LANG": "C.UTF-8"},
            working_dir="/",
            stdin_open=True,
            network_disabled=False,
            hostname="sandbox",
            labels={OWNER_LABEL: owner(), DEADLINE_LABEL: str(deadline), RUN_LABEL: wall.run},
            host_config=host_config,
        )
        stream = None
        try:
            stream = _attach(client, created["Id"])
            api.start(created["Id"])
        except BaseException:
            if stream is not None:
                stream.close()
            api.remove_container(created["Id"], force=True)
            raise
    return DockerTransport(api, created["Id"], stream, door)


def _shown(door: Door) -> Mount:
    return Mount(DOOR, str(door.folder), type="bind", read_only=True)


def _attach(client: docker.DockerClient, container: str) -> socket.socket:
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    attached = client.api.attach_socket(container, params=wanted)
    stream = getattr(attached, "_sock", attached)
    if not isinstance(stream, socket.socket):
        raise SandboxError(f"cannot attach to a container over {type(stream).__name__}")
    ours = stream.dup()  # the SDK's own object is tied to a response it would collect
    stream.close()
    attached.close()
    return ours


def _host_options(engine: dict[str, Any], key: HostKey, wall: Wall, user: int) -> dict[str, Any]:
    limits = key.limits
    memory = wall.boxes * limits.memory + _HEADROOM
    cpus = min(wall.boxes * limits.cpus, engine.get("NCPU") or limits.cpus)  # more is refused
    return {
        "network_mode": "bridge" if key.network else "none",
        "read_only": True,
        "tmpfs": _tmpfs(key, wall, "" if is_podman(engine) else f",uid={user},gid={user}"),
        "cap_drop": ["ALL"],
        "security_opt": _security(engine),
        "mem_limit": memory,
        "memswap_limit": memory,
        "pids_limit": wall.boxes * (limits.pids + _OWN_PROCESSES),
        "nano_cpus": int(cpus * 1e9),
        "runtime": wall.runtime or None,
        "ulimits": [
            Ulimit(name="nofile", soft=_DESCRIPTORS, hard=_DESCRIPTORS),
            Ulimit(name="nproc", soft=_PROCESSES, hard=_PROCESSES),
        ],
        "ipc_mode": "private",
        "shm_size": limits.disk,
        "init": False,
        "auto_remove": True,
        "log_config": LogConfig(type="none"),
    }


def _tmpfs(key: HostKey, wall: Wall, user: str) -> dict[str, str]:
    """Return the memory file systems of a container; Podman's cannot be given a user."""
    own = f"rw,exec,nosuid,nodev{user}"
    mode = 755 if user else 1777
    folders = {LAYERS: f"{own},mode={mode}"}
    folders |= dict.fromkeys(key.targets, f"{own},mode={mode}")
    if not wall.nested:
        folders |= dict.fromkeys((WORKSPACE, HOME), f"{own},mode={mode},size={key.limits.disk}")
        shared = ("/tmp", "/var/tmp")
        folders |= dict.fromkeys(shared, f"{own},mode=1777,size={key.limits.disk}")
    return folders


def _security(engine: dict[str, Any]) -> list[str]:
    options = ["no-new-privileges:true", f"seccomp={_profile(engine)}"]
    if any("apparmor" in option for option in engine.get("SecurityOptions") or ()):
        options.append("apparmor=unconfined")  # Docker's profile refuses the box's mounts
    if is_podman(engine):
        options.append("unmask=ALL")  # as MaskedPaths for Docker
    return options


def is_podman(engine: dict[str, Any]) -> bool:
    """Return whether an engine that speaks Docker's language is Podman."""
    return "BuildahVersion" in engine


def _maps_users(engine: dict[str, Any]) -> bool:
    """Return whether only some users exist in an engine's containers."""
    options = " ".join(engine.get("SecurityOptions") or ())
    return "rootless" in options or "userns" in options or bool(engine.get("Rootless"))


def _profile(engine: dict[str, Any]) -> str:
    """Return the profile as an engine takes it: itself, or for Podman the file that it is in."""
    if not is_podman(engine):
        return _PROFILE
    file = cache_folder("podman") / "seccomp.json"
    file.write_text(_PROFILE, encoding="utf-8")
    return str(file)
