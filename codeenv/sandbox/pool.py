"""Hosts kept for the next episode, apart by what they may serve."""

import atexit
import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace

from codeenv.errors import SandboxError
from codeenv.guest.spec import BoxSpec
from codeenv.sandbox.base import Limits, Role
from codeenv.sandbox.box import Box
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity, Gate
from codeenv.sandbox.host import Host
from codeenv.sandbox.image import ForkServer, Image, Mount
from codeenv.sandbox.opening import open_box, start_up
from codeenv.tree import Tree


@dataclass(frozen=True, slots=True)
class HostKey:
    """What a host may serve: boxes with the same key share hosts, one after the other."""

    digest: str
    role: Role
    limits: Limits
    targets: tuple[str, ...]
    network: bool
    fork_server: ForkServer | None
    image: Image = field(compare=False)

    @classmethod
    def of(
        cls,
        image: Image,
        role: Role,
        limits: Limits,
        mounts: Sequence[Mount],
        network: bool,
        fork_server: ForkServer | None = None,
    ) -> "HostKey":
        """Return the key for a box with these arguments; its limits are at least the image's."""
        limits = replace(limits, memory=max(limits.memory, image.memory))
        targets = tuple(sorted(mount.target for mount in mounts))
        return cls(image.digest, role, limits, targets, network, fork_server, image)


@dataclass(eq=False)
class _Place:
    """A host that serves, or will once it has started, and how many boxes live on it."""

    key: HostKey
    started: Future[Host] = field(default_factory=Future)
    live: int = 1

    @property
    def host(self) -> Host:
        """The host; waits for its start, and raises why it did not."""
        return self.started.result()


@dataclass(eq=False)
class HostPool:
    """Starts hosts, lends them to boxes, and ends them.  Thread-safe.

    Attributes:
        start: Starts a host.
        capacity: How many boxes there may be, and how many on a host.
        boxes: How many boxes a host serves before it is replaced.
    """

    start: Callable[[HostKey], Host]
    capacity: Capacity = DEFAULT_CAPACITY
    boxes: int = 200
    _places: list[_Place] = field(default_factory=list)
    _starting: list[threading.Thread] = field(default_factory=list)
    _closed: bool = False

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._numbers = itertools.count(1)
        self._gate = Gate(self.capacity)
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
        place = self._enter(key)
        box = self._open(place, key, workspace, mounts, describe)
        if translate is not None:
            box.translate = lambda text: translate(place.host, text)
        if key.image.startup:
            start_up(box, key.image.startup)
        else:
            box.again = lambda: self.open(key, workspace, mounts, describe, translate)
        return box

    def open_pair(
        self,
        key: HostKey,
        workspaces: tuple[Tree, Tree],
        describe: Callable[[Host, int], BoxSpec],
    ) -> tuple[Box, Box]:
        """Open two boxes on one host, joined by a socket; see ``open``.

        They take the room of one, and closing the first closes the second.
        """
        place, pair = self._enter(key), next(self._numbers)
        first = self._open(place, key, workspaces[0], (), describe, pair)
        try:
            opened = open_box(place.host, workspaces[1], (), describe, (next(self._numbers), pair))
        except BaseException:
            place.host.healthy = False
            first.close()
            raise
        second = opened.box(lambda box: opened.close(box))
        give_back = first.on_close

        def close_both(box: Box) -> None:
            second.close()
            give_back(box)

        first.on_close = close_both
        return first, second

    def _open(
        self,
        place: _Place,
        key: HostKey,
        workspace: Tree,
        mounts: Sequence[Mount],
        describe: Callable[[Host, int], BoxSpec],
        pair: int = 0,
    ) -> Box:
        try:
            numbers = next(self._numbers), pair
            opened = open_box(place.host, workspace, mounts, describe, numbers)
            if key.fork_server is not None and opened.spec.mode == "namespaces":
                place.host.fork_from(key.fork_server, opened.spec.variables)
        except BaseException:
            place.host.healthy = False
            self._give_back(place)
            raise

        def on_close(box: Box) -> None:
            try:
                opened.close(box)
            finally:
                self._give_back(place)

        return opened.box(on_close)

    def prefetch(self, key: HostKey, variables: Mapping[str, str] | None = None) -> None:
        """Start a host in the background, unless one is there with room or enough are idle.

        Args:
            key: What it will serve.
            variables: Environment of the commands in its boxes, to start its fork server, too.
        """
        with self._lock:
            self._disown()
            free = any(place.key == key and self._has_room(place) for place in self._places)
            idle = sum(not place.live for place in self._places)
            if self._closed or free or idle >= self.capacity.idle:
                return
            place = _Place(key, live=0)
            self._places.append(place)
            self._starting = [thread for thread in self._starting if thread.is_alive()]
            thread = threading.Thread(
                target=self._start_ahead, args=(place, variables), daemon=True
            )
            self._starting.append(thread)
            thread.start()

    def close(self) -> None:
        """End every host.  Idempotent."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
            places, self._places = self._places, []
        if os.getpid() == self._owner:
            for thread in self._starting:
                thread.join()
            for place in places:
                if place.started.done():
                    place.host.close()

    def _enter(self, key: HostKey) -> _Place:
        """Wait until there is room, and return a host with one box more on it."""
        with self._lock:
            self._disown()
        self._gate.enter()
        try:
            return self._take(key)
        except BaseException:
            self._gate.leave()
            raise

    def _disown(self) -> None:
        """Know nothing of our parent's hosts in a fork."""
        if os.getpid() != self._owner:
            self._places, self._starting, self._owner = [], [], os.getpid()
            self._gate = Gate(self.capacity)

    def _take(self, key: HostKey) -> _Place:
        """Return a host that answers, with one box more on it."""
        while True:
            place, kept = self._reserve(key)
            if not kept:
                self._start(place)
            with suppress(SandboxError):
                if not kept or place.host.answers():
                    place.host.boxes += 1
                    if place.host.boxes == self.boxes:  # its last one
                        self.prefetch(key)
                    return place
            self._put_back(place)

    def _reserve(self, key: HostKey) -> tuple[_Place, bool]:
        """Return a place on a host, and whether somebody started that before."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox backend is closed")
            for place in reversed(self._places):  # the one used last is the warmest
                if place.key == key and self._has_room(place):
                    place.live += 1
                    return place, True
            self._places.append(_Place(key))
            return self._places[-1], False

    def _start(self, place: _Place) -> None:
        """Start the host of a place; whoever waits for it learns of a failure, too."""
        try:
            host = self.start(place.key)
        except BaseException as error:
            with self._lock:
                self._places = [each for each in self._places if each is not place]
            place.started.set_exception(error)
            raise
        place.started.set_result(host)
        with self._lock:
            closed = self._closed
        if closed:
            host.close()

    def _start_ahead(self, place: _Place, variables: Mapping[str, str] | None) -> None:
        with suppress(Exception):  # who needs it starts another, and is told
            self._start(place)
            if place.key.fork_server is not None and variables is not None:
                place.host.fork_from(place.key.fork_server, variables)

    def _has_room(self, place: _Place) -> bool:
        if place.live >= self.capacity.per_host:
            return False
        host = place.host if place.started.done() else None
        return host is None or (host.healthy and host.boxes < self.boxes)

    def _give_back(self, place: _Place) -> None:
        try:
            self._put_back(place)
        finally:
            self._gate.leave()

    def _put_back(self, place: _Place) -> None:
        """Take one box off a host; end it, and idle ones, if they are of no more use."""
        with self._lock:
            place.live -= 1
            if place in self._places:  # the one used last goes to the end
                self._places.remove(place)
                self._places.append(place)
            idle = [each for each in self._places if not each.live]
            useless = [each for each in idle if not self._has_room(each)]
            useful = [each for each in idle if each not in useless]
            over = [*useless, *useful[: max(len(useful) - self.capacity.idle, 0)]]
            self._places = [each for each in self._places if each not in over]
        for each in over:
            with suppress(SandboxError):  # one that was started ahead, and did not come up
                each.host.close()
