"""The ``debian`` base: bootstrapped from Debian's packages by mmdebstrap, as root or not."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from codeenv._paths import data_folder
from codeenv.errors import BuildError

SUITE = "trixie"
_PATIENCE = 10.0
_NO_NETWORK = re.compile(
    r"(?i)could not resolve|temporary failure|failed to fetch|unable to connect|connection (failed|"
    r"timed out|refused)|network is unreachable"
)
_UNKNOWN = re.compile(
    r"Unable to locate package ([a-z0-9][a-z0-9+.-]*)"
    r"|Package '?([^\s']+)'? has no installation candidate"
    r"|Couldn't find any package by (?:glob|regex) '([^']+)'"
)
_NO_NAMESPACE = re.compile(r"(?i)unshare|newuidmap|subuid|operation not permitted|--mode")


class UnknownPackages(BuildError):
    """Raised when a distribution lacks packages that were asked for; ``names`` are these."""

    def __init__(self, message: str, *, hint: str = "", names: Sequence[str] = ()) -> None:
        """Keep the names beside the message."""
        super().__init__(message, hint=hint)
        self.names = tuple(names)

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Return the error for some packages."""
        return cls(f"there is no Debian package {', '.join(names)} in {SUITE}", names=names)


def unknown_packages(log: str) -> tuple[str, ...]:
    """Return the packages that apt says it cannot find or install, sorted."""
    return tuple(sorted({name for names in _UNKNOWN.findall(log) for name in names if name}))


def write_tar(target: Path, packages: Sequence[str] = (), *, timeout: float = 900.0) -> None:
    """Write the root file system, with more packages than the usual ones, as a tar.

    Raises:
        UnknownPackages: If Debian does not have all of the packages.
        BuildError: If mmdebstrap is missing or fails; the hint says what to do.
    """
    if shutil.which("mmdebstrap") is None:
        raise BuildError("mmdebstrap is not installed", hint="apt-get install mmdebstrap")
    script = data_folder("docker") / "bootstrap-debian.sh"
    command = ["sh", str(script), SUITE, str(target), ",".join(packages), *filter(None, [mirror()])]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PERL5"))}
    try:
        code, log = _run(command, {**environment, "TMPDIR": str(target.parent)}, timeout)
    except subprocess.TimeoutExpired as error:
        raise BuildError(
            f"mmdebstrap did not finish in {timeout:.0f} seconds", hint="check the Debian mirror"
        ) from error
    if code:
        raise _explain(log)


def _run(command: Sequence[str], env: Mapping[str, str], timeout: float) -> tuple[int, str]:
    """Return the exit code and the error output; whatever ends the wait ends all it started."""
    process = subprocess.Popen(
        command,
        env={**env, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, log = process.communicate(timeout=timeout)
    except BaseException:
        for sign in (signal.SIGTERM, signal.SIGKILL):  # it cleans up at the first
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, sign)
                process.wait(_PATIENCE)
        raise
    finally:
        if process.stderr:
            process.stderr.close()
    return process.returncode, log.decode("utf-8", "replace")


def mirror(sources: Path = Path("/etc/apt"), release: Path = Path("/etc/os-release")) -> str:
    """Return the Debian mirror to use: configured, else this machine's own, else mmdebstrap's.

    ``$CODEENV_DEBIAN_MIRROR`` comes first.  This machine's apt sources count only on Debian.
    """
    configured = os.environ.get("CODEENV_DEBIAN_MIRROR", "")
    if configured:
        return configured
    facts = dict(re.findall(r'(?m)^(\w+)="?([^"\n]*)"?$', _text(release)))
    if facts.get("ID") != "debian":
        return ""
    codename = facts.get("VERSION_CODENAME", "")
    return next((uri for uri, suites in _apt_sources(sources) if codename in suites), "")


def _apt_sources(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (address, suites) of the binary sources, in both of apt's formats."""
    for file in (folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))):
        if file.suffix == ".sources":
            for block in re.split(r"\n\s*\n", _text(file)):
                fields = dict(re.findall(r"(?m)^(Types|URIs|Suites|Enabled):\s*(.*)$", block))
                enabled = fields.get("Enabled", "yes").strip().lower() != "no"
                if enabled and "deb" in fields.get("Types", "").split():
                    for uri in fields.get("URIs", "").split():
                        yield uri, fields.get("Suites", "").split()
        elif file.suffix == ".list":
            for line in re.findall(r"(?m)^\s*deb\s+(.*)$", _text(file)):
                words = re.sub(r"^\[[^]]*\]\s*", "", line).split()
                if len(words) >= 2 and words[0].startswith(("http://", "https://", "file:")):
                    yield words[0], [words[1]]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def _explain(log: str) -> BuildError:
    unknown = unknown_packages(log)
    if unknown:
        return UnknownPackages.of(unknown)
    lines = [line for line in log.splitlines() if line.startswith(("E:", "W: Failed"))]
    detail = (lines or log.strip().splitlines() or ["no message"])[-1]
    if "No space left" in log:
        return BuildError("the disk is full: the base image cannot be made", hint="free some disk")
    if _NO_NETWORK.search(log):
        return BuildError(
            f"the Debian mirror cannot be reached: {detail}",
            hint="check the network, or set CODEENV_DEBIAN_MIRROR",
        )
    if os.getuid() and _NO_NAMESPACE.search(log):
        return BuildError(
            f"mmdebstrap needs root or user namespaces: {detail}",
            hint="apt-get install uidmap, give the user a range in /etc/subuid, or run as root",
        )
    return BuildError(f"mmdebstrap failed: {detail}", hint=log[-2000:])
