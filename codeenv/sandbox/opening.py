"""Opening a box on a host, and what must be undone when it closes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeenv.errors import SandboxError
from codeenv.guest.spec import BoxSpec
from codeenv.sandbox.box import Box
from codeenv.sandbox.host import Host
from codeenv.sandbox.image import Mount
from codeenv.sandbox.line import Line
from codeenv.tree import Tree

_STARTUP_TIMEOUT = 90.0


@dataclass(frozen=True)
class Opened:
    """A box that its host has opened.

    Attributes:
        host: The host.
        spec: What was asked for.
        overlay: Whether its workspace is an overlay.
        line: Straight to its tool server, if there is one.
        layers: Digests of the layers it uses.
        workspace: What it was opened with.
    """

    host: Host
    spec: BoxSpec
    overlay: bool
    line: Line | None
    layers: tuple[str, ...]
    workspace: Tree

    def box(self, on_close: Callable[[Box], None]) -> Box:
        """Return what callers hold."""
        line, tree = self.line, self.workspace
        return Box(self.host, self.spec, self.overlay, on_close, line=line, began_with=tree)

    def close(self, box: Box) -> None:
        """Close the box on its host."""
        if self.host.lost:
            return
        try:
            self.host.call({"op": "close", "box": box.spec.box})
            for digest in self.layers:
                self.host.release(digest)
        except SandboxError:
            self.host.healthy = False


def open_box(
    host: Host,
    workspace: Tree,
    mounts: Sequence[Mount],
    describe: Callable[[Host, int], BoxSpec],
    numbers: tuple[int, int],
) -> Opened:
    """Open a box.

    Args:
        host: Where.
        workspace: The tree it starts with.
        mounts: Read-only trees beside it.
        describe: Makes the rest of the spec from the host and the box's number.
        numbers: The box's, and that of its pair, or 0.

    Raises:
        SandboxError: If it does not come up; the host is then in doubt.
    """
    number, pair = numbers
    layers = (host.provide(workspace), *(host.provide(mount.tree) for mount in mounts))
    spec = describe(host, number)
    reply, line = host.open(_fields(spec, layers, mounts), pair)
    return Opened(host, spec, bool(reply.header["overlay"]), line, layers, workspace)


def start_up(box: Box, script: str) -> None:
    """Start what every box of an image starts with; without it the box is of no use.

    Raises:
        SandboxError: If that fails; the box is closed then.
    """
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
