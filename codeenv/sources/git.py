"""Git repositories as trees, without ever running what a repository brings along.

Only ``fetch`` talks to the remote, into a bare folder of our own; the files are then read as blobs
(``ls-tree``, ``cat-file``).  So nothing is checked out, and no hook, filter, LFS smudge or
submodule runs, and bytes are exactly those committed.
"""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from codeenv._paths import cache_folder
from codeenv.errors import MachineError, SourceError
from codeenv.sources.entries import DEFAULT_CAPS, Caps, Collector, too_large
from codeenv.sources.http import redact
from codeenv.tree import Entry, Mode, Tree

_MODES: dict[str, Mode] = {"100644": "file", "100664": "file", "100755": "exec", "120000": "link"}
_USER_SETTINGS = re.compile(r"(?i)^(http|credential|url|ssh)\.|^core\.sshcommand$")
_ACCESS = re.compile(
    r"(?i)authentication failed|could not read username|permission denied|access denied"
    r"|terminal prompts disabled|repository not found|host key verification|HTTP Basic|\b40[13]\b"
)
_NETWORK = re.compile(
    r"(?i)could not resolve|failed to connect|connection (timed out|refused|reset)|unreachable"
    r"|early EOF|hung up unexpectedly|temporary failure|RPC failed|SSL_ERROR|operation timed out"
)


@dataclass(frozen=True)
class Snapshot:
    """One commit's files.

    Attributes:
        commit: Its full hash.
        tree: All files (submodules are not among them).
        submodules: Folders that are submodules.
    """

    commit: str
    tree: Tree
    submodules: tuple[str, ...] = ()


def snapshot(
    url: str, ref: str = "", *, caps: Caps = DEFAULT_CAPS, timeout: float = 600.0
) -> Snapshot:
    """Fetch one commit (branch, tag or hash; default: the remote's HEAD) and read its files.

    Raises:
        SourceError: If the repository or the ref cannot be had, or is too large or unsafe.
    """
    if url.startswith("-") or ref.startswith("-"):
        raise SourceError(f"not a git address or ref: {url!r} {ref!r}")
    with TemporaryDirectory(dir=cache_folder("downloads"), prefix=".new-git-") as folder:
        fetcher = _Fetcher(Path(folder), url, caps, time.monotonic() + timeout)
        commit = fetcher.fetch(ref)
        return _read(fetcher, commit)


def is_bare_repository(folder: Path) -> bool:
    """Return whether the folder is a repository without a work tree."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


@dataclass
class _Fetcher:
    """Runs git in a bare repository of our own, with a clean configuration."""

    folder: Path
    url: str
    caps: Caps
    deadline: float
    repository: Path = field(init=False)

    def __post_init__(self) -> None:
        self.repository = self.folder / "repository"
        config = self.folder / "config"
        config.write_bytes(b"[safe]\n\tdirectory = *\n")
        for name, value in _user_settings():
            self.run("config", "--file", str(config), "--add", "--", name, value, where=self.folder)
        self.run(
            "init", "--quiet", "--bare", "--template=", str(self.repository), where=self.folder
        )

    def fetch(self, ref: str) -> str:
        """Bring the commit here and return its hash."""
        for depth in (("--depth=1",), ()):
            done = self._remote("fetch", *depth, self.url, ref or "HEAD", check=False)
            if done.returncode == 0:
                return self.resolve("FETCH_HEAD", ref)
            if b"shallow" not in done.stderr:
                break  # else a server that has no part of a history to give
        if not ref:
            raise _explain(self.url, done.stderr.decode("utf-8", "replace"))
        # An abbreviated hash, or a server that does not serve single commits.
        everything = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
        self._remote("fetch", self.url, *everything)
        for candidate in (ref, f"refs/remotes/origin/{ref}"):
            if self.run(
                "rev-parse", "-q", "--verify", f"{candidate}^{{commit}}", check=False
            ).stdout:
                return self.resolve(candidate, ref)
        raise SourceError(
            f"{redact(self.url)} has no branch, tag or commit {ref!r}",
            hint="git ls-remote lists what there is",
        )

    def resolve(self, name: str, ref: str) -> str:
        """Return the commit hash a name stands for."""
        done = self.run("rev-parse", "-q", "--verify", f"{name}^{{commit}}", check=False)
        if done.returncode:
            what = repr(ref) if ref else "HEAD"
            raise SourceError(f"{redact(self.url)}: {what} is not a commit")
        return done.stdout.decode().strip()

    def _remote(
        self, command: str, *arguments: str, check: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command that talks to the remote; again when the network fails."""
        options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
        for attempt in range(3):
            done = self.run(command, *options, *arguments, check=False)
            message = done.stderr.decode("utf-8", "replace")
            if done.returncode == 0 or not _NETWORK.search(message):
                break
            if attempt < 2:
                time.sleep(0.5 * 4**attempt)
        if done.returncode and (check or _ACCESS.search(message) or _NETWORK.search(message)):
            raise _explain(self.url, message)
        return done

    def run(
        self, *arguments: str, where: Path | None = None, stdin: bytes = b"", check: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git, watching the clock and how much it writes."""
        command = ("git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *arguments)
        with TemporaryFile() as given, TemporaryFile() as output, TemporaryFile() as error:
            given.write(stdin)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    command,
                    cwd=where or self.repository,
                    env=_environment(self.folder / "config"),
                    stdin=given,
                    stdout=output,
                    stderr=error,
                    start_new_session=True,
                )
            except FileNotFoundError as missing:
                raise MachineError("git is not installed", hint="apt-get install git") from missing
            self._watch(process)
            output.seek(0)
            error.seek(0)
            done = subprocess.CompletedProcess(
                command, process.returncode, output.read(), error.read()
            )
        if check and done.returncode:
            raise _explain(self.url, done.stderr.decode("utf-8", "replace"))
        return done

    def _watch(self, process: "subprocess.Popen[bytes]") -> None:
        problem: SourceError | None = None
        while problem is None:
            try:
                process.wait(timeout=0.25)
                return
            except subprocess.TimeoutExpired:
                if time.monotonic() > self.deadline:
                    problem = SourceError(f"{redact(self.url)} did not answer in time")
                elif _size(self.folder) > self.caps.download:
                    problem = too_large(redact(self.url), "its objects are over the cap")
        os.killpg(process.pid, 9)
        process.wait()
        raise problem


def _read(fetcher: _Fetcher, commit: str) -> Snapshot:
    """Read all blobs of a commit in one go."""
    listing = fetcher.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit).stdout
    collector = Collector(redact(fetcher.url), fetcher.caps)
    blobs: list[tuple[str, Mode, str]] = []
    submodules: list[str] = []
    for line in filter(None, listing.split(b"\0")):
        facts, _, raw = line.partition(b"\t")
        path = raw.decode("utf-8", "surrogateescape")
        mode, _, blob, size = facts.decode().split()
        if mode == "160000":
            submodules.append(path)
        elif mode in _MODES:
            collector.expect(path, int(size))
            blobs.append((path, _MODES[mode], blob))
    wanted = "".join(f"{blob}\n" for _, _, blob in blobs).encode()
    contents = fetcher.run("cat-file", "--batch", "--buffer", stdin=wanted).stdout
    for (path, mode, _), data in zip(blobs, _split_batch(contents), strict=True):
        collector.add(path, Entry(data, mode))
    return Snapshot(commit, collector.tree(), tuple(submodules))


def _split_batch(data: bytes) -> list[bytes]:
    """Split the output of ``cat-file --batch``: a header line, the bytes, a newline, and so on."""
    contents, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        size = int(data[at:end].split()[2])
        contents.append(data[end + 1 : end + 1 + size])
        at = end + size + 2
    return contents


def _explain(url: str, message: str) -> SourceError:
    lines = [line for line in message.replace(url, redact(url)).splitlines() if line.strip()]
    told = [line for line in lines if not line.lower().startswith("warning")]
    detail = told[0].strip().removeprefix("fatal: ") if told else "git failed"
    if _ACCESS.search(message):
        return SourceError(
            f"no access to {redact(url)} (or it does not exist)",
            hint="give git access without a prompt: an ssh key, a credential helper or ~/.netrc",
        )
    if _NETWORK.search(message):
        return SourceError(
            f"{redact(url)} cannot be reached: {detail}", hint="check the network and the proxy"
        )
    if re.search(
        r"(?i)does not appear to be a git repo|not a git repo|not found|not valid", message
    ):
        return SourceError(f"{redact(url)} is not a git repository")
    if re.search(r"(?i)couldn't find remote ref HEAD", message):
        return SourceError(f"{redact(url)} has no commits")
    return SourceError(f"git cannot fetch {redact(url)}: {detail}")


def _environment(config: Path) -> dict[str, str]:
    """Return the host's variables without git's own, prompts off, protocols listed."""
    kept = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in kept
    }
    environment.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return {
        **environment,
        "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
        "GIT_ASKPASS": "true",
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _user_settings() -> Sequence[tuple[str, str]]:
    """Return how the user's own git reaches remotes: proxies, certificates, credentials."""
    found = []
    for scope in ("--system", "--global"):
        try:
            done = subprocess.run(
                ("git", "config", scope, "--includes", "--list", "-z"),
                cwd="/",
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            return ()
        for item in done.stdout.decode("utf-8", "replace").split("\0"):
            name, _, value = item.partition("\n")
            if _USER_SETTINGS.match(name):
                found.append((name, value))
    return found


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except FileNotFoundError:
            continue
    return total
