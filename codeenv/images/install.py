"""Installing requirements into a virtual environment, in a build box with the network."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from packaging.utils import canonicalize_name

from codeenv.errors import BuildError
from codeenv.images.base import Base, extended_base
from codeenv.images.layers import ENV
from codeenv.images.toolchain import build_packages
from codeenv.images.venv import REPORT, clean_venv, remove_distribution
from codeenv.sandbox.base import Backend
from codeenv.sandbox.image import InstallJob, InstallResult
from codeenv.sources.index import IndexClient
from codeenv.tasks.models import LockedPackage
from codeenv.tree import Entry, Tree

_ROUNDS = 4
_UNREACHABLE = re.compile(
    r"(?m)^WARNING: Retrying \(Retry\(total=0,"
    r".*(NewConnection|NameResolution|ConnectTimeout|SSL|Proxy)"
)
_CA = "/run/codeenv/ca.pem"
_CA_VARIABLES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")
PIP_OPTIONS = (
    "--no-input --disable-pip-version-check --no-cache-dir --prefer-binary --progress-bar off"
)
UNPACK_PIP = "/usr/bin/python3 -m zipfile -e /build/pip-*.whl /build/pip"
_COMPILE = (
    f"/usr/bin/python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash {ENV}/lib"
    " > /dev/null 2>&1 || true"
)
STEADY = "export SOURCE_DATE_EPOCH=1577836800 CFLAGS=-g0 CXXFLAGS=-g0"
"""Has compilers leave out times, and the folders that pip builds in."""
_VENV_SCRIPT = f"""\
{STEADY}
/usr/bin/python3 -m venv --without-pip {ENV}
{UNPACK_PIP}
{ENV}/bin/python /build/pip/pip install {PIP_OPTIONS} --no-compile \
  --no-warn-script-location {{options}} --report {ENV}/{REPORT} -r /build/requirements.txt
{_COMPILE}
"""


@dataclass(frozen=True)
class Installed:
    """A virtual environment with requirements in it, and what exactly that was."""

    tree: Tree
    packages: tuple[LockedPackage, ...]


class InstallFailed(BuildError):
    """Raised when pip ends with an error; ``log`` is its output."""

    reason = "install"

    def __init__(self, message: str, *, hint: str = "", log: str = "") -> None:
        """Keep the log beside the message."""
        super().__init__(message, hint=hint)
        self.log = log


class Installer:
    """Installs on one base with one backend; finds pip's own wheel once.

    Attributes:
        base: What to install on.
        backend: Whose build boxes to use.
        client: The package indexes of this machine.
        log: Told what happens, for people.
    """

    def __init__(
        self,
        base: Base,
        backend: Backend,
        client: IndexClient | None = None,
        log: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.base, self.backend, self.log = base, backend, log
        self.client = client or IndexClient()

    def install(self, requirements: Sequence[str]) -> Installed:
        """Install requirements and all they need.

        Raises:
            InstallFailed: If pip cannot.
        """
        return self._venv("".join(f"{r}\n" for r in requirements), "")

    def restore(self, packages: Sequence[LockedPackage]) -> Installed:
        """Install exactly the locked archives, checked by hash, and nothing else.

        Raises:
            InstallFailed: If one cannot be had any more, or is not the same.
        """
        lines = [f"{p.name}=={p.version} --hash=sha256:{p.sha256}" for p in packages]
        return self._venv("".join(f"{line}\n" for line in lines), "--require-hashes --no-deps")

    def _venv(self, requirements: str, options: str) -> Installed:
        script = _VENV_SCRIPT.format(options=options)
        inputs = Tree({**self.pip, "requirements.txt": Entry(requirements.encode())})
        tree = self.run(script, inputs, ENV)
        report = tree.get(REPORT)
        return Installed(clean_venv(tree), read_report(report.data) if report else ())

    def run(self, script: str, inputs: Tree, output: str) -> Tree:
        """Run an installation and return its output; what its builds lack is brought along.

        Raises:
            InstallFailed: If it fails, with compilers and headers as well.
        """
        base = self.base
        for _ in range(_ROUNDS):
            result = self.attempt(base, script, inputs, output)
            if not result.exit_code:
                return result.tree
            packages = build_packages(result.log)
            before, base = base, self._extended(base, packages)
            if base == before:
                break
            self.log(f"a build from source needs {', '.join(packages)}")
        raise _explain(result.exit_code, result.log)

    def _extended(self, base: Base, packages: Sequence[str]) -> Base:
        """Return the base with more packages, or as it is if that cannot be made."""
        try:
            return extended_base(base, packages) if packages else base
        except BuildError as error:
            self.log(f"{', '.join(packages)} cannot be had: {error.message}")
            return base

    def attempt(self, base: Base, script: str, inputs: Tree, output: str) -> InstallResult:
        """Run a script once in a build box, with the index settings of this machine."""
        settings = self.client.http.settings
        bundle = settings.ca_bundle()
        env = settings.build_variables() | (dict.fromkeys(_CA_VARIABLES, _CA) if bundle else {})
        return self.backend.install(InstallJob(base.image, script, inputs, output, env, bundle))

    @cached_property
    def pip(self) -> dict[str, Entry]:
        """The wheel of pip itself, from the index: no pip is in any image."""
        wheel = self.client.newest_wheel("pip")
        path, _ = self.client.get(wheel)
        return {wheel.filename: Entry(path.read_bytes())}


def without(installed: Installed, names: AbstractSet[str]) -> Installed:
    """Return an environment without distributions that must not be in it.

    The project itself is one of them, when a dependency of its tests brought another version of
    it: tests would import that copy, and agents could read it.
    """
    gone = [package.name for package in installed.packages if package.name in names]
    tree = installed.tree
    for name in gone:
        tree = remove_distribution(tree, name)
    kept = tuple(package for package in installed.packages if package.name not in gone)
    return Installed(tree, kept)


def read_report(data: bytes) -> tuple[LockedPackage, ...]:
    """Return what pip says it installed, sorted by name."""
    found = []
    for item in json.loads(data).get("install", ()):
        hashes = item.get("download_info", {}).get("archive_info", {}).get("hashes", {})
        facts = item["metadata"]
        found.append(
            LockedPackage(
                name=canonicalize_name(facts["name"]),
                version=facts["version"],
                sha256=hashes.get("sha256", ""),
            )
        )
    return tuple(sorted(found, key=lambda package: package.name))


def culprits(log: str, requirements: Iterable[str]) -> frozenset[str]:
    """Return those requirements that pip's error lines name."""
    lines = [x for x in log.splitlines() if re.match(r"\s*(ERROR:|error:|×|The conflict)", x)]
    text = canonicalize_name(" ".join(lines))
    return frozenset(
        r for r in requirements if re.search(rf"(?<![a-z0-9-]){_name(r)}(?!-?[a-z0-9])", text)
    )


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
    return re.escape(canonicalize_name(match[0])) if match else "(?!)"


def _explain(exit_code: int, log: str) -> BuildError:
    errors = [line.strip() for line in log.splitlines() if line.startswith("ERROR:")]
    detail = (errors or log.strip().splitlines() or ["no output"])[-1]
    if exit_code == 124:
        detail = "it did not finish in time"
    if _UNREACHABLE.search(log):  # not the repository's fault
        return BuildError(
            "the build box cannot reach the package index",
            hint=f"check network, proxy and certificates; pip said: {detail}",
        )
    message = f"the requirements cannot be installed: {detail}"
    return InstallFailed(message, hint=log[-3000:], log=log)
