"""The whole study: bases, measures, all arms and seeds, several runs at a time.

    python -m training.study --out STUDY

What is finished is skipped, so a study that was stopped goes on.
"""

import argparse
import os
import queue
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch

RUNS = {
    "standard": {
        "scalar": 3,
        "hint": 3,
        "turn-penalty": 3,
        "placebo": 2,
        "episode-penalty": 1,
        "hint+penalty": 1,
    },
    "never": {"scalar": 2, "turn-penalty": 2, "hint-forward": 2, "hint": 2, "hint-auto": 2},
}


@dataclass(frozen=True)
class Job:
    """One run of one arm."""

    regime: str
    arm: str
    seed: int

    def file(self, out: Path) -> Path:
        """Where its report is when it is finished."""
        return out / f"{self.regime}.{self.arm}.{self.seed}.jsonl"


def jobs_of(regimes: Sequence[str], seeds: int | None) -> list[Job]:
    """Return all runs, seed by seed, so that a study that is cut short has whole comparisons."""
    every = [
        Job(regime, arm, seed)
        for regime in regimes
        for arm, count in RUNS[regime].items()
        for seed in range(count if seeds is None else min(count, seeds))
    ]
    return sorted(every, key=lambda job: job.seed)


def command(name: str, **options: object) -> list[str]:
    """Return the command line of one of the modules here."""
    words = [f"--{key}={value}" for key, value in options.items()]
    return [sys.executable, "-m", f"training.{name}", *words]


def make_bases(out: Path, regimes: Sequence[str], preset: str) -> None:
    """Record the demonstrations and make the bases that are missing, at the same time."""
    demos = out / "demos.json"
    if not demos.exists():
        subprocess.run(command("record", preset=preset, out=demos), check=True)
    missing = [name for name in regimes if not (out / f"base-{name}" / "gates.json").exists()]
    running = [
        subprocess.Popen(
            command("base", regime=name, preset=preset, demos=demos, out=out / f"base-{name}"),
            env=_on(number),
        )
        for number, name in enumerate(missing)
    ]
    if any(code for code in [process.wait() for process in running]):
        raise SystemExit("a base could not be made")


def run_jobs(out: Path, jobs: Sequence[Job], preset: str, parallel: int, until: float) -> int:
    """Run what is not finished; return how many runs there are now."""
    places = queue.SimpleQueue[int]()
    for number in range(parallel):
        places.put(number)

    def run(job: Job) -> None:
        if time.monotonic() >= until:
            return
        place = places.get()
        try:
            _run(out, job, preset, place)
        finally:
            places.put(place)

    waiting = [job for job in jobs if not job.file(out).exists()]
    with ThreadPoolExecutor(parallel) as pool:
        list(pool.map(run, waiting))
    return sum(job.file(out).exists() for job in jobs)


def _on(place: int) -> dict[str, str]:
    """Return the variables of a process that has one GPU, where there are any."""
    return {**os.environ, "CUDA_VISIBLE_DEVICES": str(place % max(1, torch.cuda.device_count()))}


def _run(out: Path, job: Job, preset: str, place: int) -> None:
    """Run one job; its report has its name once it is whole."""
    part = job.file(out).with_suffix(".part")
    words = command(
        "train",
        base=out / f"base-{job.regime}",
        regime=job.regime,
        arm=job.arm,
        seed=job.seed,
        preset=preset,
        out=part,
    )
    with job.file(out).with_suffix(".log").open("wb") as log:
        ended = subprocess.run(words, stdout=log, stderr=log, env=_on(place), check=False)
    if ended.returncode:
        print(f"{job} failed: see {log.name}", file=sys.stderr)
    else:
        part.rename(job.file(out))


def main(argv: Sequence[str] | None = None) -> None:
    """Make what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", default="study")
    parser.add_argument("--regimes", nargs="+", choices=RUNS, default=list(RUNS))
    parser.add_argument("--seeds", type=int, help="at most so many of each arm")
    parser.add_argument("--parallel", type=int, default=8, help="runs at a time")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run after this")
    args = parser.parse_args(argv)
    begun = time.monotonic()
    args.out.mkdir(parents=True, exist_ok=True)
    make_bases(args.out, args.regimes, args.preset)
    jobs = jobs_of(args.regimes, args.seeds)
    done = run_jobs(args.out, jobs, args.preset, args.parallel, begun + args.seconds)
    print(f"{done} of {len(jobs)} runs in {args.out}")


if __name__ == "__main__":
    main()
