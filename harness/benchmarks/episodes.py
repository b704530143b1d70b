"""Short episodes a second: boxes against a container per episode with an exec per command.

An episode is a reset, ten tool calls, and a grade by the tests of the bundled toy.  Both sides use
the same image, run the same tests, and take turns in one run; figures are episodes a second with as
many threads.  Run ``python harness/benchmarks/episodes.py``, or ``make bench``.
"""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

from boxes import Containers
from docker.models.containers import Container

from codeenv.env.runtime import Runtime
from codeenv.materialise import Task
from codeenv.materialise.git import without_git
from codeenv.sandbox.docker_client import connect
from codeenv.sandbox.docker_image import ensure_image
from codeenv.sandbox.image import Image
from codeenv.sandbox.select import probe
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Tree

_COMMAND = "ls > /dev/null"


@dataclass
class Boxes:
    """Our side."""

    runtime: Runtime
    task: Task
    file: str

    def play(self) -> None:
        """Play one episode to its grade."""
        read = {"tool": "read_file", "arguments": {"path": self.file}}
        command = {"tool": "run_command", "arguments": {"command": _COMMAND}}
        with self.runtime.open(self.task) as episode:
            for _ in range(5):
                episode.call(read)
                episode.call(command)
            episode.sandbox.apply(self.task.oracle)
            if not self.runtime.grade(self.task, episode.sandbox.export()).resolved:
                raise SystemExit("the oracle was not resolved")


@dataclass
class Execs:
    """The other side: what most harnesses do."""

    containers: Containers
    image: Image
    task: Task
    file: str

    def play(self) -> None:
        """Play one episode to its grade."""
        solved = without_git(self.task.workspace).apply(self.task.oracle)
        with closing(_Container(self.containers.start(self.task.workspace))) as box:
            for _ in range(5):
                box.run(["cat", self.file])
                box.run(["bash", "-c", _COMMAND])
        with closing(_Container(self.containers.start(solved))) as box:
            box.put(self.task.grading_tree.apply(self.task.oracle))
            for ids in (self.task.fail_to_pass, self.task.pass_to_pass):
                box.run([self.image.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ids])


@dataclass
class _Container:
    container: Container

    def put(self, tree: Tree) -> None:
        """Write files."""
        self.container.put_archive("/workspace", tree.to_tar())

    def run(self, command: list[str]) -> None:
        """Run a command, which must succeed."""
        done = self.container.exec_run(command, workdir="/workspace")
        if done.exit_code:
            raise SystemExit(done.output.decode(errors="replace")[-2000:])

    def close(self) -> None:
        """Remove it."""
        self.container.remove(force=True)


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=20, help="of each side and concurrency")
    episodes = parser.parse_args().episodes
    found = probe("docker")
    if not found.ok:
        print(f"error: {found.detail}\nhint: {found.hint}", file=sys.stderr)
        return 2
    taskset = Taskset.load("toy")
    with Runtime("docker") as runtime, closing(connect()) as client:
        task = runtime.task(taskset.recipes[0], taskset)
        image = runtime.environment(task.lock, task.recipe).image
        file = task.layout.source_files[0]
        ours = Boxes(runtime, task, file)
        theirs = Execs(Containers(client, ensure_image(client, image)), image, task, file)
        print(f"{'at once':<10}{'boxes/s':>10}{'containers/s':>14}{'ratio':>8}")
        for threads in (1, 4):
            rates = [rate(side.play, episodes, threads) for side in (ours, theirs)]
            print(f"{threads:<10}{rates[0]:>10.2f}{rates[1]:>14.2f}{rates[0] / rates[1]:>7.1f}x")
    return 0


def rate(play: Callable[[], None], episodes: int, threads: int) -> float:
    """Return episodes a second, after one that does not count."""
    play()
    with ThreadPoolExecutor(threads) as pool:
        start = time.perf_counter()
        for future in [pool.submit(play) for _ in range(episodes)]:
            future.result()
        return episodes / (time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
