"""Times of reset, step and grading on the bundled toy, per backend, in milliseconds.

Run ``python harness/benchmarks/latency.py [BACKEND ...]``, or ``make bench``.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from codeenv.env.runtime import Runtime
from codeenv.materialise import Task
from codeenv.materialise.git import without_git
from codeenv.sandbox.select import probe
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Tree

WALLS = ("bubblewrap", "docker")
STEPS = {
    "run_command true": {"tool": "run_command", "arguments": {"command": "true"}},
    "run_command python": {"tool": "run_command", "arguments": {"command": "python -c pass"}},
    "read_file": {"tool": "read_file", "arguments": {"path": "."}},
    "search": {"tool": "search", "arguments": {"pattern": "def "}},
}


def main() -> int:
    """Measure, and print one table per backend."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("backends", nargs="*", help="default: every wall that works here")
    parser.add_argument("--repeat", type=int, default=20)
    args = parser.parse_args()
    names = args.backends or [name for name in WALLS if probe(name).ok]
    if not names:
        print("no wall works here; see: codeenv doctor", file=sys.stderr)
        return 2
    for name in names:
        print(f"{name}\n{'':<22}{'median':>9}{'p95':>9}")
        for what, seconds in measure(name, args.repeat).items():
            print(f"{what:<22}{_ms(statistics.median(seconds))}{_ms(_p95(seconds))}")
    return 0


def measure(backend: str, repeat: int) -> dict[str, list[float]]:
    """Return seconds per operation."""
    taskset = Taskset.load("toy")
    with Runtime(backend) as runtime:
        task = runtime.task(taskset.recipes[0], taskset)
        runtime.open(task).close()  # build what is built once
        found = {"reset": _times(repeat, lambda: runtime.open(task).close())}
        with runtime.open(task) as episode:
            for name, action in STEPS.items():
                found[name] = _times(repeat, lambda action=action: episode.call(action))
        solved = without_git(task.workspace).apply(task.oracle)
        found["grade"] = _times(max(3, repeat // 4), lambda: _grade(runtime, task, solved))
        return found


def _grade(runtime: Runtime, task: Task, solved: Tree) -> None:
    grade = runtime.grade(task, solved)
    if not grade.resolved:
        raise SystemExit(f"the oracle was not resolved: {grade}")


def _times(repeat: int, work: Callable[[], object]) -> list[float]:
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return found


def _p95(seconds: list[float]) -> float:
    return sorted(seconds)[max(0, round(0.95 * len(seconds)) - 1)]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:>9.1f}"


if __name__ == "__main__":
    sys.exit(main())
