"""One run of reinforcement learning from a base: the loop, its report, the measures before it.

python -m training.train --base BASE --arm hint --seed 0 --out RUN.jsonl
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import torch

from codeenv.env.runtime import Runtime
from codeenv.grading import GradingOptions
from codeenv.sandbox.capacity import Capacity
from codeenv.tasks.taskset import Taskset
from training.generation import Generator
from training.learning import Arm, Learner, Rates, flagged
from training.policy import optimizer_of
from training.presets import PRESETS, REGIMES, SUITE, Preset, Regime, split
from training.rollouts import Player, Rollout
from training.warmup import Base

ARMS: Mapping[str, Arm] = {
    "scalar": Arm(),
    "hint": Arm(hint="hint"),
    "hint-forward": Arm(hint="hint", alpha=0.0),
    "hint-jsd": Arm(hint="hint", alpha=0.5),
    "hint-auto": Arm(hint="hint", alpha=None),
    "placebo": Arm(hint="placebo"),
    "turn-penalty": Arm(turn_penalty=-1.0),
    "episode-penalty": Arm(episode_penalty=0.1),
    "hint+penalty": Arm(hint="hint", turn_penalty=-1.0),
}
Report = Callable[[Mapping[str, object]], None]


class Run:
    """A base, one arm, one seed."""

    def __init__(self, base: Base, arm: Arm, seed: int, preset: Preset, regime: Regime) -> None:
        """Prepare; nothing is played yet."""
        self.base, self.arm, self.seed = base, arm, seed
        self.preset = replace(
            preset,
            calls=min(preset.calls, regime.calls) if preset.updates < 10 else regime.calls,
            rate=regime.rate,
            updates=min(preset.updates, regime.updates),
        )
        self.training, self.held_out = split(0 if preset.updates >= 10 else 4)

    def go(self, report: Report, optimizer: str, threads: int, tier: str) -> None:
        """Train, and report every update and every evaluation."""
        preset, policy = self.preset, self.base.policy
        torch.manual_seed(self.seed)
        rng = random.Random(self.seed)
        optimizers = optimizer_of(policy, optimizer, preset.rate)
        learner = Learner(policy, optimizers, self.base.chat, self.arm, Rates())
        rows = max(preset.tasks * preset.group, len(self.held_out) * preset.evaluation)
        generator = Generator(policy, rows, self.base.chat.end)
        with ExitStack() as stack:
            runtime = stack.enter_context(runtime_of(threads, tier))
            player = Player(
                Taskset.load(SUITE), runtime, self.base.chat, steps=preset.calls, threads=threads
            )
            stack.callback(player.close)
            for update in range(preset.updates + 1):
                if update % preset.every == 0 or update == preset.updates:
                    report(self._evaluated(update, player, generator))
                if update < preset.updates:
                    report(self._updated(update, player, generator, learner, rng))

    def _evaluated(self, update: int, player: Player, generator: Generator) -> dict[str, object]:
        begun = time.perf_counter()
        rollouts = player.play(self.held_out, self.preset.evaluation, generator)
        taken = time.perf_counter() - begun
        return {"kind": "held-out", "update": update, **summary(rollouts), "seconds": taken}

    def _updated(
        self,
        update: int,
        player: Player,
        generator: Generator,
        learner: Learner,
        rng: random.Random,
    ) -> dict[str, object]:
        begun = time.perf_counter()
        tasks = rng.sample(self.training, min(self.preset.tasks, len(self.training)))
        rollouts = player.play(tasks, self.preset.group, generator)
        played = time.perf_counter()
        facts = learner.update(rollouts, rng)
        generator.load(learner.policy)
        times = {"seconds": played - begun, "learning": time.perf_counter() - played}
        return {"kind": "training", "update": update, **summary(rollouts), **facts, **times}


def runtime_of(threads: int, tier: str) -> Runtime:
    """Return a runtime for many short episodes of few environments."""
    capacity = Capacity(boxes=1024, idle=4 * threads, memory=0)
    grading = GradingOptions(tier=None if tier == "own" else "open")
    return Runtime("bubblewrap", capacity=capacity, grading=grading, grades_kept=100_000)


def summary(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the numbers of a batch; all but ``valid`` are over rollouts with a valid reward."""
    used = [r for r in rollouts if r.valid]
    calls = sum(len(r.turns) for r in used)
    groups: dict[int, set[float]] = {}
    for rollout in used:
        groups.setdefault(rollout.group, set()).add(rollout.reward)
    return {
        "reward": sum(r.reward for r in used) / max(1, len(used)),
        "invalid": sum(r.unknown for r in used) / max(1, calls),
        "turns": calls / max(1, len(used)),
        "tokens": sum(sum(r.mask) for r in used) / max(1, len(used)),
        "zero": sum(len(rewards) == 1 for rewards in groups.values()) / max(1, len(groups)),
        "flagged": float(sum(1 for _ in flagged(used))),
        "valid": len(used) / len(rollouts),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Run one arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--arm", choices=ARMS, default="hint")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preset", choices=PRESETS, default="study")
    parser.add_argument("--regime", choices=REGIMES, default="standard")
    parser.add_argument("--optimizer", choices=("adamw", "muon"), default="adamw")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--tier", choices=("own", "open"), default="own")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)  # the work is on the GPU, or so small that threads cost more
    base = Base.load(args.base, torch.device(args.device))
    run = Run(base, ARMS[args.arm], args.seed, PRESETS[args.preset], REGIMES[args.regime])
    about = {"arm": args.arm, "seed": args.seed, "regime": args.regime, "optimizer": args.optimizer}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", encoding="utf-8") as file:

        def report(facts: Mapping[str, object]) -> None:
            file.write(json.dumps({**about, **facts}) + "\n")
            file.flush()
            print(args.arm, args.seed, _shown(facts), flush=True)

        run.go(report, args.optimizer, args.threads, args.tier)


def _shown(facts: Mapping[str, object]) -> str:
    return "  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{v}" for k, v in facts.items())


if __name__ == "__main__":
    main()
