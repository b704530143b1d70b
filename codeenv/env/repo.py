"""``CodeRepo-v0``: an agent inside a damaged repository, as a Gymnasium environment."""

from pathlib import Path
from typing import Any, ClassVar

import gymnasium
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.env.spaces import TEXT_LENGTH, ActionSpace, observation_space
from codeenv.errors import SandboxError, UsageError
from codeenv.grading.models import Outcome, Reason
from codeenv.materialise.models import Task
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset
from codeenv.tools import Profile, ToolResult

BUNDLED_SUITE = "toy"
_OPTIONS = frozenset({"task_id", "task_index"})
_STARTS = 3
Observation = dict[str, Any]
Info = dict[str, Any]


class CodeRepoEnv(gymnasium.Env[Observation, Any], EzPickle):
    """Bring a deleted feature back; the repository's tests are the reward.

    Actions are tool calls: ``{"tool": name, "arguments": {…}}``, JSON text of it, or a trainer's
    tool call.  A malformed one is an error observation.  The reward is 0 until the episode ends;
    then it is 1 if all tests pass, else 0.  ``terminated`` follows ``submit``, ``truncated`` a
    limit (the work is graded all the same) or a failure of the infrastructure
    (``info["reward_valid"]`` is False, and the reward must not be trained on).

    The limit to set is ``max_steps``.  ``gymnasium.make(..., max_episode_steps=n)`` puts a
    ``TimeLimit`` around the environment, which is not told of it: what that cuts off is not graded
    and has no ``reason``, until ``env.unwrapped.finish("max_steps")`` grades it.

    ``info`` depends on nothing but task and actions: ``task_id``, ``reward_valid``, ``feedback``
    (mistakes of this step, as plain data of ``FeedbackEvent``), after a step ``tool``, at the end
    ``reason``, ``resolved`` and ``components``.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self,
        tasks: str | Path | Taskset | None = None,
        *,
        backend: str = "auto",
        max_steps: int = 100,
        wall_time: float = 0.0,
        profile: Profile = "core4",
        render_mode: str | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """Remember the options; boxes, environments and tasks are made when they are needed.

        Args:
            tasks: A taskset, or where one is: a folder, a recipe file, a shipped suite or a shipped
                task's id; by default the bundled toy suite.
            backend: Where boxes come from, unless ``runtime`` says it.
            max_steps: Tool calls per episode, at least 1.
            wall_time: Seconds per episode; 0 for no limit.
            profile: Which tools the agent has.
            render_mode: ``ansi`` or None.
            runtime: Share this one (which may have other options) instead of starting another; it
                is not closed with the environment.

        Raises:
            TaskError: If there is no such taskset.
            UsageError: If an option is wrong.
        """
        EzPickle.__init__(
            self,
            tasks,
            backend=backend,
            max_steps=max_steps,
            wall_time=wall_time,
            profile=profile,
            render_mode=render_mode,
            runtime=runtime,
        )
        if max_steps < 1 or render_mode not in (None, *self.metadata["render_modes"]):
            raise UsageError("max_steps must be at least 1, and render_mode ansi or None")
        where = tasks if tasks is not None else BUNDLED_SUITE
        self.taskset = where if isinstance(where, Taskset) else Taskset.load(where)
        self.limits = EpisodeLimits(max_steps=max_steps, wall_time=wall_time)
        self.profile = profile
        self.render_mode = render_mode
        self.runtime = runtime if runtime is not None else Runtime(backend)
        self._owns_runtime = runtime is None
        self.episode: Episode | None = None
        self._frame = ""
        self.action_space: spaces.Space[Any] = ActionSpace(profile)
        self.observation_space: spaces.Space[Observation] = observation_space(max_steps)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Open a fresh box for a task.

        Args:
            seed: Seeds the draw of tasks.
            options: ``task_id`` or ``task_index`` (into the taskset sorted by id) choose the task;
                else it is drawn.

        Raises:
            SandboxError: If no box came up after several tries.
            UsageError: If an option is wrong.
        """
        super().reset(seed=seed)
        recipe = self._choose(options or {})
        self._drop()
        task = self.runtime.task(recipe, self.taskset)
        self.episode = self._start(task)
        self._frame = self.episode.instruction
        return self._observe(None), {"task_id": task.id, "reward_valid": True, "feedback": []}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:  # noqa: ANN401
        """Carry one tool call out.

        Raises:
            ResetNeeded: If no episode is going on.
        """
        episode = self.episode
        if episode is None or episode.outcome is not None:
            raise ResetNeeded("call reset() before step(): no episode is going on")
        result = episode.call(action)
        self._frame = result.text
        info = self._describe(result, episode.outcome)
        observation = self._observe(result)
        if episode.outcome is None:
            return observation, 0.0, False, False, info
        outcome = episode.outcome
        return observation, outcome.reward, outcome.terminated, outcome.truncated, info

    def finish(self, reason: Reason) -> tuple[Observation, float, bool, bool, Info]:
        """End the episode from outside, as a wrapper's limit does; the work is graded.

        Args:
            reason: Why, e.g. ``context_exceeded``.

        Returns:
            What ``step`` would.

        Raises:
            ResetNeeded: If no episode is going on.
        """
        if self.episode is None or self.episode.outcome is not None:
            raise ResetNeeded("call reset() before finish(): no episode is going on")
        outcome = self.episode.finish(reason)
        info = self._describe(None, outcome)
        return self._observe(None), outcome.reward, outcome.terminated, outcome.truncated, info

    def fork(self) -> "CodeRepoEnv":
        """Return another environment that goes on from here, for rollouts that branch.

        It has a box of its own with the files as they are (processes stay behind), and shares the
        runtime with this one: close it first.

        Raises:
            ResetNeeded: If no episode is going on.
            UsageError: If the task's environment starts servers.
        """
        if self.episode is None or self.episode.outcome is not None:
            raise ResetNeeded("call reset() before fork(): no episode is going on")
        arguments: tuple[Any, ...] = self._ezpickle_args
        options: dict[str, Any] = {**self._ezpickle_kwargs, "runtime": self.runtime}
        other = type(self)(*arguments, **options)
        other.episode, other._frame = self.episode.fork(), self._frame
        return other

    @property
    def outcome(self) -> Outcome | None:
        """How the episode ended, with the verdict and what failed; None while it goes on."""
        return self.episode.outcome if self.episode else None

    def render(self) -> str | None:
        """Return the text the agent saw last, in mode ``ansi``."""
        return self._frame if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Drop the box, and the runtime if it is this environment's own.  Idempotent."""
        self._drop()
        if self._owns_runtime:
            self.runtime.close()

    def abandon(self) -> None:
        """Close the box from another thread, under a running call; ``reset`` begins anew."""
        episode = self.episode
        if episode is not None:
            episode.close()

    def _drop(self) -> None:
        if self.episode is not None:
            self.episode.close()
            self.episode = None

    def _choose(self, options: dict[str, Any]) -> Recipe:
        if unknown := sorted(set(options) - _OPTIONS):
            raise UsageError(
                f"unknown reset options {unknown}", hint=f"there are {', '.join(sorted(_OPTIONS))}"
            )
        recipes = self.taskset.recipes
        if options.get("task_id") is not None:
            return self.taskset.recipe(str(options["task_id"]))
        if options.get("task_index") is not None:
            index = int(options["task_index"])
            if not 0 <= index < len(recipes):
                raise UsageError(f"task_index {index} is not in [0, {len(recipes)})")
            return recipes[index]
        return recipes[int(self.np_random.integers(len(recipes)))]

    def _start(self, task: Task) -> Episode:
        for _ in range(_STARTS - 1):
            try:
                return self.runtime.open(task, limits=self.limits, profile=self.profile)
            except SandboxError:
                continue
        return self.runtime.open(task, limits=self.limits, profile=self.profile)

    def _observe(self, result: ToolResult | None) -> Observation:
        episode = self.episode
        exit_code = result.exit_code if result is not None else None
        return {
            "text": self._frame[:TEXT_LENGTH],
            "tool": result.name[:256] if result is not None else "",
            "exit_code": -1 if exit_code is None else min(max(exit_code, 0), 255),
            "is_error": int(result is not None and not result.ok),
            "step": episode.steps if episode else 0,
            "steps_left": episode.steps_left if episode else 0,
        }

    def _describe(self, result: ToolResult | None, outcome: Outcome | None) -> Info:
        info: Info = {"reward_valid": outcome is None or outcome.reward_valid}
        if result is not None:
            info["tool"] = {
                "name": result.name,
                "ok": result.ok,
                "error": result.error,
                "exit_code": -1 if result.exit_code is None else result.exit_code,
                "timed_out": result.timed_out,
                "truncated": result.truncated,
                "output_bytes": result.output_bytes,
                "exhausted": list(result.exhausted),
            }
        if (episode := self.episode) is not None:
            info["task_id"] = episode.task.id
            noticed = () if result is None else episode.noticed  # told with the call's own step
            events = (*noticed, *episode.concluded)
            info["feedback"] = [event.model_dump(mode="json") for event in events]
        if outcome is not None:
            info["reason"] = outcome.reason
            info["resolved"] = outcome.grade is not None and outcome.grade.resolved
            info["components"] = dict(outcome.components)
        return info
