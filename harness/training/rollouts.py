"""Rollouts of the policy in real ``CodeRepo-v0`` episodes, all turns of a batch together."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import gymnasium

import codeenv
from codeenv.env.runtime import Runtime
from codeenv.feedback import FeedbackEvent
from codeenv.tasks.taskset import Taskset
from training.chat import Chat, Said, answer_shown, instruction_shown
from training.generation import Generator, Sampled

assert codeenv.__version__  # the import registers the environment


@dataclass
class Rollout:
    """One episode as the policy lived it.

    Attributes:
        task: Its task's id.
        group: Number of its group: episodes of one task that start alike.
        ids: All tokens.
        mask: 1 where the policy wrote.
        logps: Log-probabilities (nats) of what it wrote, as sampled; 0 elsewhere.
        turns: For each turn the range of its tokens.
        events: Feedback, each with a turn.
        errors: For each turn the error code, or "".
        reward: Of the tests, in [0, 1].
        valid: Whether the reward counts.
    """

    task: str
    group: int
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logps: list[float] = field(default_factory=list)
    turns: list[tuple[int, int]] = field(default_factory=list)
    events: list[FeedbackEvent] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    reward: float = 0.0
    valid: bool = False

    @property
    def unknown(self) -> int:
        """Calls of tools that do not exist, or that were no calls at all."""
        return sum(
            error in ("unknown_tool", "invalid_action", "bad_arguments") for error in self.errors
        )

    def read(self, ids: Sequence[int]) -> None:
        """Add what the policy was told."""
        self.ids += ids
        self.mask += [0] * len(ids)
        self.logps += [0.0] * len(ids)

    def wrote(self, turn: Sampled) -> None:
        """Add a turn of the policy."""
        self.turns.append((len(self.ids), len(self.ids) + len(turn.ids)))
        self.ids += turn.ids
        self.mask += [1] * len(turn.ids)
        self.logps += turn.logps


class Player:
    """Plays groups of episodes; keeps its environments.

    All environments share a runtime, and each has a box of its own.
    """

    def __init__(
        self, tasks: Taskset, runtime: Runtime, chat: Chat, *, steps: int, threads: int
    ) -> None:
        """Prepare for episodes of at most ``steps`` calls."""
        self._options = {"tasks": tasks, "runtime": runtime, "max_steps": steps}
        self._chat = chat
        self._envs: list[gymnasium.Env[Any, Any]] = []
        self._threads = ThreadPoolExecutor(threads, "codeenv-study")

    def play(self, tasks: Sequence[str], group: int, generator: Generator) -> list[Rollout]:
        """Play every task ``group`` times; the rollouts of a task are neighbours."""
        rollouts = [
            Rollout(task, number) for number, task in enumerate(tasks) for _ in range(group)
        ]
        while len(self._envs) < len(rollouts):
            made = gymnasium.make("CodeRepo-v0", disable_env_checker=True, **self._options)
            self._envs.append(made)
        generator.forget()
        opened = self._threads.map(self._open, self._envs, rollouts)
        pending: list[list[int] | None] = [*opened, *[None] * (generator.rows - len(rollouts))]
        while any(prompt is not None for prompt in pending):
            turns = generator.turns(pending)
            jobs = list(self._acting(rollouts, turns, generator))
            nexts = dict(self._threads.map(lambda job: self._act(*job), jobs))
            pending = [nexts.get(row) for row in range(generator.rows)]
        return rollouts

    def close(self) -> None:
        """Close all environments."""
        for env in self._envs:
            env.close()
        self._threads.shutdown()

    def _open(self, env: gymnasium.Env[Any, Any], rollout: Rollout) -> list[int]:
        seen, _ = env.reset(options={"task_id": rollout.task})
        said = Said("user", instruction_shown(seen["text"]))
        prompt = [*self._chat.message(said), *self._chat.opening]
        rollout.read(prompt)
        return prompt

    def _acting(
        self, rollouts: Sequence[Rollout], turns: Sequence[Sampled | None], generator: Generator
    ) -> Iterator[tuple[int, Rollout, Sampled, int]]:
        for row, (rollout, turn) in enumerate(zip(rollouts, turns, strict=False)):
            if turn is not None:
                yield row, rollout, turn, generator.room(row)

    def _act(
        self, row: int, rollout: Rollout, turn: Sampled, room: int
    ) -> tuple[int, list[int] | None]:
        """Carry a turn out; return what is to be read next, or None if the episode is over."""
        env = self._envs[row]
        rollout.wrote(turn)
        text = self._chat.text(turn.ids).removesuffix("<|im_end|>")
        seen, reward, terminated, truncated, info = env.step(_action(text))
        answer = Said("tool", answer_shown(info["tool"]["name"], seen["text"]))
        rollout.errors.append(info["tool"]["error"])
        rollout.events += map(FeedbackEvent.model_validate, info.get("feedback", ()))
        more = [*self._chat.ids("\n"), *self._chat.message(answer), *self._chat.opening]
        if not terminated and not truncated and len(more) < room:
            rollout.read(more)
            return row, [turn.ids[-1], *more]
        if not terminated and not truncated:
            _, reward, *_, info = env.unwrapped.finish("context_exceeded")  # type: ignore[attr-defined]
        rollout.reward, rollout.valid = float(reward), bool(info["reward_valid"])
        return row, None


def _action(text: str) -> object:
    """Return the call that a turn says, or the text itself, which the environment refuses."""
    try:
        call = json.loads(text)
    except ValueError:
        return text
    return call if isinstance(call, dict) else text
