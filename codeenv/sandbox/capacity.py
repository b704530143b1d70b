"""How much of a machine a backend uses, and waiting until there is room."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from codeenv.errors import SandboxError

_MEMINFO = Path("/proc/meminfo")
_LOOK = 0.5


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a backend may use at once.

    Attributes:
        boxes: Live boxes; whoever opens one more waits until another is closed.
        per_host: Boxes that share a host: 1 keeps limits exact and neighbours apart; more saves
            memory (one container, one copy of a workspace), and a failed host costs all of them.
        idle: Hosts without a box that are kept for the next one.
        memory: Bytes that must be available on this machine before another box is opened beside
            live ones.
        patience: Seconds to wait for room.
    """

    boxes: int = 256
    per_host: int = 1
    idle: int = 8
    memory: int = 512 * 1024**2
    patience: float = 600.0


DEFAULT_CAPACITY = Capacity()


@dataclass
class Gate:
    """Lets as many boxes live as there is room for.  Thread-safe.

    Attributes:
        capacity: How many that is.
        available: Tells how many bytes of memory this machine can still give.
    """

    capacity: Capacity
    available: Callable[[], int | None] = field(default=lambda: available_memory())
    _live: int = 0

    def __post_init__(self) -> None:
        self._changed = threading.Condition()

    def enter(self) -> None:
        """Wait until there is room for one more, and take it.

        Raises:
            SandboxError: If there is none for too long; the message says what is short.
        """
        deadline = time.monotonic() + self.capacity.patience
        with self._changed:
            while lack := self._lack():
                left = deadline - time.monotonic()
                if left <= 0:
                    raise SandboxError(
                        f"no room for another box after {self.capacity.patience:.0f} s: {lack}",
                        hint="close boxes, lower the concurrency, or give the backend more room",
                    )
                self._changed.wait(min(left, _LOOK))
            self._live += 1

    def leave(self) -> None:
        """Give the room back."""
        with self._changed:
            self._live -= 1
            self._changed.notify()

    def _lack(self) -> str:
        if self._live >= self.capacity.boxes:
            return f"{self._live} boxes are open"
        free = self.available() if self._live else None
        if free is not None and free < self.capacity.memory:
            return f"{free // 1024**2} MiB of memory are left on this machine"
        return ""


def available_memory() -> int | None:
    """Return the bytes of memory this machine can still give; None where nobody tells."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None
