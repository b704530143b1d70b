"""Plays one rollout to its record: attempts until one is valid, and what a monitor says."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.errors import SandboxError
from codeenv.monitor import Verdict
from codeenv.sandbox.image import Mount
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset
from codeenv.tools import Profile, ToolResult
from codeenv.trajectory import Trajectory
from codeenv.tree import Tree
from codeenv_harness.agents import AgentFactory, AgentOptions, Budget, agent_factory, close_agents
from codeenv_harness.agents.resident import mounts_of
from codeenv_harness.episode import Played, attempt
from codeenv_harness.events import EpisodeEnded, EpisodeStarted, Event, OnEvent, StepTaken
from codeenv_harness.metrics import Usage, usage_of
from codeenv_harness.monitoring import MonitorCallback
from codeenv_harness.prices import Price
from codeenv_harness.records import Key, RolloutRecord


@dataclass(frozen=True)
class RunOptions:
    """How to run.

    Attributes:
        agent: As the command line names it, e.g. ``oracle``.
        settings: Options of the agent's own (``AgentOptions.settings``).
        budget: What this run may use; one that is resumed begins anew.
        prices: What models cost.
        rollouts: Episodes per task.
        concurrency: Episodes at the same time, on all machines together.
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
class Plan:
    """All that playing needs to know; pickles if the runtime's backend was named.

    Attributes:
        taskset: What is played.
        options: How.
        runtime: With what.
        monitor: Looks at each rollout that has ended.
        program: What the agent takes into its boxes, if anything (see ``program_of``).
    """

    taskset: Taskset
    options: RunOptions
    runtime: Runtime
    monitor: MonitorCallback | None = None
    program: Tree | None = None

    @property
    def about_agents(self) -> AgentOptions:
        """What agents are told."""
        told = self.options
        return AgentOptions(
            told.profile, told.settings, told.budget, told.prices, program=self.program
        )


class Work(NamedTuple):
    """One rollout that is to be played."""

    recipe: Recipe
    rollout: int

    @property
    def key(self) -> Key:
        """Which rollout it is."""
        return (self.recipe.id, self.rollout)


@dataclass(frozen=True)
class Finished:
    """A rollout that was played; there is no trajectory, and no usage, if it never began."""

    record: RolloutRecord
    trajectory: Trajectory | None
    usage: Usage | None = None


class Player:
    """Plays rollouts of a plan, in as many threads as call it.

    Args:
        plan: What is played.
        tell: Gets what happens, from the playing threads; nothing after the player was stopped.
        make_agent: Who plays, if not whom the plan names.

    Raises:
        AgentUnavailable: If the agent lacks something here.
        UsageError: If there is no such agent.
    """

    def __init__(self, plan: Plan, tell: OnEvent, make_agent: AgentFactory | None = None) -> None:
        """Make what makes the agents."""
        self._plan, self._tell_all = plan, tell
        options = plan.options
        self._make_agent = make_agent or agent_factory(options.agent, plan.about_agents)
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether what ends from now on is not to be believed."""
        return self._stopped.is_set()

    def play(self, work: Work, make_agent: AgentFactory | None = None) -> Finished:
        """Play one rollout, again while the outcome is not valid.

        Raises:
            StopRun: If no further rollout makes sense.
        """
        options, (recipe, rollout) = self._plan.options, work
        seed = seed_of(options.seed, recipe.id, rollout)
        attempts = options.retries + 1
        for number in range(1, attempts + 1):
            played = self._attempt(work, seed, make_agent or self._make_agent)
            final = played.outcome.reward_valid or number == attempts or self.stopped
            lived = played.trajectory
            used = usage_of(lived, options.prices) if lived is not None else None
            self._tell(EpisodeEnded(recipe.id, rollout, played.outcome, final, used))
            if final:
                break
        verdict = self._verdict(recipe, played)
        record = RolloutRecord.of(
            played.outcome, rollout=rollout, seed=seed, attempts=number, verdict=verdict
        )
        return Finished(record, lived, used)

    def stop(self) -> None:
        """End what is played at once: agents and boxes are closed.  Idempotent."""
        self._stopped.set()
        self.close()
        self._plan.runtime.close()

    def close(self) -> None:
        """Let go of what the agents hold.  Idempotent."""
        close_agents(self._make_agent)

    def _verdict(self, recipe: Recipe, played: Played) -> Verdict | None:
        plan = self._plan
        if plan.monitor is None or played.trajectory is None or self.stopped:
            return None
        return plan.monitor(plan.runtime.task(recipe, plan.taskset), played.trajectory)

    def _attempt(self, work: Work, seed: int, make_agent: AgentFactory) -> Played:
        recipe, rollout = work

        def on_step(step: int, action: object, result: ToolResult) -> None:
            if self.stopped:
                raise SandboxError("the run was stopped")
            self._tell(StepTaken(recipe.id, rollout, step, action, result))

        return attempt(
            lambda: self._open(recipe, mounts_of(make_agent)),
            make_agent,
            recipe.id,
            seed=seed,
            rollout=rollout,
            on_start=lambda: self._tell(EpisodeStarted(recipe.id, rollout)),
            on_step=on_step,
        )

    def _tell(self, event: Event) -> None:
        if not self.stopped:
            self._tell_all(event)

    def _open(self, recipe: Recipe, mounts: Sequence[Mount]) -> Episode:
        plan, options = self._plan, self._plan.options
        task = plan.runtime.task(recipe, plan.taskset)
        return plan.runtime.open(
            task, limits=options.limits, profile=options.profile, mounts=mounts
        )


def seed_of(seed: int, task_id: str, rollout: int) -> int:
    """Return the seed of a rollout's agent."""
    text = f"{seed}:{task_id}:{rollout}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
