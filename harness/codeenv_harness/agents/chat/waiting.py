"""Requests that can be left alone: waiting for a server must not keep a run from ending."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TypeVar

from codeenv_harness.agents.stops import AgentError

T = TypeVar("T")


class Waiting:
    """Carries calls out in threads that nobody waits for once it is closed.  Thread-safe."""

    def __init__(self) -> None:
        """Begin open."""
        self._lock = threading.Lock()
        self._pending: set[Future[object]] = set()
        self._closed = threading.Event()

    def pause(self, seconds: float) -> None:
        """Wait, but not after this was closed."""
        self._closed.wait(seconds)

    def call(self, function: Callable[[], T], most: float | None = None) -> T:
        """Return what a function returns, or raise what it raises.

        Args:
            function: What to call; where it is left alone, it goes on by itself.
            most: Seconds it may take.

        Raises:
            AgentError: If this is closed, before or meanwhile, or it takes longer.
        """
        future: Future[object] = Future()
        with self._lock:
            if self._closed.is_set():
                raise _stopped()
            self._pending.add(future)
        threading.Thread(
            target=_carry_out, args=(function, future), daemon=True, name="codeenv-chat"
        ).start()
        try:
            return future.result(most)  # type: ignore[return-value]
        except TimeoutError as error:
            if future.done():  # its own
                raise
            raise AgentError(f"no whole answer came within {most:g} s") from error
        finally:
            with self._lock:
                self._pending.discard(future)

    def close(self) -> None:
        """Let everybody who waits go on without an answer."""
        with self._lock:
            self._closed.set()
            waiting = [*self._pending]
        for future in waiting:
            with suppress(InvalidStateError):
                future.set_exception(_stopped())


def _carry_out(function: Callable[[], object], future: Future[object]) -> None:
    try:
        found = function()
    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
        with suppress(InvalidStateError):
            future.set_exception(error)
    else:
        with suppress(InvalidStateError):
            future.set_result(found)


def _stopped() -> AgentError:
    return AgentError("the run was stopped")
