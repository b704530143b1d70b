"""What plays on a node: one process, with one runtime and a thread for each rollout it has."""

import os
import queue
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ray import cloudpickle

import codeenv
from codeenv.errors import SandboxError, UsageError
from codeenv.materialise.models import Task
from codeenv_harness.agents import Agent, AgentFactory, ReplayAgent, agent_factory
from codeenv_harness.events import EpisodeEnded, Event, StepTaken
from codeenv_harness.playing import Plan, Player
from codeenv_harness.records import Key
from codeenv_harness.runners.on_ray.purse import SharedPurse
from codeenv_harness.runners.on_ray.travel import Ended, Failed, Order, Report, packed, replays

_WAITING = 256
"""Reports that wait to be collected; who has one more waits himself."""
_BATCH = 1024**2
"""Bytes of reports that are collected at once, if there is more than one."""
_PATIENCE = 10.0
"""Seconds after which nothing is a report, too."""


class Worker:
    """Plays what it is handed; an actor whose calls run beside each other."""

    def __init__(self) -> None:
        """Begin idle."""
        self._reports: queue.Queue[bytes] = queue.Queue(_WAITING)
        self._quiet: set[Key] = set()
        self._last: dict[Key, EpisodeEnded] = {}

    def begin(
        self,
        version: str,
        variables: Mapping[str, str],
        plan_data: bytes,
        keeper: Any,  # noqa: ANN401 - Ray's own
    ) -> str:
        """Take the plan; return the backend that is used here.

        Raises:
            BackendUnavailable: If there is none.
            UsageError: If this is another version of codeenv, or the agent lacks something.
        """
        if version != codeenv.__version__:
            raise UsageError(
                f"codeenv {codeenv.__version__} is here, and the run is played by {version}",
                hint="install the same version on all machines",
            )
        os.environ.update(variables)
        plan: Plan = cloudpickle.loads(plan_data)
        backend = plan.runtime.backend.name
        self._player = Player(plan, self._tell, _agents(plan, keeper))
        self._pool = ThreadPoolExecutor(plan.options.concurrency, "codeenv-rollout")
        return backend

    def hand(self, order: Order) -> None:
        """Begin to play a rollout."""
        if not order.steps:
            self._quiet.add(order.work.key)
        self._pool.submit(self._play, order)

    def collect(self) -> list[bytes]:
        """Return what has happened since the last time; wait a while if that is nothing."""
        batch: list[bytes] = []
        with suppress(queue.Empty):
            batch.append(self._reports.get(timeout=_PATIENCE))
            while sum(map(len, batch)) < _BATCH:
                batch.append(self._reports.get_nowait())
        return batch

    def close(self) -> None:
        """End what is played, and close every box."""
        self._player.stop()

    def _play(self, order: Order) -> None:
        report: Report
        try:
            finished = self._player.play(order.work, _replaying(order))
            if self._player.stopped:
                return
            report = Ended(self._last.pop(order.work.key), finished)
        except BaseException as error:  # noqa: BLE001 - raised where the run is
            report = Failed(order.work.key, error)
        try:
            self._report(report)
        except BaseException as error:  # noqa: BLE001 - who waits must hear of it
            told = f"what a rollout gave cannot be sent: {type(error).__name__}: {error}"
            self._report(Failed(order.work.key, SandboxError(told)))

    def _tell(self, event: Event) -> None:
        key = (event.task_id, event.rollout)
        if isinstance(event, EpisodeEnded) and event.final:
            self._last[key] = event  # told with what is written
        elif not isinstance(event, StepTaken) or key not in self._quiet:
            self._report(event)

    def _report(self, report: Report) -> None:
        if not self._player.stopped:
            self._reports.put(packed(report))


def _agents(plan: Plan, keeper: Any) -> AgentFactory:  # noqa: ANN401 - Ray's own
    """Return what makes agents here; one that replays is made for each order."""
    options = plan.options
    if replays(options):
        return agent_factory("nop")
    purse = SharedPurse(options.budget, keeper) if keeper is not None else None
    return agent_factory(options.agent, replace(plan.about_agents, purse=purse))


def _replaying(order: Order) -> AgentFactory | None:
    record = order.record
    if record is None:
        return None

    def make(_task: Task) -> Agent:
        if isinstance(record, UsageError):
            raise record
        return ReplayAgent(record)

    return make
