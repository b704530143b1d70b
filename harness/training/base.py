"""Makes a base model and measures it.

python -m training.base --regime standard --out BASE
"""

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import torch

from codeenv.tasks.taskset import Taskset
from training.demos import Habits
from training.gates import measure
from training.presets import PRESETS, REGIMES, SUITE, split
from training.rollouts import Player
from training.train import runtime_of
from training.warmup import make_base, record


def main(argv: Sequence[str] | None = None) -> None:
    """Record demonstrations, warm up, measure; write the base and ``gates.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", choices=PRESETS, default="study")
    parser.add_argument("--regime", choices=REGIMES, default="standard")
    parser.add_argument("--core", type=float, help="share of the environment's own names")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args(argv)
    preset, regime = PRESETS[args.preset], REGIMES[args.regime]
    habits = regime.habits if args.core is None else Habits(args.core)
    if args.preset == "smoke":
        preset = replace(preset, calls=3)
        regime = replace(regime, calls=3)
    torch.set_num_threads(1)
    training, held_out = split(4 if args.preset == "smoke" else 0)
    times = {}
    with ExitStack() as stack:
        runtime = stack.enter_context(runtime_of(args.threads, "own"))
        begun = time.perf_counter()
        demos = record(training, preset.demos, runtime, args.threads)
        times["recording"] = time.perf_counter() - begun
        base = make_base(demos, preset, habits, torch.device(args.device), seed=args.seed)
        times["warm-up"] = time.perf_counter() - begun - times["recording"]
        base.save(args.out)
        player = Player(
            Taskset.load(SUITE), runtime, base.chat, steps=regime.calls, threads=args.threads
        )
        stack.callback(player.close)
        facts = {}
        for name, tasks in (
            ("held-out", held_out),
            ("training", training[:: len(training) // 48 or 1]),
        ):
            facts[name] = measure(base.policy, base.chat, player, tasks, preset.evaluation)
    right = sum(demo.reward for demo in demos) / len(demos)
    facts["demonstrations"] = {"episodes": len(demos), "reward": right, **times}
    (args.out / "gates.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(facts, indent=1), flush=True)


if __name__ == "__main__":
    main()
