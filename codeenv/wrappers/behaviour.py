"""Rewards for behaviour: named components beside the tests, each told apart from them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from codeenv.env.repo import Info, Observation
from codeenv.errors import UsageError
from codeenv.wrappers.budget import Budgeted
from codeenv.wrappers.effort import Effort, LengthCost, effort_of_action, effort_of_output
from codeenv.wrappers.parts import Stepped, TextEnv
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
    """One named part of the reward: ``weight`` times what ``score`` gives at the end.

    Attributes:
        weight: Above 0 for a bonus, below for a cost.
        score: Looks at the episode.
        low: The least that ``score`` gives.
        high: The most that it gives.
        only_if_solved: Whether other episodes are scored, but neither paid nor charged.
    """

    weight: float
    score: Callable[[EpisodeView], float]
    low: float = 0.0
    high: float = 1.0
    only_if_solved: bool = False

    @property
    def stake(self) -> float:
        """The most it takes from a solved episode, plus the most it gives to another."""
        ends = (self.weight * self.low, self.weight * self.high)
        return max(0.0, -min(ends)) + (0.0 if self.only_if_solved else max(0.0, *ends))


def format_component(weight: float) -> Component:
    """Return a component for the share of calls that a tool and its schema took, in [0, 1].

    Only solved episodes are paid: who submits at once has made no mistake, and must not have more
    than who tried.
    """
    return Component(weight, _share_valid, only_if_solved=True)


def length_component(
    cost: LengthCost | None = None,
    *,
    only_if_solved: bool = True,
    count: TokenCounter = approximate_tokens,
) -> Component:
    """Return a component of weight -1 for the cost of the effort; see ``LengthPenalty``."""
    cost = cost or LengthCost()
    score = _Length(cost, count)
    return Component(-1.0, score, high=cost.highest, only_if_solved=only_if_solved)


def invalid_call(info: Info) -> bool:
    """Return whether an action was no call that a tool and its schema take."""
    return info.get("tool", {}).get("error") in _MALFORMED


class BehaviourReward(Budgeted):
    """Add components to the reward when the episode ends.

    ``info["reward_components"]`` has what each scored, ``info["reward_parts"]`` what it was paid
    (score times weight, or 0 where only solved episodes pay) beside ``tests``, and
    ``info["tests_reward"]`` what the tests gave.  Where the reward is not valid, nothing is scored
    and nothing paid.
    """

    def __init__(self, env: TextEnv, components: Mapping[str, Component]) -> None:
        """Wrap an environment.

        Args:
            env: Of ``CodeRepo-v0``, or a wrapper around one.
            components: By name.

        Raises:
            UsageError: If a name is taken, a weight or range is no number, or a solution might not
                pay best any more (see ``Budgeted``).
        """
        for name, one in components.items():
            if not math.isfinite(one.weight * one.low + one.weight * one.high):
                raise UsageError(f"the weight of {name!r} or the range of its score is not finite")
        stake = sum(one.stake for one in components.values())
        super().__init__(env, tuple(components), stake, components=dict(components))
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
            UsageError: If a component fails, or gives no number of its range.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._played.append((action, observation, info))
        parts = dict.fromkeys(self.components, 0.0)
        if (terminated or truncated) and info.get("reward_valid", True):
            actions, observations, infos = zip(*self._played, strict=True)
            view = EpisodeView(self._instruction, actions, observations, infos, float(reward))
            scores = {name: _score(name, one, view) for name, one in self.components.items()}
            info = {**info, COMPONENTS: {**info.get(COMPONENTS, {}), **scores}}
            solved = info.get("resolved", False)
            parts |= {
                name: one.weight * scores[name]
                for name, one in self.components.items()
                if solved or not one.only_if_solved
            }
        paid, info = self.pay(float(reward), info, parts)
        return observation, paid, terminated, truncated, info

    def _hand_over(self, other: Self) -> None:
        other._instruction, other._played = self._instruction, list(self._played)


class TurnPenalty(Budgeted):
    """Take a penalty from the reward of the very step that was flagged, up to a cap per episode.

    ``info["reward_parts"]["turn"]`` is what this step paid; the sum over an episode is at most
    ``cap``, so that a solution pays although there were many mistakes on the way.  At the end
    ``info["turn_rewards"]`` lists one value per action without any cap: they are for trainers that
    give credit per turn, beside ``info["tests_reward"]``; added up they may exceed a solution.
    """

    def __init__(
        self,
        env: TextEnv,
        penalty: float,
        flagged: Callable[[Info], bool] = invalid_call,
        *,
        cap: float = 0.5,
    ) -> None:
        """Wrap an environment.

        Args:
            env: Of ``CodeRepo-v0``, or a wrapper around one.
            penalty: What a flagged step costs, at least 0.
            flagged: Says it of a step's ``info``; by default of malformed calls.
            cap: The most that the reward of an episode loses.

        Raises:
            UsageError: If a number is negative or not finite, or a solution might not pay best any
                more (see ``Budgeted``).
        """
        if not all(math.isfinite(x) and x >= 0 for x in (penalty, cap)):
            raise UsageError("a penalty and its cap are finite and at least 0")
        super().__init__(env, (TURN,), cap, penalty=penalty, flagged=flagged, cap=cap)
        self.penalty, self.flagged, self.cap = penalty, flagged, cap
        self._turns: list[float] = []
        self._left = cap

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode."""
        self._turns, self._left = [], self.cap
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Stepped:  # noqa: ANN401 - whatever an agent sends
        """Pass an action on, and take the penalty if it is flagged and the reward is valid."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        bad = info.get("reward_valid", True) and self.flagged(info)
        self._turns.append(0.0 - self.penalty if bad else 0.0)
        if terminated or truncated:
            info = {**info, "turn_rewards": list(self._turns)}
        taken = min(self.penalty, self._left) if bad else 0.0
        self._left -= taken
        paid, info = self.pay(float(reward), info, {TURN: 0.0 - taken})
        return observation, paid, terminated, truncated, info

    def _hand_over(self, other: Self) -> None:
        other._turns, other._left = list(self._turns), self._left


@dataclass(frozen=True)
class _Length:
    cost: LengthCost
    count: TokenCounter

    def __call__(self, view: EpisodeView) -> float:
        return self.cost.of(view.effort(self.count))


def _share_valid(view: EpisodeView) -> float:
    calls = [info for info in view.infos if "tool" in info]
    return sum(not invalid_call(info) for info in calls) / len(calls) if calls else 1.0


def _score(name: str, component: Component, view: EpisodeView) -> float:
    try:
        score = float(component.score(view))
    except Exception as error:
        raise UsageError(f"the reward component {name!r} failed: {error!r}") from error
    if not component.low <= score <= component.high:
        told = f"{score}, which is not in [{component.low}, {component.high}]"
        raise UsageError(f"the reward component {name!r} gave {told}", hint="declare its range")
    return score
