"""What a grade costs beside bare pytest of the same tests, in the open tier and in the task's own.

Bare is ``python -m pytest`` with the ids of the feature's tests, then with those of pass-to-pass,
in a box that is open already.  A grade is all of it: fresh boxes, the solution written into them,
all runs, the verdict; in the open tier started cold and from a fork server, in the task's own
(sealed, with negative controls where a test needs them) from a fork server.  Sides take turns in
one run; figures are medians in milliseconds, and the last column is the own tier's over bare.
Run ``python harness/benchmarks/grading.py [BACKEND ...]``, or ``make bench``.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from codeenv.env.runtime import Runtime
from codeenv.grading import Grader, GradingOptions
from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise import Task
from codeenv.sandbox.image import ForkServer, Image
from codeenv.sandbox.select import probe
from codeenv.tasks.taskset import Taskset

WALLS = ("bubblewrap", "docker")
_WARMING = 20


class _Cold(PythonLanguage):
    """Python without a fork server."""

    def fork_server(self, image: Image) -> ForkServer | None:  # type: ignore[override]
        """Return none."""
        return None


def main() -> int:
    """Measure, and print a line per backend and task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("backends", nargs="*", help="default: every wall that works here")
    parser.add_argument("--tasks", default="toy", help="folder or name of a suite")
    parser.add_argument("--limit", type=int, default=3, help="tasks to measure")
    parser.add_argument("--repeat", type=int, default=10)
    args = parser.parse_args()
    names = args.backends or [name for name in WALLS if probe(name).ok]
    taskset = Taskset.load(args.tasks)
    print(f"{'':<44}{'bare':>8}{'cold':>8}{'forked':>8}{'own':>8}{'ratio':>7}")
    for name in names:
        with Runtime(name) as runtime:
            for recipe in taskset.recipes[: args.limit]:
                measured = measure(runtime, runtime.task(recipe, taskset), args.repeat)
                bare, cold, forked, own = (1000 * statistics.median(side) for side in measured)
                figures = f"{bare:8.0f}{cold:8.0f}{forked:8.0f}{own:8.0f}{own / bare:7.2f}"
                print(f"{name + ' ' + recipe.id:<44.43}{figures}", flush=True)
    return 0


def measure(runtime: Runtime, task: Task, repeat: int) -> tuple[list[float], ...]:
    """Return seconds of the three sides."""
    image = runtime.environment(task.lock, task.recipe).image
    backend, plain = runtime.backend, GradingOptions("open")

    def grader(language: PythonLanguage, options: GradingOptions) -> Grader:
        known = (lambda _: image), (lambda _: language)
        return Grader(backend, environments=known[0], languages=known[1], options=options)

    cold, forked = grader(_Cold(), plain), grader(PythonLanguage(), plain)
    solved = task.grading_tree.apply(task.oracle)
    with runtime.backend.open(image, solved, role="build") as box:

        def bare() -> None:
            for ids in (task.fail_to_pass, task.pass_to_pass):
                command = [image.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ids]
                done = box.exec(command, timeout=600, env={"PYTHONDONTWRITEBYTECODE": "1"})
                if done.exit_code:
                    raise SystemExit(f"bare pytest fails: {done.text[-500:]}")

        sides = (
            bare,
            lambda: _grade(cold, task),
            lambda: _grade(forked, task),
            lambda: _grade(runtime.grader, task),
        )
        _time(sides[0])
        _time(sides[1])
        for _ in range(_WARMING):  # until the fork server has been started for a while
            _time(sides[2])
        rounds = [[_time(side) for side in sides] for _ in range(repeat)]
    return tuple(list(side) for side in zip(*rounds, strict=True))


def _grade(grader: Grader, task: Task) -> None:
    if not grader.grade(task, task.oracle).resolved:
        raise SystemExit("the oracle was not resolved")


def _time(act: Callable[[], None]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
