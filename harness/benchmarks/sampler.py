"""A training step's draw and updates: our sampler on a million tasks, and a plain loop.

Run ``python harness/benchmarks/sampler.py [--tasks N] [--draw K]``.  Both sides do the same: a p
from each posterior, a score, the best keys, then a group of rewards for each task drawn.  The loop
is the usual one, with ``random.betavariate`` and a heap; it runs on a hundredth of the tasks, and
its draw is scaled up.
"""

import argparse
import heapq
import math
import random
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from codeenv_harness.curriculum import TaskSampler

_SMALLER, _GROUP, _STALENESS = 100, 8, 0.05


class Loop:
    """The same in plain Python."""

    def __init__(self, count: int) -> None:
        self._random = random.Random(0)
        self._tasks = {str(n): [1.0, 1.0, 0] for n in range(count)}

    def sample(self, k: int) -> tuple[str, ...]:
        """Draw without replacement, by exponential keys."""
        keys = []
        for task_id, (a, b, visits) in self._tasks.items():
            p = self._random.betavariate(a, b)
            score = p * (1 - p) + _STALENESS / math.sqrt(1 + visits)
            keys.append((self._random.expovariate(score), task_id))
        drawn = tuple(task_id for _, task_id in heapq.nsmallest(k, keys))
        for task_id in drawn:
            self._tasks[task_id][2] += 1
        return drawn

    def update(self, task_id: str, rewards: list[float]) -> None:
        """Fade the evidence and add to it."""
        good, task = sum(rewards), self._tasks[task_id]
        task[0] = 0.7 * task[0] + 0.3 + good
        task[1] = 0.7 * task[1] + 0.3 + len(rewards) - good


def main() -> int:
    """Measure both sides in one run, and print milliseconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--draw", type=int, default=256)
    parser.add_argument("--repeat", type=int, default=7)
    args = parser.parse_args()
    ours = TaskSampler([str(n) for n in range(args.tasks)], seed=0)
    few = max(args.draw, args.tasks // _SMALLER)
    loop, scale = Loop(few), args.tasks / few
    draws: list[tuple[float, float]] = []
    steps: list[tuple[float, float]] = []
    for _ in range(args.repeat):  # in turn, so that both meet the same machine
        drawn, updated = measure(ours.sample, ours.update, args.draw)
        slow, slowly = measure(loop.sample, loop.update, args.draw)
        draws.append((drawn, slow * scale))
        steps.append((updated, slowly))
    print(f"{'milliseconds, median':<34}{'ours':>10}{'loop':>10}{'ratio':>8}")
    tell(f"sample({args.draw}) of {args.tasks:,}", draws)
    tell(f"{args.draw} updates", steps)
    tell("both", [(a + c, b + d) for (a, b), (c, d) in zip(draws, steps, strict=True)])
    print(f"the loop's draw is that of {few:,} tasks, times {scale:g}")
    return 0


def measure(
    sample: Callable[[int], tuple[str, ...]], update: Callable[[str, list[float]], object], k: int
) -> tuple[float, float]:
    """Return the seconds of a draw, and of a group of rewards for each task in it."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, (k, _GROUP)).astype(float).tolist()
    start = time.perf_counter()
    drawn = sample(k)
    middle = time.perf_counter()
    for task_id, rewards in zip(drawn, groups, strict=True):
        update(task_id, rewards)
    return middle - start, time.perf_counter() - middle


def tell(what: str, seconds: list[tuple[float, float]]) -> None:
    """Print one line."""
    ours, loop = (1000 * statistics.median(side) for side in zip(*seconds, strict=True))
    print(f"{what:<34}{ours:>10.1f}{loop:>10.1f}{loop / ours:>8.1f}")


if __name__ == "__main__":
    sys.exit(main())
