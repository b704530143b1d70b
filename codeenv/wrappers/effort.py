"""What an episode cost in tokens, calls and turns, and a reward that takes it into account.

The cost is concave: steep where little was spent (be quick at what is easy), flat where much was
(go on at what is hard).  The formula is that of the Composer 2 report (arXiv 2603.24477); its
constants are not published, ours are a proposal.
"""

import math
from dataclasses import asdict, astuple, dataclass
from typing import Any, Self

from codeenv.env.repo import Info, Observation
from codeenv.errors import UsageError
from codeenv.tools import ToolCall, parse_action
from codeenv.wrappers.budget import Budgeted
from codeenv.wrappers.parts import Stepped, TextEnv
from codeenv.wrappers.texts import TokenCounter, approximate_tokens, reasoning_of, text_of

UNIT = 1000.0
"""Tokens of weight 1 that make an effort of 1."""
LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Effort:
    """Counts of what was spent.

    Attributes:
        thinking: Tokens of reasoning.
        call: Tokens of tool calls.
        output: Tokens of what tools gave.
        final: Tokens of messages: what was said with ``submit``, or was no tool call.
        calls: Tool calls.
        turns: Actions of any kind.
    """

    thinking: int = 0
    call: int = 0
    output: int = 0
    final: int = 0
    calls: int = 0
    turns: int = 0

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(
            thinking=self.thinking + other.thinking,
            call=self.call + other.call,
            output=self.output + other.output,
            final=self.final + other.final,
            calls=self.calls + other.calls,
            turns=self.turns + other.turns,
        )


@dataclass(frozen=True, slots=True)
class EffortWeights:
    """What counts how much, in units of 1,000 token-equivalents.

    Attributes:
        thinking: Of a token of reasoning.
        call: Of a token of a tool call.
        output: Of a token that a tool gave.
        final: Of a token of a message.
        per_call: Of a tool call, in whole units.
        per_turn: Of a turn, in whole units.
        token_budget: Tokens of full weight that an episode may cost; more cost no more.
    """

    thinking: float = 1.0
    call: float = 1.0
    output: float = 0.1
    final: float = 1.0
    per_call: float = 0.05
    per_turn: float = 0.05
    token_budget: int = 128_000

    def __post_init__(self) -> None:
        """Refuse what would pay for effort.

        Raises:
            UsageError: If a weight is negative or not finite.
        """
        if not all(math.isfinite(w) and w >= 0 for w in astuple(self)):
            raise UsageError("weights of effort are finite and at least 0")

    def of(self, effort: Effort) -> float:
        """Return the effort x, in units of 1,000 token-equivalents."""
        tokens = (
            self.thinking * effort.thinking
            + self.call * effort.call
            + self.output * effort.output
            + self.final * effort.final
        )
        return tokens / UNIT + self.per_call * effort.calls + self.per_turn * effort.turns

    def most(self, max_steps: int) -> float:
        """Return the effort of who spends all there is, on what is dearest."""
        dearest = max(self.thinking, self.call, self.output, self.final)
        return dearest * self.token_budget / UNIT + (self.per_call + self.per_turn) * max_steps


DEFAULT_WEIGHTS = EffortWeights()


def length_cost(x: float, k: float = 1.0, q: float = 1.0) -> float:
    """Return ``((1 + k x)^(1 - q) - 1) / (k (1 - q))``, and ``log(1 + k x) / k`` where q is 1.

    It is 0 at 0 and has slope ``(1 + k x)^(-q)``, so 1 at 0.

    Args:
        x: Effort, at least 0.
        k: How soon it bends, above 0.
        q: How much it bends, at least 0; 0 is a straight line, above 1 it has a ceiling.

    Raises:
        UsageError: If an argument is out of its range or not finite.
    """
    if not all(map(math.isfinite, (x, k, q))) or x < 0 or k <= 0 or q < 0:
        raise UsageError("length_cost needs x >= 0, k > 0 and q >= 0, all finite")
    grown = math.log1p(k * x)
    z = (1.0 - q) * grown
    if abs(z) < 1e-5:  # expm1(z) / z, where z may be 0
        return grown * (1.0 + z / 2.0 + z * z / 6.0) / k
    return math.expm1(z) / (k * (1.0 - q))


@dataclass(frozen=True)
class LengthCost:
    """A cost of effort that never makes failing fast pay.

    Attributes:
        w: What one unit of cost takes from the reward.
        k: See ``length_cost``.
        q: See ``length_cost``.
        weights: What counts how much.
        max_steps: Actions an episode may have.
    """

    w: float = 0.05
    k: float = 1.0
    q: float = 1.0
    weights: EffortWeights = DEFAULT_WEIGHTS
    max_steps: int = 100

    def __post_init__(self) -> None:
        """Refuse a cost that may be as high as the reward of a solved task.

        Raises:
            UsageError: If it may, or if a number is out of its range.
        """
        if not math.isfinite(self.w) or self.w < 0 or self.max_steps < 1:
            raise UsageError("a cost of length needs w >= 0 and max_steps >= 1")
        if not self.highest < 1:
            raise UsageError(
                f"the greatest effort would cost {self.highest:.3g}, a solved task is worth 1",
                hint="failing fast must not pay: take a lower w or higher k or q",
            )

    @property
    def highest(self) -> float:
        """The cost of the greatest effort, below 1."""
        return self.w * length_cost(self.weights.most(self.max_steps), self.k, self.q)

    def of(self, effort: Effort) -> float:
        """Return the cost of an effort, in [0, ``highest``]."""
        cost = self.w * length_cost(self.weights.of(effort), self.k, self.q)
        return min(cost, self.highest)

    def due(self, effort: Effort, info: Info, *, only_if_solved: bool = True) -> float:
        """Return what an episode pays that ended with ``info``: nothing without a valid reward."""
        spared = only_if_solved and not info.get("resolved", False)
        return 0.0 if spared or not info.get("reward_valid", True) else self.of(effort)


def effort_of_action(action: object, count: TokenCounter = approximate_tokens) -> Effort:
    """Return what an action cost."""
    tokens, thinking = count(text_of(action)), count(reasoning_of(action))
    call = parse_action(action)
    if not isinstance(call, ToolCall):
        return Effort(thinking=thinking, final=tokens, turns=1)
    if call.tool == "submit":
        return Effort(thinking=thinking, final=tokens, calls=1, turns=1)
    return Effort(thinking=thinking, call=tokens, calls=1, turns=1)


def effort_of_output(
    observation: Observation, info: Info, count: TokenCounter = approximate_tokens
) -> Effort:
    """Return what it costs to read what a tool gave; what no tool gave costs nothing."""
    return Effort(output=count(observation["text"])) if "tool" in info else Effort()


class LengthPenalty(Budgeted):
    """Take ``w * C(x)`` from the reward of an episode that took the effort x.

    It shows as ``info["reward_parts"]["length"]``; at the end ``info["effort"]`` has the counts
    and ``x``.  Where the reward is not valid, nothing is taken.

    By default only solved episodes pay.  With a group's mean as baseline, a penalty on failed ones
    teaches giving up.  Its stake (see ``Budgeted``) is ``cost.highest``.
    """

    def __init__(
        self,
        env: TextEnv,
        w: float = 0.05,
        k: float = 1.0,
        q: float = 1.0,
        *,
        weights: EffortWeights = DEFAULT_WEIGHTS,
        only_if_solved: bool = True,
        count: TokenCounter = approximate_tokens,
    ) -> None:
        """Wrap an environment.

        Args:
            env: Of ``CodeRepo-v0``, or a wrapper around one.
            w: What one unit of cost takes from the reward.
            k: See ``length_cost``.
            q: See ``length_cost``.
            weights: What counts how much.
            only_if_solved: Whether failed episodes pay nothing.
            count: Counts tokens.

        Raises:
            UsageError: If the greatest effort would cost as much as a solved task is worth, here
                or together with what ``env`` takes.
        """
        max_steps = int(env.get_wrapper_attr("limits").max_steps)
        self.cost = LengthCost(w, k, q, weights, max_steps)
        super().__init__(
            env,
            (LENGTH,),
            self.cost.highest,
            w=w,
            k=k,
            q=q,
            weights=weights,
            only_if_solved=only_if_solved,
            count=count,
        )
        self.only_if_solved = only_if_solved
        self.count = count
        self.effort = Effort()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode; reading the instruction costs nothing."""
        self.effort = Effort()
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Stepped:  # noqa: ANN401 - whatever an agent sends
        """Pass an action on; the step that ends the episode pays."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.effort += effort_of_action(action, self.count)
        self.effort += effort_of_output(observation, info, self.count)
        cost = 0.0
        if terminated or truncated:
            info = {
                **info,
                "effort": {**asdict(self.effort), "x": self.cost.weights.of(self.effort)},
            }
            cost = self.cost.due(self.effort, info, only_if_solved=self.only_if_solved)
        paid, info = self.pay(float(reward), info, {LENGTH: 0.0 - cost})
        return observation, paid, terminated, truncated, info

    def _hand_over(self, other: Self) -> None:
        other.effort = self.effort
