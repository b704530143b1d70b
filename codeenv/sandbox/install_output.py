"""What an installation hands back: a capped log, and its output folder read without trust."""

from collections import deque
from collections.abc import Callable, Mapping

from codeenv.errors import BuildError, SourceError
from codeenv.sandbox.image import InstallJob, InstallResult
from codeenv.sources.entries import Caps, Collector
from codeenv.tree import Tree

CA_PATH = "/run/codeenv/ca.pem"
SCRIPT = "install.sh"
TIMED_OUT = 124
_CAPS = Caps(download=4 * 1024**3, total=4 * 1024**3, entries=300_000, file=2 * 1024**3)
_LOG_LIMIT = 512 * 1024


class LogTail:
    """Keeps the last bytes of a log, however long it gets."""

    def __init__(self, limit: int = _LOG_LIMIT) -> None:
        self._chunks: deque[bytes] = deque()
        self._limit, self._size = limit, 0

    def add(self, chunk: bytes) -> None:
        """Take more of the log."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())

    @property
    def text(self) -> str:
        """What was kept; bytes that are not UTF-8 become replacement characters."""
        return b"".join(self._chunks)[-self._limit :].decode("utf-8", "replace")


def script_of(job: InstallJob) -> bytes:
    """Return the script that runs in the box."""
    return f"set -eu\ncd /build\n{job.script}\n".encode()


def variables_of(job: InstallJob) -> dict[str, str]:
    """Return the environment of an installation: nothing of the host's but what the job names."""
    return {
        "HOME": "/home/agent",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": "/tmp",
        **job.env,
    }


def needs_host_network(environment: Mapping[str, str]) -> bool:
    """Return whether an index or proxy is served on this machine's own loopback address."""
    local = ("//127.", "//localhost", "//[::1]", "@127.", "@localhost")
    return any(mark in value for value in environment.values() for mark in local)


def finish(exit_code: int, log: str, read: Callable[[Collector], None]) -> InstallResult:
    """Return the result; the output folder is read only after a success.

    Raises:
        BuildError: If the output is over the caps or cannot be read.
    """
    if exit_code:
        return InstallResult(exit_code, log, Tree({}))
    collector = Collector("the environment", _CAPS)
    try:
        read(collector)
        return InstallResult(0, log, Tree(collector.entries))
    except (SourceError, OSError) as error:
        raise BuildError(f"the installed files cannot be read back: {error}") from error
