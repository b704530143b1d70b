"""Makes a base model from demonstrations and measures it.

python -m training.base --demos DEMOS.json --regime standard --out BASE
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import torch

from codeenv.tasks.taskset import Taskset
from training.demos import Habits
from training.gates import measure
from training.presets import PRESETS, REGIMES, SUITE, Preset, split
from training.record import load, runtime_of
from training.rollouts import Player
from training.warmup import Base, make_base

_MEASURED = 48
"""Tasks of each half that the base is measured on."""


def measured(
    base: Base, preset: Preset, calls: int, threads: int
) -> dict[str, Mapping[str, float]]:
    """Play training and held-out tasks with the base, and return the numbers of both."""
    training, held_out = split(preset.limit)
    with ExitStack() as stack:
        runtime = stack.enter_context(runtime_of())
        player = Player(Taskset.load(SUITE), runtime, base.chat, steps=calls, threads=threads)
        stack.callback(player.close)
        chosen = {"training": training[:: len(training) // _MEASURED or 1], "held-out": held_out}
        return {
            name: measure(base.policy, base.chat, player, tasks, preset.evaluation)
            for name, tasks in chosen.items()
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Warm up, measure; write the base and ``gates.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demos", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", choices=PRESETS, default="study")
    parser.add_argument("--regime", choices=REGIMES, default="standard")
    parser.add_argument("--core", type=float, help="share of the environment's own names")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    preset, regime = PRESETS[args.preset], REGIMES[args.regime]
    if args.core is not None:
        regime = replace(regime, habits=Habits(args.core))
    begun = time.perf_counter()
    demos = load(args.demos)
    base = make_base(demos, preset, regime.habits, torch.device(args.device), seed=args.seed)
    base.save(args.out)
    taken = time.perf_counter() - begun
    facts = measured(base, preset, regime.calls, args.threads)
    text = json.dumps({**facts, "warm-up": {"seconds": taken}}, indent=1)
    (args.out / "gates.json").write_text(text + "\n", encoding="utf-8")
    print(text, flush=True)


if __name__ == "__main__":
    main()
