"""What wrappers share, and rewards of named parts.

Whatever a wrapper adds to the reward is told by its name:

``info["reward_parts"]`` names each part of a step's reward; their sum is the reward, exactly.
``info["tests_reward"]`` is what the tests alone gave.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from codeenv.env.repo import CodeRepoEnv, Info, Observation
from codeenv.errors import UsageError
from codeenv.feedback import FeedbackEvent, Turn
from codeenv.trajectory import Recorder, StepMetrics

TESTS = "tests"
PARTS = "reward_parts"
BASE = "tests_reward"
AROUND_SUMMARIES = "goes_around_summaries"
"""An attribute of wrappers that must see a summary as the action it is."""
TextEnv = gymnasium.Env[Observation, Any]
Stepped = tuple[Observation, float, bool, bool, Info]


class TextWrapper(gymnasium.Wrapper[Observation, Any, Observation, Any], RecordConstructorArgs):
    """Base of the wrappers: pickles, like the environment, as what it was made with."""

    def __init__(self, env: TextEnv, **made_with: Any) -> None:  # noqa: ANN401 - a wrapper's own
        """Remember the environment and the other arguments."""
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, **made_with)
        gymnasium.Wrapper.__init__(self, env)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _again, (type(self), self.env, self._saved_kwargs)


class RewardWrapper(TextWrapper):
    """Base of the wrappers that add parts to the reward."""

    def __init__(self, env: TextEnv, names: tuple[str, ...], **made_with: Any) -> None:  # noqa: ANN401
        """Take the names of the parts.

        Raises:
            UsageError: If a name is taken.
        """
        super().__init__(env, **made_with)
        taken = reward_names(env) or (TESTS,)
        if clash := sorted({*names} & {*taken, ""}):
            raise UsageError(f"there is a part of the reward called {clash[0]!r} already")
        self.reward_names = (*taken, *names)

    def pay(self, reward: float, info: Info, parts: Mapping[str, float]) -> tuple[float, Info]:
        """Return reward and ``info`` with more parts.

        Raises:
            UsageError: If something in between changed the reward and gave that no name.
        """
        known = info.get(PARTS)
        if known is None:
            known = {TESTS: _of_tests(self.env, reward)}
            info = {**info, BASE: known[TESTS]}
        if sum(known.values()) != reward:
            raise UsageError(
                "a wrapper in between changed the reward without a name for it",
                hint="put it around the wrappers of codeenv",
            )
        every = {**known, **parts}
        return float(sum(every.values())), {**info, PARTS: every}


def _of_tests(env: TextEnv, reward: float) -> float:
    """Return what the tests gave, if the environment tells, else the reward as it came."""
    base = env.unwrapped
    if not isinstance(base, CodeRepoEnv):
        return float(reward)
    return base.outcome.reward if base.outcome is not None else 0.0


def reward_names(env: TextEnv) -> tuple[str, ...]:
    """Return the parts that an environment's reward has; none if nothing names them."""
    name = "reward_names"
    found: tuple[str, ...] = env.get_wrapper_attr(name) if env.has_wrapper_attr(name) else ()
    return found


def write_turn(
    recorder: Recorder, turn: Turn, extra: Mapping[str, Any], metrics: StepMetrics | None = None
) -> None:
    """Write down what an episode says of an action, so that a replay reads the same again."""
    facts = {"name": turn.named, "ok": turn.ok, "error": turn.error, "exit_code": turn.exit_code}
    told = {**extra, "tool": {**extra.get("tool", {}), **facts}}
    if turn.tool:
        made = turn.tool, turn.arguments, turn.text, told
        recorder.call(*made, message=turn.content, reasoning=turn.reasoning, metrics=metrics)
    else:
        recorder.say(turn.content, turn.text, told, reasoning=turn.reasoning, metrics=metrics)


def told_events(events: Iterable[FeedbackEvent]) -> dict[str, Any]:
    """Return events as they stand in a record; nothing where there are none."""
    told = [event.model_dump(mode="json") for event in events]
    return {"feedback": told} if told else {}


def forked(env: TextEnv) -> TextEnv:
    """Return another of what is wrapped, gone on from here; Gymnasium's checks stay behind.

    Raises:
        UsageError: If it cannot fork.
    """
    while isinstance(env, OrderEnforcing | PassiveEnvChecker):
        env = env.env
    fork = getattr(env, "fork", None)
    if fork is None:
        raise UsageError(
            f"{type(env).__name__} cannot fork",
            hint="fork what it wraps, and wrap that again",
        )
    other: TextEnv = fork()
    return other


def _again(kind: type[TextWrapper], env: TextEnv, made_with: Mapping[str, Any]) -> TextWrapper:
    return kind(env, **made_with)
