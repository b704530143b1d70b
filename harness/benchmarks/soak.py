"""Thousands of short episodes: memory, descriptors, processes, mounts and containers stay flat.

Run ``python harness/benchmarks/soak.py [--backend NAME] [--episodes N]``.  An episode is a reset
and a few tool calls; some are graded, forked, cancelled in the middle of a command, or lose their
wall.  The exit code is 1 if anything grew after the first tenth, or is left at the end.
"""

import argparse
import gc
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from codeenv.env.episode import Episode
from codeenv.env.runtime import Runtime
from codeenv.errors import BackendUnavailable
from codeenv.guest.processes import descendants
from codeenv.materialise import Task
from codeenv.sandbox.docker_client import connect
from codeenv.sandbox.docker_wall import OWNER_LABEL
from codeenv.sandbox.local import FOLDER_PREFIX
from codeenv.sandbox.owner import owner
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents.oracle import solution_calls

_PAGE = resource.getpagesize()
CALLS = (
    {"tool": "read_file", "arguments": {"path": "."}},
    {"tool": "run_command", "arguments": {"command": "echo x > /tmp/x; (sleep 600 &) >/dev/null"}},
    {"tool": "search", "arguments": {"pattern": "def "}},
)


@dataclass(frozen=True)
class State:
    """What could grow."""

    memory: int
    descriptors: int
    threads: int
    processes: int
    mounts: int
    folders: int
    containers: int

    @classmethod
    def now(cls) -> "State":
        """Look."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(
            pages * _PAGE // 1024**2,
            len(list(Path("/proc/self/fd").iterdir())),
            threading.active_count(),
            len(descendants(os.getpid())),
            Path("/proc/self/mountinfo").read_text().count("codeenv"),
            len(list(Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"))),
            _containers(),
        )


def main() -> int:
    """Play, look every tenth, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--backend", default="bubblewrap")
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=4)
    args = parser.parse_args()
    taskset = Taskset.load("toy")
    before, start = State.now(), time.monotonic()
    with Runtime(args.backend) as runtime:
        tasks = [runtime.task(recipe, taskset) for recipe in taskset.recipes]
        states = list(_tenths(runtime, tasks, args.episodes, args.concurrency))
    after, seconds = State.now(), time.monotonic() - start
    for name, state in (("before", before), *enumerate(states, 1), ("after", after)):
        print(f"{name!s:>8}", *(f"{key} {value:<6}" for key, value in asdict(state).items()))
    print(f"{args.episodes} episodes in {seconds:.0f} s, {args.episodes / seconds:.1f} a second")
    problems = [*_grown(states[0], states[-1]), *_left(before, after)]
    print("\n".join(problems) or "nothing grew, nothing is left")
    return 1 if problems else 0


def _tenths(
    runtime: Runtime, tasks: list[Task], episodes: int, concurrency: int
) -> Iterator[State]:
    numbers = count()
    for _ in range(10):
        with ThreadPoolExecutor(concurrency) as pool:
            list(pool.map(lambda _: play(runtime, tasks, next(numbers)), range(episodes // 10)))
        yield State.now()


def play(runtime: Runtime, tasks: list[Task], number: int) -> None:
    """Play one episode; every hundredth is graded, others end in other ways."""
    task = tasks[number % len(tasks)]
    with runtime.open(task) as episode:
        for call in CALLS:
            episode.call(call)
        if number % 100 == 0:
            _solve(episode, task)
        elif number % 100 == 50:
            episode.sandbox.host.close()  # type: ignore[attr-defined]
            episode.call(CALLS[0])
            if episode.outcome is None or episode.outcome.reward_valid:
                raise SystemExit("a lost wall gave a valid reward")
        elif number % 100 == 75:
            episode.fork().close()
        elif number % 100 == 25:
            _cancel(episode)


def _cancel(episode: Episode) -> None:
    """Close an episode under a running command."""
    hang = {"tool": "run_command", "arguments": {"command": "sleep 600", "timeout": 600}}
    thread = threading.Thread(target=episode.call, args=(hang,))
    steps = episode.steps
    thread.start()
    while episode.steps == steps:
        time.sleep(0.001)
    episode.close()
    thread.join(60)
    if thread.is_alive():
        raise SystemExit("a cancelled command did not end")


def _solve(episode: Episode, task: Task) -> None:
    for call in solution_calls(task):
        episode.call(call)
    if episode.outcome is None or episode.outcome.reward != 1.0:
        raise SystemExit(f"the oracle got {episode.outcome}")


def _containers() -> int:
    try:
        client = connect()
    except BackendUnavailable:
        return 0
    with closing(client):
        wanted: dict[str, str | list[str] | bool] = {"label": f"{OWNER_LABEL}={owner()}"}
        found = client.containers.list(all=True, filters=wanted, ignore_removed=True)
        return len(found)


def _grown(first: State, last: State) -> Iterator[str]:
    """Yield what grew between the first and the last tenth, beyond what pools may hold."""
    room = {"memory": 16, "descriptors": 16, "threads": 2, "processes": 24, "containers": 8}
    for key, value in asdict(last).items():
        if value > getattr(first, key) + room.get(key, 2):
            yield f"{key} grew from {getattr(first, key)} to {value}"


def _left(before: State, after: State) -> Iterator[str]:
    for key in ("descriptors", "processes", "mounts", "folders", "containers"):
        if getattr(after, key) > getattr(before, key) + (2 if key == "descriptors" else 0):
            yield f"{key} left: {getattr(before, key)} before, {getattr(after, key)} after"


if __name__ == "__main__":
    sys.exit(main())
