"""A box prepared before it is asked for: a reset then only mounts its files."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from codeenv.guest import boxes
from codeenv.guest.boxes import Box, BoxError
from codeenv.guest.fork_client import ForkServer
from codeenv.guest.spec import BoxSpec

_DELAY = 0.02


@dataclass
class Spares:
    """Keeps one box ready, like the one opened last; made by a fork server, if there is one.

    A wall serves boxes of one kind, one after the other (see ``HostPool``); ``plain`` ones cannot
    be prepared, since their files come before their process.
    """

    _wanted: BoxSpec | None = None
    _spare: Box | None = None
    _server: ForkServer | None = None

    @property
    def delay(self) -> float:
        """Seconds of silence after which ``refill`` is due; 0 if nothing is wanted."""
        awaited = self._server is not None and not self._server.ready
        return _DELAY if self._wanted and (awaited or not self._spare) else 0.0

    def fork_from(self, server: ForkServer) -> None:
        """Have boxes made by a fork server from now on, as soon as it is ready."""
        self._server = server

    def open(self, spec: BoxSpec, layer: Callable[[str], str], fds: Mapping[str, int]) -> Box:
        """Return a box that is ready: the spare one if it is of this kind and lives, or a new one.

        Args:
            spec: The box.
            layer: Returns the folder of a layer.
            fds: Sockets for its tool server; see ``boxes.furnish``.

        Raises:
            BoxError: If it does not come up.
            OSError: If the kernel refuses the process.
        """
        spare, self._spare = self._spare, None
        if spec.mode == "plain":
            return boxes.furnish(boxes.prepare(spec), spec, layer, fds)
        kind = self._wanted = _kind(spec)
        if spare is not None and spare.spec != kind:
            spare.kill()
        elif spare is not None:
            with contextlib.suppress(BoxError):
                return boxes.furnish(spare, spec, layer, fds)
            self._do_without_server()
        return boxes.furnish(self._prepare(kind), spec, layer, fds)

    def refill(self) -> None:
        """Prepare the next box, if one is wanted and none is there; it can do without."""
        if self._server is not None and not self._server.ready and self._is_ready(self._server):
            self._drop_spare()  # it was made without
        if self._wanted is not None and self._spare is None:
            try:
                self._spare = self._prepare(self._wanted)
            except OSError:
                self._wanted = None

    def clear(self) -> None:
        """Drop the spare one and the fork server."""
        self._drop_spare()
        self._do_without_server()

    def _prepare(self, kind: BoxSpec) -> Box:
        if self._server is not None and self._is_ready(self._server):
            try:
                return boxes.prepare(kind, self._server.start)
            except OSError:
                self._do_without_server()
        return boxes.prepare(kind)

    def _is_ready(self, server: ForkServer) -> bool:
        try:
            return server.look()
        except OSError:
            self._do_without_server()
            return False

    def _drop_spare(self) -> None:
        if self._spare is not None:
            self._spare.kill()
            self._spare = None

    def _do_without_server(self) -> None:
        if self._server is not None:
            self._server.kill()
            self._server = None


def _kind(spec: BoxSpec) -> BoxSpec:
    """Return what boxes with the same walls and limits have in common."""
    return replace(spec, box=0, layer="", mounts=())
