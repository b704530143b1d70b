"""A box against the sandboxes of other harnesses, side by side in one run; optional.

Run ``pip install mini-swe-agent swe-rex`` in an environment that has codeenv, then
``python harness/benchmarks/peers.py``.  Sides take turns on the same image; figures are medians in
milliseconds: a reset (the old one away, a new one up), ``true``, and reading a file of 200 lines.
"""

import argparse
import asyncio
import logging
import os
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from boxes import FILE, LINES, PAUSE, WORKSPACE

from codeenv.images.base import ensure_base
from codeenv.images.install import Installer
from codeenv.images.layers import ENV, compose, store_layer
from codeenv.sandbox.base import Backend
from codeenv.sandbox.docker_client import connect
from codeenv.sandbox.docker_image import ensure_image
from codeenv.sandbox.image import Image
from codeenv.sandbox.select import open_backend

_PLACE = "/var/tmp/file.py"


class Side(Protocol):
    """One sandbox."""

    def reset(self) -> object:
        """Give the old one up and have a fresh one."""
        ...

    def true(self) -> object:
        """Run ``true``."""
        ...

    def read(self) -> object:
        """Read a file of 200 lines."""
        ...

    def close(self) -> None:
        """Leave nothing."""
        ...


class Ours:
    """A box of a backend."""

    def __init__(self, backend: Backend, image: Image) -> None:
        self._open = lambda: backend.open(image, WORKSPACE)
        self._box = self._open()

    def reset(self) -> object:
        """See ``Side``."""
        self._box.close()
        self._box = self._open()
        return self._box

    def true(self) -> object:
        """See ``Side``."""
        return self._box.exec("true")

    def read(self) -> object:
        """See ``Side``."""
        return self._box.read_file(FILE)

    def close(self) -> None:
        """See ``Side``."""
        self._box.close()


class MiniSweAgent:
    """A container, and an exec of the command line client for every command."""

    def __init__(self, tag: str) -> None:
        from minisweagent.environments.docker import DockerEnvironment  # type: ignore[import-not-found]

        arguments = ["--rm", "--network", "none"]
        self._make = lambda: DockerEnvironment(image=tag, run_args=arguments)
        self._environment = self._make()
        self._put()

    def reset(self) -> object:
        """See ``Side``."""
        self.close()
        self._environment = self._make()
        return self._put()

    def true(self) -> object:
        """See ``Side``."""
        return self._environment.execute({"command": "true"})

    def read(self) -> object:
        """See ``Side``."""
        return self._environment.execute({"command": f"cat {_PLACE}"})

    def close(self) -> None:
        """See ``Side``: removed at once, which its own way leaves to the background."""
        os.system(f"docker rm -f {self._environment.container_id} > /dev/null")
        self._environment.container_id = None

    def _put(self) -> object:
        return self._environment.execute({"command": f"echo '{LINES.decode()}' > {_PLACE}"})


class SweRex:
    """A container with a server in it."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self._start())

    def reset(self) -> object:
        """See ``Side``."""
        self._loop.run_until_complete(self._deployment.stop())
        return self._loop.run_until_complete(self._start())

    def true(self) -> object:
        """See ``Side``."""
        from swerex.runtime.abstract import Command  # type: ignore[import-not-found]

        return self._ask(lambda runtime: runtime.execute(Command(command=["bash", "-c", "true"])))

    def read(self) -> object:
        """See ``Side``."""
        from swerex.runtime.abstract import ReadFileRequest

        return self._ask(lambda runtime: runtime.read_file(ReadFileRequest(path=_PLACE)))

    def close(self) -> None:
        """See ``Side``."""
        self._loop.run_until_complete(self._deployment.stop())
        self._loop.close()

    def _ask(self, what: Callable[[Any], Any]) -> object:
        return self._loop.run_until_complete(what(self._deployment.runtime))

    async def _start(self) -> None:
        from swerex.deployment.docker import DockerDeployment  # type: ignore[import-not-found]
        from swerex.runtime.abstract import WriteFileRequest

        path = f"PATH={ENV}/bin:/usr/bin:/bin"
        self._deployment = DockerDeployment(
            image=self._tag, pull="never", docker_args=["-e", path, "--tmpfs", "/var/tmp"]
        )
        await self._deployment.start()
        request = WriteFileRequest(path=_PLACE, content=LINES.decode())
        await self._deployment.runtime.write_file(request)


@dataclass
class Times:
    """Milliseconds of one side, by what was done."""

    reset: list[float]
    true: list[float]
    read: list[float]


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeat", type=int, default=10)
    repeat = parser.parse_args().repeat
    logging.disable(logging.CRITICAL)
    with closing(open_backend("docker")) as docker, closing(open_backend("bubblewrap")) as embedded:
        image = _image(docker)
        with closing(connect()) as client:
            tag = ensure_image(client, image)
        makers: dict[str, Callable[[], Side]] = {
            "box (docker)": lambda: Ours(docker, image),
            "box (bubblewrap)": lambda: Ours(embedded, image),
            "mini-swe-agent (docker)": lambda: MiniSweAgent(tag),
            "SWE-ReX (docker)": lambda: SweRex(tag),
        }
        found = measure(makers, repeat)
    _show(found)
    return 0


def measure(makers: dict[str, Callable[[], Side]], repeat: int) -> dict[str, Times]:
    """Let all sides take turns; the first turn does not count."""
    sides: dict[str, Side] = {}
    found = {name: Times([], [], []) for name in makers}
    try:
        for name, make in makers.items():
            sides[name] = make()
        for turn in range(repeat + 1):
            for name, side in sides.items():
                for what, times in (("reset", 1), ("true", 5), ("read", 5)):
                    time.sleep(PAUSE)
                    for _ in range(times):
                        start = time.perf_counter()
                        getattr(side, what)()
                        if turn:
                            seconds = time.perf_counter() - start
                            getattr(found[name], what).append(1000 * seconds)
    finally:
        for side in sides.values():
            with suppress(Exception):
                side.close()
    return found


def _image(backend: Backend) -> Image:
    """Return an environment that has the server of the peer that needs one in it."""
    base = ensure_base()
    installed = Installer(base, backend).install(["swe-rex"])
    return compose(base, (store_layer(installed.tree, ENV),), {})


def _show(found: dict[str, Times]) -> None:
    print(f"{'':<26}{'reset':>10}{'true':>10}{'read':>10}")
    for name, times in found.items():
        medians = (statistics.median(t) for t in (times.reset, times.true, times.read))
        print(f"{name:<26}" + "".join(f"{value:>10.2f}" for value in medians))


if __name__ == "__main__":
    sys.exit(main())
