"""What a host is started from, and how an environment for it is installed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeenv.tree import Tree


@dataclass(frozen=True, slots=True)
class Mount:
    """A read-only tree in a box beside the workspace, e.g. tools only the generator needs."""

    target: str
    tree: Tree


@dataclass(frozen=True)
class Layer:
    """A tree in the environment image's file system, kept as a folder on this machine."""

    digest: str
    folder: Path
    target: str
    """Absolute path in the box."""


@dataclass(frozen=True)
class Image:
    """An environment a host can be started from.

    Attributes:
        digest: Content hash of base and layers together; names the image in every backend.
        base: Content hash (or name) of the base root file system.
        rootfs: Folder of the base root file system on this machine, for backends that bind it; for
            the ``host`` base this is ``/``.
        layers: Trees on top of the base.
        variables: Environment variables every command starts with (``PATH`` among them).
        python: Absolute path of the environment's interpreter in the box.
        startup: Bash that every box runs before anything else, e.g. to start a server; "" for
            nothing.
        memory: Bytes of memory that a box has at least.
    """

    digest: str
    base: str
    rootfs: Path | None
    layers: tuple[Layer, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str = "/usr/bin/python3"
    startup: str = ""
    memory: int = 0


@dataclass(frozen=True)
class ForkServer:
    """A program that hosts keep started, so that boxes go on from there (see ``guest``).

    A command of a box that is the same as this one, in the same environment, is then a fork of it,
    with its own standard input; where that cannot be, it is started as ever.

    Attributes:
        argv: The command, with an absolute path.
        env: Variables added to the image's.
        stdin: What it is given on standard input when it is started as a server: it must then run
            ``guest/fork_server.py``.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: bytes


@dataclass(frozen=True)
class InstallJob:
    """A script run once, with network, on a writable copy of a base; its output folder is kept.

    Attributes:
        image: The base (an ``Image`` without layers).
        script: Bash, run with ``set -eu`` in ``/build``.
        inputs: Files put into ``/build`` beforehand (wheels, requirement files, our scripts).
        output: Absolute folder (made empty beforehand) that is read back, e.g. ``/opt/env``.
        env: Variables for the script, e.g. index settings.
        ca_bundle: Bytes of the host's CA bundle, offered at ``/run/codeenv/ca.pem`` and never kept.
        timeout: Seconds.
    """

    image: Image
    script: str
    inputs: Tree
    output: str
    env: Mapping[str, str] = field(default_factory=dict)
    ca_bundle: bytes = b""
    timeout: float = 900.0


@dataclass(frozen=True)
class InstallResult:
    """How an installation ended: its log, and the output folder as a tree (empty if it failed)."""

    exit_code: int
    log: str
    tree: Tree
