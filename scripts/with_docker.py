"""Run a command with a Docker daemon: the one that answers, else an own one, stopped afterwards.

The daemon runs in its own session, so that Ctrl-C reaches the command only, and dies with this
process even if that is killed.  Where no daemon can be started, the command runs all the same: the
tests say what they miss.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

START_SECONDS = 60.0
NO_BRIDGE = ("--iptables=false", "--ip6tables=false", "--bridge=none")


def main(command: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    if not command:
        _say("usage: with_docker.py COMMAND [ARGUMENT ...]")
        return 2
    if _answers(os.environ):
        return _run(command, os.environ)
    with tempfile.TemporaryDirectory(prefix="codeenv-dockerd-") as folder, _daemon(Path(folder)):
        return _run(command, os.environ)


@contextmanager
def _daemon(folder: Path) -> Iterator[None]:
    """Start a daemon, trying plainer settings in turn; stop it at the end."""
    process = None
    try:
        if os.getuid() or not shutil.which("dockerd", path=_path()):
            _say("warning: no Docker daemon answers and none can be started here")
        else:
            for options, host in _ways(folder):
                process = _start(options, host, folder / "log")
                if process is not None:
                    break
            else:
                log = (folder / "log").read_text(errors="replace").splitlines()[-5:]
                _say("\n".join(["warning: the Docker daemon did not start:", *log]))
        yield
    finally:
        if process is not None:
            _stop(process)


def _ways(folder: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the daemon's arguments, and the address for ``DOCKER_HOST`` if it is not the usual."""
    yield (), ""
    yield NO_BRIDGE, ""
    host = f"unix://{folder}/docker.sock"
    own = (
        f"--host={host}",
        f"--pidfile={folder}/docker.pid",
        f"--data-root={folder}/data",
        f"--exec-root={folder}/exec",
    )
    yield own, host
    yield (*own, *NO_BRIDGE), host


def _start(options: Sequence[str], host: str, log: Path) -> subprocess.Popen[bytes] | None:
    """Start a daemon and wait until it answers; None if it does not."""
    guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    environment = {**os.environ, "PATH": _path()}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*guard, "dockerd", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
    try:
        if host:
            os.environ["DOCKER_HOST"] = host
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            if _answers(os.environ):
                return process
            time.sleep(0.2)
        os.environ.pop("DOCKER_HOST", None)
    except BaseException:
        _stop(process)
        raise
    _stop(process)
    return None


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _run(command: Sequence[str], environment: "os._Environ[str]") -> int:
    """Run the command; pass SIGTERM on, and let Ctrl-C be the command's own business."""
    child = subprocess.Popen(command, env=dict(environment))

    def forward(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    before = signal.signal(signal.SIGTERM, forward), signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = child.wait()
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])
    return status if status >= 0 else 128 - status


def _answers(environment: "os._Environ[str]") -> bool:
    docker = shutil.which("docker", path=_path())
    if docker is None:
        return False
    try:
        done = subprocess.run(
            [docker, "version"], capture_output=True, timeout=20, env=dict(environment)
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _path() -> str:
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
