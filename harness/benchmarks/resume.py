"""Kill a run at a random moment, again and again, and see that resuming gives the same table.

    python harness/benchmarks/resume.py --tasks toy --rollouts 8 --concurrency 32 --trials 20

Each trial is killed with SIGKILL until it ends by itself; its outcomes must be those of a run that
nobody disturbed.  What killed runs leave is for ``codeenv gc``: after it nothing may be left.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def command(args: argparse.Namespace, out: Path) -> list[str]:
    """Return the command line of the run; resuming an empty folder begins."""
    return [
        *(sys.executable, "-m", "codeenv", "run", args.tasks, "--agent", args.agent),
        *("--backend", args.backend, "--rollouts", str(args.rollouts), "--max-steps", "4"),
        *("--concurrency", str(args.concurrency), "--tier", args.tier, "--controls", "0"),
        *("--out", str(out), "--resume", "--json"),
    ]


def outcomes(out: Path) -> dict[tuple[str, int], dict[str, object]]:
    """Return what a run says of each rollout, but for how often it was tried."""
    lines = (out / "outcomes.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return {(r["task_id"], r["rollout"]): {**r, "attempts": 0} for r in records}


def disturbed(args: argparse.Namespace, out: Path, seconds: float, rng: random.Random) -> int:
    """Run until it ends by itself; return how often it was killed."""
    kills = 0
    while True:
        process = subprocess.Popen(
            command(args, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(rng.uniform(0.2, 1.2 * seconds) if kills < args.kills else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        if process.returncode != 0:
            raise SystemExit(f"a run ended with {process.returncode}")
        return kills


def cleared() -> int:
    """Return how many things ``codeenv gc`` removed."""
    words = [sys.executable, "-m", "codeenv", "gc", "--json"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return len(json.loads(told)["removed"])


def main() -> None:
    """Compare trial by trial; exit code 1 at the first difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", default="toy")
    parser.add_argument("--agent", default="random")
    parser.add_argument("--backend", default="bubblewrap")
    parser.add_argument("--tier", default="open")
    parser.add_argument("--rollouts", type=int, default=8)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--kills", type=int, default=3, help="at most so many in a trial")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    root = Path(tempfile.mkdtemp(prefix="codeenv-resume-"))
    begun = time.monotonic()
    subprocess.run(command(args, root / "whole"), check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begun
    wanted = outcomes(root / "whole")
    print(f"undisturbed: {len(wanted)} rollouts in {seconds:.0f} s", flush=True)
    for trial in range(1, args.trials + 1):
        kills = disturbed(args, root / str(trial), seconds, rng)
        same = outcomes(root / str(trial)) == wanted
        print(f"trial {trial}: {kills} kills, {'the same' if same else 'DIFFERENT'}", flush=True)
        if not same:
            raise SystemExit(1)
    print(f"left by killed runs and removed: {cleared()}; then: {cleared()}")
    shutil.rmtree(root)


if __name__ == "__main__":
    main()
