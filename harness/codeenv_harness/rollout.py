"""Plays an agent through many episodes, and writes them down as they end."""

import os
import platform
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field

import codeenv
from codeenv.env.runtime import Runtime
from codeenv.errors import UsageError
from codeenv.tasks.digest import digest_of
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents.registry import program_of
from codeenv_harness.events import OnEvent, ignore
from codeenv_harness.metrics import Summary, Usage, summarise, usage_of
from codeenv_harness.metrics.usage import Prices
from codeenv_harness.monitoring import MonitorCallback
from codeenv_harness.playing import Finished, Plan, RunOptions, Work
from codeenv_harness.records import Key, Manifest, RolloutRecord, RunFolder
from codeenv_harness.runners import Listener, Ready, Runner, ThreadRunner

__all__ = ["RunOptions", "RunResult", "run"]

_PRIVATE = (
    *("base_url", "api_key_env", "timeout", "answer_timeout", "retries", "stream"),
    *("upload", "env"),
)
"""Settings of an agent that are not written down: they say where and how patiently, not how."""


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


def run(
    taskset: Taskset,
    options: RunOptions,
    runtime: Runtime,
    on_event: OnEvent = ignore,
    monitor: MonitorCallback | None = None,
    runner: Runner | None = None,
) -> RunResult:
    """Play every task of a taskset; with a monitor each record carries what it says.

    By default the rollouts are played in threads of this process, and events come from these.  On
    an interrupt every box is closed, and what has ended is on disk.

    Raises:
        AgentUnavailable: If the agent cannot act at all; what has ended is on disk.
        MachineError: If there is no backend here, or no machine to play on (any more).
        UsageError: If options do not fit, or the folder holds another run.
    """
    if options.rollouts < 1 or options.concurrency < 1 or options.retries < 0:
        raise UsageError("rollouts and concurrency must be at least 1, retries at least 0")
    program = program_of(options.agent, options.settings)
    plan = Plan(taskset, options, runtime, monitor, program)
    with closing(runner or ThreadRunner()) as playing:
        return _Run(plan, playing, on_event).run()


class _Run:
    """One run: the only writer of its folder, whoever plays."""

    def __init__(self, plan: Plan, runner: Runner, on_event: OnEvent) -> None:
        self._plan, self._runner, self._on_event = plan, runner, on_event
        out = plan.options.out
        self._folder = RunFolder(out) if out is not None else None
        self._lock = threading.Lock()
        self._done: dict[Key, RolloutRecord] = {}
        self._usage: dict[Key, Usage | None] = {}

    def run(self) -> RunResult:
        self._begin(self._runner.begin(self._plan))
        wanted = [
            Work(recipe, rollout)
            for rollout in range(self._plan.options.rollouts)
            for recipe in self._plan.taskset.recipes
            if (recipe.id, rollout) not in self._done
        ]
        if self._folder is not None:
            prices = self._plan.options.prices
            self._usage = {key: recorded_usage(self._folder, key, prices) for key in self._done}
        stopped = self._runner.play(wanted, Listener(self._on_event, self._ended))
        records = tuple(self._done[key] for key in sorted(self._done))
        known = {key: used for key in sorted(self._usage) if (used := self._usage[key]) is not None}
        return RunResult(records, summarise(records), stopped, known)

    def _begin(self, ready: Ready) -> None:
        """Write down what is played and on what, and read what is done already."""
        if self._folder is not None:
            options = self._plan.options
            manifest = manifest_of(self._plan, ready.backend)
            self._done.update(self._folder.begin(manifest, resume=options.resume))
            self._folder.started({**_machine(options), **ready.facts})

    def _ended(self, finished: Finished) -> None:
        record, lived = finished.record, finished.trajectory
        if self._folder is not None:
            self._folder.add(record, lived)
        with self._lock:
            self._done[record.key], self._usage[record.key] = record, finished.usage


def recorded_usage(folder: RunFolder, key: Key, prices: Prices) -> Usage | None:
    """Return what a rollout took that is done already; None if that cannot be read."""
    try:
        return usage_of(folder.trajectory(key), prices)
    except UsageError:
        return None


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


def _settings(plan: Plan) -> dict[str, object]:
    """Return the agent's settings as they are written down; of a program, what it is."""
    told = {k: v for k, v in plan.options.settings.items() if k not in _PRIVATE}
    return told if plan.program is None else {**told, "upload": plan.program.digest}


def manifest_of(plan: Plan, backend: str) -> Manifest:
    """Return what a plan asks for, to be written down."""
    options, grading = plan.options, plan.runtime.grading
    return Manifest(
        codeenv=str(codeenv.__version__),
        agent=options.agent,
        settings=_settings(plan),
        backend=backend,
        recipes={recipe.id: digest_of(recipe) for recipe in plan.taskset.recipes},
        rollouts=options.rollouts,
        seed=options.seed,
        profile=options.profile,
        max_steps=options.limits.max_steps,
        wall_time=options.limits.wall_time,
        output_budget=options.limits.output_budget,
        tier=grading.tier,
        controls=grading.controls,
        monitored=plan.monitor is not None,
    )
