"""The ``registry`` base: built by a Docker daemon on Python's official image, then exported."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import docker
import requests
from docker.errors import BuildError as DockerBuildError
from docker.errors import DockerException

from codeenv._paths import data_folder
from codeenv.errors import BuildError
from codeenv.images.debian import UnknownPackages, unknown_packages

SOURCE = "python:3.13-slim"
_LABELS = {"codeenv.image": "base"}


def docker_answers() -> bool:
    """Return whether a Docker daemon can be talked to."""
    try:
        with _client() as client:
            client.ping()
    except (DockerException, requests.RequestException, OSError):
        return False
    return True


def write_tar(target: Path, packages: Sequence[str] = (), *, source: str = SOURCE) -> None:
    """Build ``docker/base.Dockerfile`` and write its root file system as a tar.

    Raises:
        UnknownPackages: If Debian does not have all of the packages.
        BuildError: If no daemon or no registry answers, or the build fails.
    """
    try:
        with _client() as client:
            image, _ = client.images.build(
                path=str(data_folder("docker")),
                dockerfile="base.Dockerfile",
                buildargs={"IMAGE": source, "PACKAGES": " ".join(packages)},
                labels=_LABELS,
                rm=True,
                forcerm=True,
            )
            _export(client, str(image.id), target)
    except DockerBuildError as error:
        log = "".join(str(line.get("stream", "")) for line in error.build_log)
        if unknown := unknown_packages(log):
            raise UnknownPackages.of(unknown) from error
        raise BuildError(
            f"the base image cannot be built on {source}: {error.msg}",
            hint="check that the registry answers, or install mmdebstrap for a base without one",
        ) from error
    except (DockerException, requests.RequestException) as error:
        raise BuildError(
            f"the base image cannot be built on {source}: {error}", hint="is Docker running?"
        ) from error


def _export(client: docker.DockerClient, image: str, target: Path) -> None:
    container = client.containers.create(image, command="true", labels=_LABELS)
    try:
        with target.open("wb") as file:
            for chunk in cast("Iterator[bytes]", container.export()):
                file.write(chunk)
    finally:
        container.remove(force=True)
        with suppress(DockerException):
            client.images.remove(image)


@contextmanager
def _client() -> Iterator[docker.DockerClient]:
    client = docker.from_env()
    try:
        yield client
    finally:
        client.close()
