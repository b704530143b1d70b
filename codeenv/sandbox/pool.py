"""Hosts kept for the next episode, apart by what they may serve."""

import atexit
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from codeenv.errors import SandboxError
from codeenv.guest.spec import BoxSpec
from codeenv.sandbox.base import Limits, Role
from codeenv.sandbox.box import Box
from codeenv.sandbox.host import Host
from codeenv.sandbox.image import Image, Mount
from codeenv.tree import Tree

DEFAULT_LIMITS = Limits()
_STARTUP_TIMEOUT = 90.0


@dataclass(frozen=True, slots=True)
class HostKey:
    """What a host may serve: boxes with the same key share hosts, one after the other."""

    digest: str
    role: Role
    limits: Limits
    targets: tuple[str, ...]
    network: bool
    image: Image = field(compare=False)

    @classmethod
    def of(
        cls, image: Image, role: Role, limits: Limits, mounts: Sequence[Mount], network: bool
    ) -> "HostKey":
        """Return the key for a box with these arguments."""
        targets = tuple(sorted(mount.target for mount in mounts))
        return cls(image.digest, role, limits, targets, network, image)


@dataclass(eq=False)
class HostPool:
    """Starts hosts, lends them to one box at a time, and ends them.  Thread-safe.

    Attributes:
        start: Starts a host.
        idle: How many unused hosts are kept at most.
        boxes: How many boxes a host serves before it is replaced.
    """

    start: Callable[[HostKey], Host]
    idle: int = 8
    boxes: int = 200
    _free: list[tuple[HostKey, Host]] = field(default_factory=list)
    _lent: list[Host] = field(default_factory=list)
    _closed: bool = False

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._numbers = itertools.count(1)
        atexit.register(self.close)

    def open(
        self,
        key: HostKey,
        workspace: Tree,
        mounts: Sequence[Mount],
        describe: Callable[[Host, int], BoxSpec],
        translate: Callable[[Host, str], str] | None = None,
    ) -> Box:
        """Open a box on a host for ``key``.

        Args:
            key: Which hosts can serve it.
            workspace: The tree it starts with.
            mounts: Read-only trees beside it.
            describe: Makes the rest of the spec from the host and the box's number.
            translate: Maps paths of the image to where they are on the host.
        """
        host = self._take(key)
        try:
            layers = [host.provide(workspace), *(host.provide(mount.tree) for mount in mounts)]
            spec = describe(host, next(self._numbers))
            reply = host.call({"op": "open", "spec": _fields(spec, layers, mounts)}, timeout=30)
        except BaseException:
            host.healthy = False
            self._give_back(key, host)
            raise
        host.boxes += 1

        def on_close(box: Box) -> None:
            self._close_box(key, box, layers)

        box = Box(host, spec, bool(reply.header["overlay"]), on_close, began_with=layers[0])
        if translate is not None:
            box.translate = lambda text: translate(host, text)
        if key.image.startup:
            _start_up(box, key.image.startup)
        else:
            box.again = lambda: self.open(key, workspace, mounts, describe, translate)
        return box

    def close(self) -> None:
        """End every host.  Idempotent."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
            hosts = [*self._lent, *(host for _, host in self._free)]
            self._lent, self._free = [], []
        if os.getpid() == self._owner:
            for host in hosts:
                host.close()

    def _take(self, key: HostKey) -> Host:
        while (kept := self._take_kept(key)) is not None:
            if kept.answers():
                return kept
            self._give_back(key, kept)
        host = self.start(key)
        with self._lock:
            self._lent.append(host)
        return host

    def _take_kept(self, key: HostKey) -> Host | None:
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox backend is closed")
            if os.getpid() != self._owner:  # a fork: these hosts are our parent's
                self._free, self._lent, self._owner = [], [], os.getpid()
            for entry in reversed(self._free):  # the one used last is the warmest
                kept, host = entry
                if kept == key:
                    self._free.remove(entry)
                    self._lent.append(host)
                    return host
        return None

    def _close_box(self, key: HostKey, box: Box, layers: Sequence[str]) -> None:
        try:
            if box.host.healthy:
                box.host.call({"op": "close", "box": box.spec.box})
                for digest in layers:
                    box.host.release(digest)
        except SandboxError:
            box.host.healthy = False
        finally:
            self._give_back(key, box.host)

    def _give_back(self, key: HostKey, host: Host) -> None:
        surplus = [host]
        with self._lock:
            if host in self._lent:
                self._lent.remove(host)
            if host.healthy and host.boxes < self.boxes and not self._closed:
                self._free.append((key, host))
                surplus = [old for _, old in self._free[: -self.idle]]
                self._free = self._free[-self.idle :]
        for old in surplus:
            old.close()


def _start_up(box: Box, script: str) -> None:
    """Start what every box of an image starts with; without it the box is of no use."""
    try:
        result = box.exec(script, timeout=_STARTUP_TIMEOUT)
        if result.exit_code:
            raise SandboxError(f"the box's servers do not start: {result.text[-500:]}")
    except BaseException:
        box.close()
        raise


def _fields(spec: BoxSpec, layers: Sequence[str], mounts: Sequence[Mount]) -> dict[str, object]:
    fields: dict[str, object] = {name: getattr(spec, name) for name in BoxSpec.__slots__}
    fields["layer"] = layers[0]
    if spec.alone:
        fields["mounts"] = list(zip((mount.target for mount in mounts), layers[1:], strict=True))
    fields["variables"] = dict(spec.variables)
    return fields
