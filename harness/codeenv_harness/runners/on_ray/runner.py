"""Hands rollouts to the workers of a Ray cluster, one for each that has ended."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

import ray
from ray.exceptions import RayError

from codeenv.errors import MachineError, UsageError
from codeenv.grading import to_outcome
from codeenv_harness.agents import BudgetSpent, agent_factory, close_agents
from codeenv_harness.events import EpisodeEnded, ignore
from codeenv_harness.playing import Finished, Plan, RunOptions, Work, seed_of
from codeenv_harness.records import Key, RolloutRecord
from codeenv_harness.runners.base import Listener, Ready
from codeenv_harness.runners.on_ray.cluster import connect
from codeenv_harness.runners.on_ray.crew import Crew, Member
from codeenv_harness.runners.on_ray.travel import Ended, Failed, Report, Untaken, order

_LOSSES = 3
"""Workers that a rollout may lose."""


class RayRunner:
    """Plays on every node of a Ray cluster that has processors.

    Args:
        address: Of the cluster (see ``ray_runner``).
        say: Gets what people should know.
    """

    def __init__(
        self, address: str | None = None, say: Callable[[str], None] = lambda _: None
    ) -> None:
        """Remember; nothing is started yet."""
        self._address, self._say = address, say
        self._plan: Plan | None = None
        self._crew: Crew | None = None
        self._connected = False

    def begin(self, plan: Plan) -> Ready:
        """Connect, and start a worker on each node; what one of them lacks is told."""
        options, self._plan = plan.options, plan
        close_agents(agent_factory(options.agent, plan.about_agents))  # told before all else
        self._connected = connect(self._address, self._say) or self._connected
        self._crew = Crew(plan, self._say)
        nodes = self._crew.start()
        return Ready(self._crew.backend, {"runner": "ray", "nodes": nodes})

    def play(self, wanted: Sequence[Work], listener: Listener) -> str:
        """Play; the rollouts of a worker that is lost are played again by others."""
        if self._plan is None or self._crew is None:
            raise UsageError("a runner begins before it plays")
        try:
            return _Hands(self._plan.options, self._crew, listener).play(wanted)
        except RayError as error:
            raise MachineError(f"the Ray cluster failed: {error}") from error

    def close(self) -> None:
        """End the workers, and leave the cluster if it was joined for this run."""
        crew, self._crew = self._crew, None
        try:
            if crew is not None:
                crew.close()
        finally:
            if self._connected:
                self._connected = False
                ray.shutdown()


class _Hands:
    """The rollouts that wait, and those that are played."""

    def __init__(self, options: RunOptions, crew: Crew, listener: Listener) -> None:
        self._options, self._crew, self._listener = options, crew, listener
        self._steps = listener.on_event is not ignore
        self._queue: deque[Work] = deque()
        self._losses: Counter[Key] = Counter()
        self._playing = 0
        self._spent = ""

    def play(self, wanted: Iterable[Work]) -> str:
        self._queue.extend(wanted)
        while self._queue or self._playing:
            if not self._crew.alive():
                raise self._crew.nobody()
            self._hand_out()
            for member, reports in self._crew.hear():
                if reports is None:
                    for key in [*member.hands]:
                        self._lost(member, key, "its worker on Ray was lost")
                else:
                    self._heard(member, reports)
        return self._spent

    def _hand_out(self) -> None:
        """Never have more rollouts played than asked for: what waits, waits here."""
        while self._queue and self._playing < self._options.concurrency:
            member = self._crew.freest()
            if member is None:
                return
            member.hand(order(self._options, self._queue.popleft(), steps=self._steps))
            self._playing += 1

    def _heard(self, member: Member, reports: Iterable[Report]) -> None:
        """Pass reports on; what ends the run is raised when all of them are."""
        wrong: BaseException | None = None
        for report in reports:
            if isinstance(report, Ended | Failed | Untaken) and report.key not in member.hands:
                continue  # it was lost there, and is played elsewhere
            if isinstance(report, Ended):
                self._put_down(member, report.key)
                self._listener.on_event(report.event)
                self._listener.ended(report.finished)
            elif isinstance(report, Untaken):
                self._lost(member, report.key, report.told)
            elif isinstance(report, Failed):
                self._put_down(member, report.key)
                wrong = self._stopped(report.error) or wrong
            else:
                self._listener.on_event(report)
        if wrong is not None:
            raise wrong

    def _put_down(self, member: Member, key: Key) -> Work:
        self._playing -= 1
        return member.hands.pop(key)

    def _stopped(self, error: BaseException) -> BaseException | None:
        if not isinstance(error, BudgetSpent):
            return error
        self._spent = f"{error.message}; {error.hint}"
        self._queue.clear()
        return None

    def _lost(self, member: Member, key: Key, why: str) -> None:
        """Have a rollout that a worker lost played again: that is no fault of its, at first."""
        work = self._put_down(member, key)
        self._losses[key] += 1
        final = self._losses[key] >= _LOSSES
        if self._spent and not final:
            return  # it has not ended, and is played by who resumes the run
        told = f"{why} ({self._losses[key]} of {_LOSSES} times)"
        outcome = to_outcome(key[0], None, reason="infra_error", n_steps=0, error=told)
        self._listener.on_event(EpisodeEnded(*key, outcome, final))
        if not final:
            self._queue.appendleft(work)
        else:
            seed, losses = seed_of(self._options.seed, *key), self._losses[key]
            record = RolloutRecord.of(outcome, rollout=key[1], seed=seed, attempts=losses)
            self._listener.ended(Finished(record, None))
