"""Records demonstrations: a scripted expert plays every training task in real episodes.

python -m training.record --out DEMOS.json
"""

import argparse
import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from codeenv.env.runtime import Runtime
from codeenv.grading import GradingOptions
from codeenv.sandbox.capacity import Capacity
from codeenv.tasks.taskset import Taskset, write_atomic
from training.chat import Turn, answer_shown, instruction_shown
from training.demos import Demo, calls_of
from training.presets import PRESETS, SUITE, split
from training.repositories import SUBJECTS

WRONG = 0.4
"""Share of the demonstrations whose code has a mistake."""
_BOXES_PER_HOST = 8


def runtime_of(tier: str = "own") -> Runtime:
    """Return a runtime for many short episodes of few environments."""
    capacity = Capacity(boxes=1024, per_host=_BOXES_PER_HOST, idle=512, memory=0)
    grading = GradingOptions(tier=None if tier == "own" else "open")
    return Runtime("bubblewrap", capacity=capacity, grading=grading, grades_kept=100_000)


def record(tasks: Sequence[str], each: int, runtime: Runtime, threads: int) -> list[Demo]:
    """Play the expert ``each`` times on every task; the same for the same arguments."""
    taskset = Taskset.load(SUITE)
    recipes = {recipe.id: recipe for recipe in taskset.recipes}

    def play(job: tuple[str, int]) -> Demo:
        task_id, number = job
        rng = random.Random(f"{task_id} {number}")
        task = runtime.task(recipes[task_id], taskset)
        turns = []
        with runtime.open(task) as episode:
            for tool, arguments in calls_of(task, rng, right=rng.random() >= WRONG):
                result = episode.call({"tool": tool, "arguments": arguments})
                turns.append(Turn(tool, arguments, answer_shown(tool, result.text)))
        reward = episode.outcome.reward if episode.outcome else 0.0
        shown = instruction_shown(task.instruction)
        return Demo(task_id, shown, tuple(turns), reward, words_of(task_id))

    jobs = [(task, number) for task in tasks for number in range(each)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(play, jobs))


def words_of(task_id: str) -> tuple[str, ...]:
    """Return the words that a task's repository is about."""
    name = task_id.partition("-")[0]
    return (name, *" ".join(SUBJECTS[name]).split())


def save(demos: Sequence[Demo], path: Path) -> None:
    """Write demonstrations as JSON."""
    write_atomic(path, json.dumps([asdict(demo) for demo in demos]).encode())


def load(path: Path) -> list[Demo]:
    """Read what ``save`` wrote."""
    made = []
    for facts in json.loads(path.read_text("utf-8")):
        turns = tuple(Turn(**turn) for turn in facts["turns"])
        made.append(Demo(**{**facts, "turns": turns, "words": tuple(facts["words"])}))
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Record all demonstrations of a preset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", choices=PRESETS, default="study")
    parser.add_argument("--threads", type=int, default=16)
    args = parser.parse_args(argv)
    preset = PRESETS[args.preset]
    training, _ = split(preset.limit)
    with runtime_of() as runtime:
        demos = record(training, preset.demos, runtime, args.threads)
    save(demos, args.out)
    right = sum(demo.reward for demo in demos)
    print(f"{len(demos)} demonstrations, {right:.0f} of them right, in {args.out}")


if __name__ == "__main__":
    main()
