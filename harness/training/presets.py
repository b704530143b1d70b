"""How large an experiment is: ``smoke`` for a test on a CPU, ``study`` for one GPU."""

from dataclasses import dataclass

from codeenv.tasks.taskset import Taskset
from training.demos import Habits
from training.repositories import HELD_OUT

SUITE = "study"


@dataclass(frozen=True)
class Preset:
    """Sizes and rates.

    Attributes:
        width, layers, heads, context, vocabulary: Of the policy.
        demos: Recorded episodes per training task.
        tellings: Training texts per recorded episode.
        warmup_steps, warmup_rows, warmup_rate, warmup_optimizer: Of the warm-up; rows per step.
        tasks, group: Tasks per update, and rollouts of each.
        updates: At most so many of reinforcement learning.
        evaluation: Rollouts of each held-out task at an evaluation.
        every: Updates between two evaluations.
        limit: Training tasks and held-out tasks that are used; 0 for all.
    """

    width: int = 256
    layers: int = 6
    heads: int = 8
    context: int = 1024
    vocabulary: int = 2048
    demos: int = 4
    tellings: int = 32
    warmup_steps: int = 1400
    warmup_rows: int = 64
    warmup_rate: float = 1e-3
    warmup_optimizer: str = "adamw"
    tasks: int = 12
    group: int = 8
    updates: int = 60
    evaluation: int = 4
    every: int = 20
    limit: int = 0


PRESETS = {
    "study": Preset(),
    "smoke": Preset(
        width=64,
        layers=2,
        heads=4,
        vocabulary=768,
        demos=1,
        tellings=2,
        warmup_steps=8,
        warmup_rows=8,
        tasks=2,
        group=2,
        updates=2,
        evaluation=1,
        every=2,
        limit=4,
    ),
}


@dataclass(frozen=True)
class Regime:
    """What a base model is used to, and how it is trained.

    Attributes:
        habits: Whose tool names it was taught.
        calls: Tool calls per episode.
        rate: Of the reinforcement learning.
        updates: At most so many.
    """

    habits: Habits
    calls: int
    rate: float
    updates: int


REGIMES = {
    "standard": Regime(Habits(core=0.65), calls=6, rate=1e-4, updates=60),
    "never": Regime(Habits(core=0.0), calls=13, rate=1e-4, updates=40),
}


def split(limit: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the training tasks and of the held-out ones, by repository.

    Args:
        limit: At most so many of each; 0 for all.
    """
    ids = Taskset.load(SUITE).ids
    held_out = tuple(i for i in ids if i.split("-")[0] in HELD_OUT)
    training = tuple(i for i in ids if i.split("-")[0] not in HELD_OUT)
    return training[: limit or None], held_out[: limit or None]
