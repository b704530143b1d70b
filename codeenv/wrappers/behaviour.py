"""Rewards for behaviour: named components beside the tests, each told apart from them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from codeenv.env.repo import Info, Observation
from codeenv.errors import UsageError
from codeenv.wrappers.effort import Effort, LengthCost, effort_of_action, effort_of_output
from codeenv.wrappers.parts import RewardWrapper, Stepped, TextEnv
from codeenv.wrappers.texts import TokenCounter, approximate_tokens

COMPONENTS = "reward_components"
TURN = "turn"
_MALFORMED = ("invalid_action", "summary_due", "unknown_tool", "bad_arguments")


@dataclass(frozen=True)
class EpisodeView:
    """A finished episode, as components see it.

    Attributes:
        instruction: What the agent was told.
        actions: What it sent.
        observations: What each action gave.
        infos: The ``info`` of each action; the last tells how it ended (``reason``, ``resolved``).
        reward: What has been paid for it by the wrappers inside and by the tests.
    """

    instruction: str
    actions: tuple[Any, ...]
    observations: tuple[Observation, ...]
    infos: tuple[Info, ...]
    reward: float

    @property
    def outcome(self) -> Info:
        """The last ``info``."""
        return self.infos[-1]

    def effort(self, count: TokenCounter = approximate_tokens) -> Effort:
        """Return what it cost."""
        total = Effort()
        for action, seen, info in zip(self.actions, self.observations, self.infos, strict=True):
            total += effort_of_action(action, count) + effort_of_output(seen, info, count)
        return total


@dataclass(frozen=True)
class Component:
    """One named part of the reward: ``weight`` times what ``score`` gives at the end."""

    weight: float
    score: Callable[[EpisodeView], float]


def format_component(weight: float) -> Component:
    """Return a component for the share of calls that a tool and its schema took, in [0, 1]."""
    return Component(weight, _share_valid)


def length_component(
    cost: LengthCost | None = None,
    *,
    only_if_solved: bool = True,
    count: TokenCounter = approximate_tokens,
) -> Component:
    """Return a component of weight -1 for the cost of the effort; see ``LengthPenalty``."""
    return Component(-1.0, _Length(cost or LengthCost(), only_if_solved, count))


def invalid_call(info: Info) -> bool:
    """Return whether an action was no call that a tool and its schema take."""
    return info.get("tool", {}).get("error") in _MALFORMED


class BehaviourReward(RewardWrapper):
    """Add components to the reward when the episode ends.

    ``info["reward_components"]`` has what each scored, ``info["reward_parts"]`` what it was paid
    (score times weight) beside ``tests``, and ``info["tests_reward"]`` what the tests gave.  Where
    the reward is not valid, nothing is scored and nothing paid.
    """

    def __init__(self, env: TextEnv, components: Mapping[str, Component]) -> None:
        """Wrap an environment.

        Args:
            env: Of ``CodeRepo-v0``, or a wrapper around one.
            components: By name.

        Raises:
            UsageError: If a name is taken, or a weight not finite.
        """
        super().__init__(env, tuple(components), components=dict(components))
        if wrong := [n for n, one in components.items() if not math.isfinite(one.weight)]:
            raise UsageError(f"the weight of {wrong[0]!r} is not finite")
        self.components = dict(components)
        self._instruction = ""
        self._played: list[tuple[Any, Observation, Info]] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._instruction, self._played = observation["text"], []
        return observation, info

    def step(self, action: Any) -> Stepped:  # noqa: ANN401 - whatever an agent sends
        """Pass an action on; the step that ends the episode pays.

        Raises:
            UsageError: If a component fails, or gives no finite number.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._played.append((action, observation, info))
        parts = dict.fromkeys(self.components, 0.0)
        if (terminated or truncated) and info.get("reward_valid", True):
            actions, observations, infos = zip(*self._played, strict=True)
            view = EpisodeView(self._instruction, actions, observations, infos, float(reward))
            scores = {name: _score(name, one, view) for name, one in self.components.items()}
            info = {**info, COMPONENTS: {**info.get(COMPONENTS, {}), **scores}}
            parts = {name: self.components[name].weight * got for name, got in scores.items()}
        paid, info = self.pay(float(reward), info, parts)
        return observation, paid, terminated, truncated, info


class TurnPenalty(RewardWrapper):
    """Take a penalty from the reward of the very step that was flagged.

    ``info["reward_parts"]["turn"]`` is this step's; at the end ``info["turn_rewards"]`` lists all
    of the episode, one per action.  A trainer that gives credit per turn takes those and
    ``info["tests_reward"]``; one that adds the steps' rewards up pays them per episode.
    """

    def __init__(
        self, env: TextEnv, penalty: float, flagged: Callable[[Info], bool] = invalid_call
    ) -> None:
        """Wrap an environment.

        Args:
            env: Of ``CodeRepo-v0``, or a wrapper around one.
            penalty: What a flagged step costs, at least 0.
            flagged: Says it of a step's ``info``; by default of malformed calls.

        Raises:
            UsageError: If the penalty is negative or not finite.
        """
        super().__init__(env, (TURN,), penalty=penalty, flagged=flagged)
        if not math.isfinite(penalty) or penalty < 0:
            raise UsageError("a penalty is finite and at least 0")
        self.penalty, self.flagged = penalty, flagged
        self._turns: list[float] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode."""
        self._turns = []
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Stepped:  # noqa: ANN401 - whatever an agent sends
        """Pass an action on, and take the penalty if it is flagged and the reward is valid."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        bad = info.get("reward_valid", True) and self.flagged(info)
        self._turns.append(0.0 - self.penalty if bad else 0.0)
        if terminated or truncated:
            info = {**info, "turn_rewards": list(self._turns)}
        paid, info = self.pay(float(reward), info, {TURN: self._turns[-1]})
        return observation, paid, terminated, truncated, info


@dataclass(frozen=True)
class _Length:
    cost: LengthCost
    only_if_solved: bool
    count: TokenCounter

    def __call__(self, view: EpisodeView) -> float:
        effort = view.effort(self.count)
        return self.cost.due(effort, view.outcome, only_if_solved=self.only_if_solved)


def _share_valid(view: EpisodeView) -> float:
    calls = [info for info in view.infos if "tool" in info]
    return sum(not invalid_call(info) for info in calls) / len(calls) if calls else 1.0


def _score(name: str, component: Component, view: EpisodeView) -> float:
    try:
        score = float(component.score(view))
    except Exception as error:
        raise UsageError(f"the reward component {name!r} failed: {error!r}") from error
    if not math.isfinite(score):
        raise UsageError(f"the reward component {name!r} gave {score}, not a finite number")
    return score
