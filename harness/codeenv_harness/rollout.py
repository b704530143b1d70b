"""Plays an agent through many episodes in threads, and writes them down as they end."""

import hashlib
import os
import platform
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import codeenv
from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.errors import SandboxError, UsageError
from codeenv.monitor import Verdict
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset
from codeenv.tools import Profile, ToolResult
from codeenv_harness.agents import (
    AgentFactory,
    AgentOptions,
    Budget,
    BudgetSpent,
    agent_factory,
    close_agents,
)
from codeenv_harness.agents.resident import mounts_of
from codeenv_harness.episode import Played, attempt
from codeenv_harness.events import EpisodeEnded, EpisodeStarted, Event, OnEvent, StepTaken, ignore
from codeenv_harness.metrics import Summary, Usage, summarise, usage_of
from codeenv_harness.monitoring import MonitorCallback
from codeenv_harness.prices import Price
from codeenv_harness.records import Key, Manifest, RolloutRecord, RunFolder

_PRIVATE = (
    "base_url",
    "api_key_env",
    "timeout",
    "answer_timeout",
    "retries",
    "stream",
    "upload",
    "env",
)
"""Settings of an agent that are not written down: they say where and how patiently, not how."""


@dataclass(frozen=True)
class RunOptions:
    """How to run.

    Attributes:
        agent: As the command line names it, e.g. ``oracle``.
        settings: Options of the agent's own (``AgentOptions.settings``).
        budget: What this run may use; one that is resumed begins anew.
        prices: What models cost.
        rollouts: Episodes per task.
        concurrency: Episodes at the same time.
        seed: Together with task and rollout number it seeds each agent.
        retries: How often an episode without a valid reward is played again.
        limits: Of each episode.
        profile: Which tools there are.
        out: Folder for the records, or None.
        resume: Whether to go on with the run in ``out``.
    """

    agent: str
    rollouts: int = 1
    concurrency: int = 1
    seed: int = 0
    retries: int = 2
    limits: EpisodeLimits = field(default_factory=EpisodeLimits)
    profile: Profile = "core4"
    settings: Mapping[str, object] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)
    out: Path | None = None
    resume: bool = False


@dataclass(frozen=True)
class RunResult:
    """What a run gave.

    Attributes:
        records: Of all finished rollouts, sorted by task and rollout.
        summary: Their numbers.
        stopped: Why not all were played, e.g. that the budget is spent; else "".
        usage: What each rollout took of which a trajectory is there.
    """

    records: tuple[RolloutRecord, ...]
    summary: Summary
    stopped: str = ""
    usage: Mapping[Key, Usage] = field(default_factory=dict)


_Ended = tuple[RolloutRecord, Usage | None]


def run(
    taskset: Taskset,
    options: RunOptions,
    runtime: Runtime,
    on_event: OnEvent = ignore,
    monitor: MonitorCallback | None = None,
) -> RunResult:
    """Play every task of a taskset; with a monitor each record carries what it says.

    Events come from the playing threads.  On an interrupt the runtime is closed, so that every box
    is gone, and what has ended is on disk.

    Raises:
        AgentUnavailable: If the agent cannot act at all; what has ended is on disk.
        BackendUnavailable: If there is no backend here.
        UsageError: If options do not fit, or the folder holds another run.
    """
    if options.rollouts < 1 or options.concurrency < 1 or options.retries < 0:
        raise UsageError("rollouts and concurrency must be at least 1, retries at least 0")
    _ = runtime.backend  # what lacks on this machine lacks for all: told once, before anything
    return _Run(taskset, options, runtime, on_event, monitor).run()


class _Run:
    def __init__(
        self,
        taskset: Taskset,
        options: RunOptions,
        runtime: Runtime,
        on_event: OnEvent,
        monitor: MonitorCallback | None,
    ) -> None:
        self._monitor = monitor
        self._taskset, self._options, self._runtime = taskset, options, runtime
        self._on_event = on_event
        about = AgentOptions(options.profile, options.settings, options.budget, options.prices)
        self._make_agent: AgentFactory = agent_factory(options.agent, about)
        self._folder = RunFolder(options.out) if options.out is not None else None
        self._stopped = threading.Event()
        self._spent = ""

    def run(self) -> RunResult:
        done: dict[Key, RolloutRecord] = {}
        if self._folder is not None:
            watched = self._monitor is not None
            manifest = _manifest(self._taskset, self._options, self._runtime, monitored=watched)
            done.update(self._folder.begin(manifest, resume=self._options.resume))
            self._folder.started(_machine(self._options))
        wanted = [
            (recipe, rollout)
            for rollout in range(self._options.rollouts)
            for recipe in self._taskset.recipes
            if (recipe.id, rollout) not in done
        ]
        usage = {key: self._used_before(key) for key in done}
        try:
            for record, used in self._all(wanted):
                done[record.key], usage[record.key] = record, used
        finally:
            close_agents(self._make_agent)
        records = tuple(done[key] for key in sorted(done))
        known = {key: used for key in sorted(usage) if (used := usage[key]) is not None}
        return RunResult(records, summarise(records), self._spent, known)

    def _used_before(self, key: Key) -> Usage | None:
        """Return what a rollout took that is done already; None if that cannot be read."""
        if self._folder is None:
            return None
        try:
            return usage_of(self._folder.trajectory(key), self._options.prices)
        except UsageError:
            return None

    def _all(self, wanted: Sequence[tuple[Recipe, int]]) -> list[_Ended]:
        pool = ThreadPoolExecutor(self._options.concurrency, "codeenv-rollout")
        try:
            pending = {pool.submit(self._one, recipe, rollout) for recipe, rollout in wanted}
            records: list[_Ended] = []
            while pending:
                ended, pending = wait(pending, return_when=FIRST_COMPLETED)
                records += self._results(ended)
                if self._spent:
                    pending = {future for future in pending if not future.cancel()}
            return records
        except BaseException:
            self._stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            close_agents(self._make_agent)
            self._runtime.close()
            raise
        finally:
            pool.shutdown(wait=True)

    def _results(self, ended: set[Future[_Ended]]) -> list[_Ended]:
        """Return what was played; where the budget ended a rollout, note that."""
        found = []
        for future in ended:
            try:
                found.append(future.result())
            except BudgetSpent as error:
                self._spent = f"{error.message}; {error.hint}"
        return found

    def _one(self, recipe: Recipe, rollout: int) -> _Ended:
        """Play one rollout, again while the outcome is not valid, and write it down."""
        seed = _seed(self._options.seed, recipe.id, rollout)
        attempts = self._options.retries + 1
        for number in range(1, attempts + 1):
            played = self._attempt(recipe, rollout, seed)
            final = played.outcome.reward_valid or number == attempts or self._stopped.is_set()
            lived = played.trajectory
            usage = usage_of(lived, self._options.prices) if lived is not None else None
            self._tell(EpisodeEnded(recipe.id, rollout, played.outcome, final, usage))
            if final:
                break
        verdict = self._verdict(recipe, played)
        record = RolloutRecord.of(
            played.outcome, rollout=rollout, seed=seed, attempts=number, verdict=verdict
        )
        if self._folder is not None and not self._stopped.is_set():
            self._folder.add(record, played.trajectory)
        return record, usage

    def _verdict(self, recipe: Recipe, played: Played) -> Verdict | None:
        if self._monitor is None or played.trajectory is None or self._stopped.is_set():
            return None
        return self._monitor(self._runtime.task(recipe, self._taskset), played.trajectory)

    def _attempt(self, recipe: Recipe, rollout: int, seed: int) -> Played:
        def on_step(step: int, action: object, result: ToolResult) -> None:
            if self._stopped.is_set():
                raise SandboxError("the run was stopped")
            self._tell(StepTaken(recipe.id, rollout, step, action, result))

        return attempt(
            lambda: self._open(recipe),
            self._make_agent,
            recipe.id,
            seed=seed,
            rollout=rollout,
            on_start=lambda: self._tell(EpisodeStarted(recipe.id, rollout)),
            on_step=on_step,
        )

    def _tell(self, event: Event) -> None:
        if not self._stopped.is_set():
            self._on_event(event)

    def _open(self, recipe: Recipe) -> Episode:
        task = self._runtime.task(recipe, self._taskset)
        options = self._options
        mounts = mounts_of(self._make_agent)
        return self._runtime.open(
            task, limits=options.limits, profile=options.profile, mounts=mounts
        )


def _seed(seed: int, task_id: str, rollout: int) -> int:
    text = f"{seed}:{task_id}:{rollout}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def _machine(options: RunOptions) -> dict[str, object]:
    """Return what a run is played with, as far as it may change from start to start."""
    return {
        "codeenv": str(codeenv.__version__),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "concurrency": options.concurrency,
        "retries": options.retries,
    }


def _manifest(
    taskset: Taskset, options: RunOptions, runtime: Runtime, *, monitored: bool
) -> Manifest:
    return Manifest(
        codeenv=str(codeenv.__version__),
        agent=options.agent,
        settings={k: v for k, v in options.settings.items() if k not in _PRIVATE},
        backend=runtime.backend.name,
        recipes={recipe.id: digest_of(recipe) for recipe in taskset.recipes},
        rollouts=options.rollouts,
        seed=options.seed,
        profile=options.profile,
        max_steps=options.limits.max_steps,
        wall_time=options.limits.wall_time,
        output_budget=options.limits.output_budget,
        tier=runtime.grading.tier,
        controls=runtime.grading.controls,
        monitored=monitored,
    )
