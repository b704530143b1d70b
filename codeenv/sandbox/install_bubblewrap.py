"""Installs environments in a throw-away bubblewrap box that shares the host's network.

The base is read-only; build folder, output, home and temporary folder are folders of the host that
are gone afterwards.  Dependencies' build code is hostile: it runs as a user without any right, in
its own process, ipc and mount namespaces, and dies with the box.
"""

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

from codeenv.errors import BackendUnavailable, BuildError
from codeenv.sandbox.image import InstallJob, InstallResult
from codeenv.sandbox.install_output import (
    CA_PATH,
    SCRIPT,
    TIMED_OUT,
    LogTail,
    finish,
    script_of,
    variables_of,
)
from codeenv.sandbox.local import FOLDER_PREFIX, OWNER_FILE
from codeenv.sandbox.owner import owner
from codeenv.sources.folder import read_folder, write_folder

_NOBODY = 65533
"""User id of builds when codeenv runs as root: nobody's, and nothing's."""
_LIMITS = "ulimit -c 0 -u 1024 -f 8388608"
"""No core files, processes, and kilobytes of one file."""
_FOLDERS = ("build", "output", "home", "tmp")


def install(job: InstallJob) -> InstallResult:
    """Run an installation and return its log and output.

    Raises:
        BackendUnavailable: If bubblewrap is missing or may not make namespaces.
        BuildError: If the base cannot be installed on, or the output cannot be read.
    """
    program = _find_program()
    if job.image.rootfs is None or job.image.rootfs == Path("/"):
        raise BuildError("nothing can be installed on the host base", hint="use another base")
    with _work_folder() as work:
        _prepare(work, job)
        exit_code, log = _run(
            [*_wall(program, work, job), *_inside()], variables_of(job), job.timeout
        )
        if exit_code == 1 and log.startswith("bwrap: "):
            raise BackendUnavailable(f"bubblewrap fails: {log.strip()}", hint="see codeenv doctor")
        return finish(exit_code, log, lambda collector: read_folder(work / "output", collector))


def _find_program() -> str:
    program = shutil.which("bwrap")
    if program is None:
        raise BackendUnavailable("bubblewrap is not installed", hint="apt-get install bubblewrap")
    return program


@contextmanager
def _work_folder() -> Iterator[Path]:
    work = Path(mkdtemp(prefix=f"{FOLDER_PREFIX}build-"))
    try:
        (work / OWNER_FILE).write_text(owner())
        work.chmod(0o755)
        yield work
    finally:
        _remove(work)


def _prepare(work: Path, job: InstallJob) -> None:
    for name in _FOLDERS:
        (work / name).mkdir()
    (work / "ca.pem").write_bytes(job.ca_bundle)
    (work / "build" / SCRIPT).write_bytes(script_of(job))
    write_folder(work / "build", job.inputs)
    if os.getuid() == 0:
        for name in _FOLDERS:
            os.chown(work / name, _NOBODY, _NOBODY)


def _wall(program: str, work: Path, job: InstallJob) -> list[str]:
    """Return the bubblewrap command up to what runs inside."""
    command = [program, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--die-with-parent", "--new-session", "--hostname", "build"]
    if os.getuid() == 0:
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]
    command += ["--ro-bind", str(job.image.rootfs), "/", "--dev", "/dev", "--proc", "/proc"]
    command += ["--perms", "1777", "--tmpfs", "/dev/shm", "--tmpfs", "/run"]
    command += ["--perms", "0755", "--dir", str(Path(CA_PATH).parent)]
    command += ["--ro-bind", str(work / "ca.pem"), CA_PATH]
    targets = {"build": "/build", "output": job.output, "home": "/home/agent", "tmp": "/tmp"}
    for name, target in targets.items():
        command += ["--bind", str(work / name), target]
    for file in ("/etc/resolv.conf", "/etc/hosts"):
        if Path(file).is_file():
            command += ["--ro-bind", os.path.realpath(file), file]
    return [*command, "--chdir", "/build", "--"]


def _inside() -> list[str]:
    run = ["bash", "-c", f"{_LIMITS}; exec bash /build/{SCRIPT}"]
    if os.getuid() == 0:
        ids = (f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--no-new-privs")
        return ["setpriv", *ids, "--inh-caps=-all", *run]
    return run


def _run(command: list[str], variables: dict[str, str], timeout: float) -> tuple[int, str]:
    """Run the box to its end or its deadline; either way nothing of it is left.

    Variables are inherited, not arguments: an index address with a password stays out of `ps`.
    """
    log = LogTail()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd="/",
        env=variables,
    )
    assert process.stdout is not None
    try:
        with process.stdout:
            in_time = _drain(process, process.stdout, log, time.monotonic() + timeout)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        exit_code = process.wait()
    return (exit_code if in_time else TIMED_OUT), log.text


def _drain(
    process: "subprocess.Popen[bytes]", pipe: IO[bytes], log: LogTail, deadline: float
) -> bool:
    """Read the log until the box's end; return whether that came before the deadline."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            if selector.select(timeout=min(0.5, max(0.0, deadline - time.monotonic()))):
                chunk = os.read(pipe.fileno(), 1 << 16)
                if not chunk:
                    break
                log.add(chunk)
            elif process.poll() is not None:
                return True
    try:
        process.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _remove(work: Path) -> None:
    """Remove what a build left, also folders it made unreadable."""
    for folder, names, _ in os.walk(work):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(work, ignore_errors=True)
