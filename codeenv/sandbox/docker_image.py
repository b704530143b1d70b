"""An environment as a Docker image: the base imported once, layers copied on top."""

import io
import re
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import IO

import docker
from docker.errors import BuildError as EngineBuildError
from docker.errors import ImageNotFound

from codeenv.errors import BuildError
from codeenv.sandbox.docker_client import engine_errors
from codeenv.sandbox.image import Image
from codeenv.sandbox.variables import HOME, WORKSPACE
from codeenv.sandbox.walled import GROUPS, USERS

LABEL = "codeenv.image"
_building = threading.Lock()


def environment_tag(image: Image) -> str:
    """Return the tag of an environment."""
    return f"codeenv/env:{_clean(image.digest)}"


def base_tag(image: Image) -> str:
    """Return the tag of an environment's base."""
    return f"codeenv/base:{_clean(image.base)}"


def ensure_image(client: docker.DockerClient, image: Image) -> str:
    """Return the tag of an environment's image, built if the engine does not have it.

    Raises:
        BuildError: If the base cannot be used by Docker, or the build fails.
    """
    tag = environment_tag(image)
    with _building, engine_errors("cannot build the environment's image"):
        if not _has(client, tag):
            base = _ensure_base(client, image)
            _build(client, image, base, tag)
    return tag


def ensure_base_image(client: docker.DockerClient, image: Image) -> str:
    """Return the tag of an environment's base, imported if the engine does not have it.

    Raises:
        BuildError: If there is nothing to import it from.
    """
    with _building, engine_errors("cannot import the base"):
        return _ensure_base(client, image)


def _ensure_base(client: docker.DockerClient, image: Image) -> str:
    tag = base_tag(image)
    if _has(client, tag):
        return tag
    if image.rootfs is None or image.rootfs == Path("/"):
        raise BuildError(
            f"Docker cannot use the base {image.base}",
            hint="build the environment with --backend docker, or use bubblewrap",
        )
    archive = image.rootfs.with_name(f"{image.rootfs.name}.tar")
    if not archive.is_file():
        raise BuildError(f"the base {image.base} has no archive", hint="build the base again")
    repository, _, name = tag.partition(":")
    changes = [f"LABEL {LABEL}=1"]
    said = client.api.import_image_from_file(str(archive), changes=changes)
    imported = re.search(r"sha256:[0-9a-f]{64}", said)
    if imported is None:
        raise BuildError(f"Docker did not import {archive}: {said[-300:].strip()}")
    client.images.get(imported[0]).tag(repository, name)  # Podman forgets a tag given at once
    return tag


def _build(client: docker.DockerClient, image: Image, base: str, tag: str) -> None:
    with tempfile.TemporaryFile() as context:
        _write_context(context, image, base)
        context.seek(0)
        try:
            client.images.build(
                fileobj=context, custom_context=True, tag=tag, rm=True, forcerm=True,
                labels={LABEL: "1"}, network_mode="none",
            )  # fmt: skip
        except EngineBuildError as error:
            raise BuildError(f"Docker cannot build {tag}: {error.msg}") from error


def _write_context(file: IO[bytes], image: Image, base: str) -> None:
    lines = [f"FROM {base}", "COPY root/ /"]
    with tarfile.open(fileobj=file, mode="w") as context:
        for n, layer in enumerate(image.layers):
            context.add(layer.folder, f"layer{n}", filter=_anonymous)
            lines.append(f'COPY ["layer{n}/", "{layer.target}/"]')
        for folder in (WORKSPACE, HOME):
            member = tarfile.TarInfo(f"root{folder}")
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            context.addfile(member)
        _add(context, "root/etc/passwd", USERS)
        _add(context, "root/etc/group", GROUPS)
        _add(context, "Dockerfile", "\n".join(lines) + "\n")


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Take out who made a file and when, so that the same layer is the same for the engine."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0 if member.isdir() else int(member.mtime)
    return member


def _add(context: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode()
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o644
    context.addfile(member, io.BytesIO(data))


def _has(client: docker.DockerClient, tag: str) -> bool:
    try:
        client.images.get(tag)
    except ImageNotFound:
        return False
    return True


def _clean(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", name).lstrip(".-")[:128]
