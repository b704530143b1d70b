"""Plays in threads of this process."""

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from codeenv.errors import UsageError
from codeenv_harness.agents import BudgetSpent
from codeenv_harness.events import Event
from codeenv_harness.playing import Plan, Player, Work
from codeenv_harness.runners.base import Listener, Ready


class ThreadRunner:
    """Plays in threads, on the plan's own runtime."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._player: Player | None = None
        self._listener: Listener | None = None
        self._slots = 1

    def begin(self, plan: Plan) -> Ready:
        """Open the backend: what lacks on this machine lacks for all, and is told once."""
        backend = plan.runtime.backend.name
        self._player, self._slots = Player(plan, self._tell), plan.options.concurrency
        return Ready(backend, {"runner": "threads"})

    def play(self, wanted: Sequence[Work], listener: Listener) -> str:
        """Play; if that is interrupted, every box is closed before it ends."""
        if self._player is None:
            raise UsageError("a runner begins before it plays")
        self._listener, player, spent = listener, self._player, ""
        pool = ThreadPoolExecutor(self._slots, "codeenv-rollout")
        try:
            pending = {pool.submit(self._one, player, work, listener) for work in wanted}
            while pending:
                ended, pending = wait(pending, return_when=FIRST_COMPLETED)
                spent = _spent(ended) or spent
                if spent:
                    pending = {future for future in pending if not future.cancel()}
            return spent
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            player.stop()
            raise
        finally:
            pool.shutdown(wait=True)

    def close(self) -> None:
        """Let go of the agents; the runtime belongs to the caller."""
        if self._player is not None:
            self._player.close()

    def _one(self, player: Player, work: Work, listener: Listener) -> None:
        finished = player.play(work)
        if not player.stopped:
            listener.ended(finished)

    def _tell(self, event: Event) -> None:
        if self._listener is not None:
            self._listener.on_event(event)


def _spent(ended: set[Future[None]]) -> str:
    """Raise what ended a rollout; return what is spent if the budget did."""
    told = ""
    for future in ended:
        try:
            future.result()
        except BudgetSpent as error:
            told = f"{error.message}; {error.hint}"
    return told
