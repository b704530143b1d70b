"""An environment as files that make it again without codeenv: a Dockerfile, pinned requirements."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from packaging.utils import canonicalize_name

from codeenv.errors import UsageError
from codeenv.images.allowed import packages_in
from codeenv.images.layers import Environment
from codeenv.images.venv import programs_of
from codeenv.tasks.digest import canonical
from codeenv.tasks.models import EnvironmentLock

_ALWAYS = ("git", "libstdc++6", "make", "patch", "procps", "less", "tzdata")
_SERVERS = "\n# Servers that tests need start with: bash /opt/startup.sh"
_DOCKERFILE = """\
# Made by `codeenv images build`: the environment of {name}, from locked archives.
# docker build -t environment .
# IMAGE: an image of Debian with Python {python}, venv and pip.
# BUILD: what builds of packages that have no wheel need, beside compilers.
# PIP_INDEX_URL: another index.
# PIP_CERT: /build/NAME.crt, a certificate that is put beside this file.{servers}
ARG IMAGE=python:{python}-slim
FROM ${{IMAGE}} AS build
ARG BUILD=
ARG PIP_INDEX_URL
ARG PIP_CERT
RUN apt-get update \\
 && apt-get install -y --no-install-recommends build-essential pkg-config ${{BUILD}}
COPY requirements.txt *.crt /build/
RUN python3 -m venv /opt/env \\
 && /opt/env/bin/python -m pip install --no-cache-dir --no-deps --require-hashes \\
      -r /build/requirements.txt \\
 && /opt/env/bin/python -m pip uninstall --yes pip
COPY site/ /opt/env/lib/python{python}/site-packages/
COPY bin/ /opt/env/bin/

FROM ${{IMAGE}}
RUN apt-get update \\
 && apt-get install -y --no-install-recommends {packages} \\
 && rm -rf /var/lib/apt/lists/*
RUN getent passwd 1000 || useradd --create-home --uid 1000 agent
COPY --from=build /opt/env /opt/env
COPY startup.sh /opt/startup.sh
ENV {variables}
USER 1000:1000
WORKDIR /workspace
"""


def write_recipe_files(folder: Path, environment: Environment) -> None:
    """Write a Dockerfile, pinned requirements, the lock, ``startup.sh`` and ``site/``.

    ``site/`` and ``bin/`` hold what stands for the project itself: its metadata, commands, the path
    to its code in ``/workspace``, and modules that only a build makes.

    Raises:
        UsageError: If the folder cannot be written, or has other files already.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / "environment.json").is_file():
            raise UsageError(f"{folder} is not empty", hint="name a new folder with --out")
        lock = environment.lock
        (folder / "environment.json").write_bytes(canonical(lock))
        (folder / "requirements.txt").write_text("".join(_requirements(lock)))
        (folder / "Dockerfile").write_text(_dockerfile(environment))
        (folder / "startup.sh").write_text(environment.image.startup)
        for name in ("site", "bin"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir()
        _copy_site(environment, folder / "site")
        _copy_programs(environment, folder)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror or error}", hint="name another with --out"
        ) from error


def _requirements(lock: EnvironmentLock) -> Iterator[str]:
    own = {canonicalize_name(text.partition("==")[0]) for text in lock.metadata}
    for package in lock.packages:
        if package.name not in own:
            yield f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n"


def _dockerfile(environment: Environment) -> str:
    lock = environment.lock
    packages = [*_ALWAYS, *packages_in(lock.base)]
    variables = environment.image.variables
    return _DOCKERFILE.format(
        name=re.sub(r"[^\w.=!+-]", "", next(iter(lock.metadata), "a project")),
        servers=_SERVERS if lock.services else "",
        python=".".join(lock.python.split(".")[:2]),
        packages=" ".join(sorted(packages)),
        variables=" ".join(f"{name}={_quoted(value)}" for name, value in sorted(variables.items())),
    )


def _quoted(value: str) -> str:
    return '"' + re.sub(r'(["\\$])', r"\\\1", value) + '"'


def _copy_site(environment: Environment, target: Path) -> None:
    """Copy what was put beside the locked packages."""
    site = next(environment.image.layers[0].folder.glob("lib/python3.*/site-packages"))
    for place in sorted(site.iterdir()):
        if place.name.startswith("_codeenv_") or _is_own(place.name, environment.lock):
            if place.is_dir():
                shutil.copytree(place, target / place.name)
            else:
                shutil.copy(place, target / place.name)


def _copy_programs(environment: Environment, folder: Path) -> None:
    """Copy the project's own commands."""
    for metadata in sorted((folder / "site").glob("*.dist-info/entry_points.txt")):
        for name in programs_of({metadata.name: metadata.read_bytes()}):
            shutil.copy(environment.image.layers[0].folder / "bin" / name, folder / "bin" / name)


def _is_own(name: str, lock: EnvironmentLock) -> bool:
    own = {re.sub(r"[-_.]+", "_", text).lower() for text in lock.metadata}
    stem = re.sub(r"[-_.]+", "_", name.removesuffix(".dist-info").replace("-", "==")).lower()
    return name.endswith(".dist-info") and stem in own
