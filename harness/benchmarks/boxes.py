"""A box in a warm container against a container per episode with an exec per command.

Both sides take turns in one run, on the same image; figures are medians in milliseconds and their
ratio.  Run ``python harness/benchmarks/boxes.py``, or ``make bench``.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from docker import DockerClient
from docker.models.containers import Container

from codeenv.images.base import ensure_base
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.docker_client import connect
from codeenv.sandbox.docker_image import ensure_image
from codeenv.sandbox.select import open_backend, probe
from codeenv.tree import Entry, Tree

LINES = b"".join(b"line %d of a file that is read\n" % n for n in range(200))
WORKSPACE = Tree({f"package/module_{n}.py": Entry(LINES) for n in range(100)})
FILE = "package/module_0.py"
PAUSE = 0.3
"""Seconds before each block, so that no side pays for what another one cleans up."""


@dataclass
class Containers:
    """The other side: what most harnesses do."""

    client: DockerClient
    tag: str

    def start(self, workspace: Tree = WORKSPACE) -> Container:
        """Return a fresh container with a workspace in it."""
        container = self.client.containers.run(
            self.tag,
            ["sleep", "3600"],
            detach=True,
            network_mode="none",
            init=True,
            labels={"codeenv.benchmark": "1"},
        )
        container.put_archive("/workspace", workspace.to_tar())
        return container


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="A box against a container per episode.")
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    docker = probe("docker")
    if not docker.ok:
        print(f"error: {docker.detail}\nhint: {docker.hint}", file=sys.stderr)
        return 2
    image = ensure_base().image
    with closing(open_backend("docker")) as backend, closing(connect()) as client:
        there = Containers(client, ensure_image(client, image))
        rows = [
            (
                "reset",
                *turns(
                    repeat,
                    lambda: backend.open(image, WORKSPACE).close(),
                    lambda: there.start().remove(force=True),
                    times=1,
                ),
            )
        ]
        container = there.start()
        try:
            with backend.open(image, WORKSPACE) as box:
                rows += commands(repeat, box, container)
                box_command, own = turns(repeat, lambda: box.exec("true"), host_command)
        finally:
            container.remove(force=True)
    print(f"{'':<24}{'box':>9}{'container':>11}{'ratio':>8}")
    for name, ours, theirs in rows:
        print(f"{name:<24}{ours:>9.2f}{theirs:>11.1f}{theirs / ours:>7.0f}x")
    print(f"a command in a box takes {box_command - own:.2f} ms more than {own:.2f} without one")
    return 0


def host_command() -> None:
    """Run what a box runs, as a process of this machine."""
    subprocess.run(["bash", "-c", "true"], check=True, capture_output=True)


def commands(repeat: int, box: Sandbox, container: Container) -> list[tuple[str, float, float]]:
    """Return the rows for what an agent does in an episode."""
    path = f"/workspace/{FILE}"
    return [
        ("true", *turns(repeat, lambda: box.exec(["true"]), lambda: container.exec_run(["true"]))),
        (
            "read 200 lines",
            *turns(repeat, lambda: box.read_file(FILE), lambda: container.exec_run(["cat", path])),
        ),
    ]


def turns(
    repeat: int, ours: Callable[[], object], theirs: Callable[[], object], *, times: int = 5
) -> tuple[float, float]:
    """Return the medians of both sides, in milliseconds; the first turn does not count.

    A turn is so many times the same, after a pause: engines clean up behind a command that has
    ended, and the other side shall not pay for it.
    """
    found: tuple[list[float], list[float]] = ([], [])
    for turn in range(repeat + 1):
        for side, work in zip(found, (ours, theirs), strict=True):
            time.sleep(PAUSE)
            for _ in range(times):
                start = time.perf_counter()
                work()
                if turn:
                    side.append(1000 * (time.perf_counter() - start))
    return statistics.median(found[0]), statistics.median(found[1])


if __name__ == "__main__":
    sys.exit(main())
