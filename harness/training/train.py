"""One run of reinforcement learning from a base: the loop, its report, the measures before it.

python -m training.train --base BASE --arm hint --seed 0 --out RUN.jsonl
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import torch

from codeenv.tasks.taskset import Taskset
from codeenv_harness.curriculum import sampler_of
from training.drawing import Curriculum, Draw, UniformDraw
from training.generation import Generator
from training.learning import Arm, Learner, Rates
from training.policy import optimizer_of
from training.presets import PRESETS, REGIMES, SUITE, Preset, Regime, split
from training.record import runtime_of
from training.rollouts import Player
from training.summary import summary
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
        self.preset, self.regime = preset, regime
        self.updates = min(preset.updates, regime.updates)
        self.taskset = Taskset.load(SUITE)
        training, self.held_out = split(preset.limit)
        self.draw: Draw = UniformDraw(training, seed)

    def use_curriculum(self) -> None:
        """Draw the tasks that the policy can learn from, instead of any."""
        recipes = self.taskset.select(self.draw.tasks).recipes
        self.draw = Curriculum(self.draw.tasks, sampler_of(recipes, seed=self.seed))

    def go(self, report: Report, optimizer: str, threads: int, tier: str) -> None:
        """Train, and report every update and every evaluation."""
        preset, policy = self.preset, self.base.policy
        torch.manual_seed(self.seed)
        rng = random.Random(self.seed)
        optimizers = optimizer_of(policy, optimizer, self.regime.rate)
        learner = Learner(policy, optimizers, self.base.chat, self.arm, Rates())
        rows = max(preset.tasks * preset.group, len(self.held_out) * preset.evaluation)
        generator = Generator(policy, rows, self.base.chat.end)
        with ExitStack() as stack:
            runtime = stack.enter_context(runtime_of(tier))
            calls = self.regime.calls
            player = Player(self.taskset, runtime, self.base.chat, steps=calls, threads=threads)
            stack.callback(player.close)
            for update in range(self.updates + 1):
                if update % preset.every == 0 or update == self.updates:
                    report(self._evaluated(update, player, generator))
                if update < self.updates:
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
        tasks = self.draw.some(self.preset.tasks)
        rollouts = player.play(tasks, self.preset.group, generator)
        self.draw.learn(rollouts, update)
        played = time.perf_counter()
        facts = learner.update(rollouts, rng)
        generator.load(learner.policy)
        times = {"seconds": played - begun, "learning": time.perf_counter() - played}
        return {"kind": "training", "update": update, **summary(rollouts), **facts, **times}


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
    parser.add_argument("--draw", choices=("uniform", "curriculum"), default="uniform")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--tier", choices=("own", "open"), default="own")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)  # the work is on the GPU, or so small that threads cost more
    base = Base.load(args.base, torch.device(args.device))
    run = Run(base, ARMS[args.arm], args.seed, PRESETS[args.preset], REGIMES[args.regime])
    if args.draw == "curriculum":
        run.use_curriculum()
    about = {name: getattr(args, name) for name in ("arm", "seed", "regime", "optimizer", "draw")}
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
