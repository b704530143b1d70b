"""Installs environments in a throw-away Docker container that has a network.

Dependencies' build code is hostile: the container has no capability, no privilege to gain, limits
on processes and memory, nothing of the host mounted, and is always removed.
"""

import io
import tarfile
import time
from contextlib import suppress
from pathlib import PurePosixPath
from tempfile import NamedTemporaryFile

import docker
import requests
from docker.errors import NotFound
from docker.models.containers import Container
from docker.types import LogConfig

from codeenv.sandbox.docker_client import connect, engine_errors
from codeenv.sandbox.docker_image import ensure_base_image
from codeenv.sandbox.docker_wall import DEADLINE_LABEL, OWNER_LABEL
from codeenv.sandbox.image import InstallJob, InstallResult
from codeenv.sandbox.install_output import (
    CA_PATH,
    SCRIPT,
    TIMED_OUT,
    finish,
    needs_host_network,
    script_of,
    variables_of,
)
from codeenv.sandbox.owner import owner
from codeenv.sources.archive import read_tar
from codeenv.sources.entries import Collector

AGENT = 1000


def install(job: InstallJob, runtime: str = "") -> InstallResult:
    """Run an installation and return its log and output.

    Args:
        job: What to run.
        runtime: The engine's runtime to use; "" for its default.

    Raises:
        BackendUnavailable: If no engine answers.
        BuildError: If the base is unusable, or the output cannot be read.
        SandboxError: If the engine fails.
    """
    client = connect()
    try:
        with engine_errors("the installation failed"):
            return _install(job, client, runtime)
    finally:
        client.close()


def _install(job: InstallJob, client: docker.DockerClient, runtime: str) -> InstallResult:
    container = _create(job, ensure_base_image(client, job.image), client, runtime)
    try:
        _put_inputs(container, job)
        container.start()
        exit_code = _wait(container, job.timeout)
        log = container.logs(tail=4000).decode("utf-8", "replace")
        return finish(exit_code, log, lambda collector: _read(container, job.output, collector))
    finally:
        with suppress(NotFound):
            container.remove(force=True, v=True)


def _create(job: InstallJob, base: str, client: docker.DockerClient, runtime: str) -> Container:
    variables = variables_of(job)
    deadline = int(time.time() + job.timeout) + 300
    return client.containers.create(
        base,
        ["bash", "-c", f"ulimit -c 0; exec bash /build/{SCRIPT}"],
        cap_drop=["ALL"],
        environment=variables,
        init=True,
        labels={OWNER_LABEL: owner(), DEADLINE_LABEL: str(deadline)},
        log_config=LogConfig(type="json-file", config={"max-size": "4m", "max-file": "1"}),
        mem_limit="6g",
        network_mode="host" if needs_host_network(variables) else "bridge",
        pids_limit=1024,
        runtime=runtime or None,
        security_opt=["no-new-privileges"],
        user=f"{AGENT}:{AGENT}",
        working_dir="/build",
    )


def _put_inputs(container: Container, job: InstallJob) -> None:
    """Copy inputs, script and certificates in, and make the output folder."""
    container.put_archive("/", _folders("build", "home/agent", job.output.strip("/")))
    container.put_archive("/build", job.inputs.to_tar())
    container.put_archive("/", _file(f"build/{SCRIPT}", script_of(job)))
    container.put_archive("/", _file(CA_PATH.strip("/"), job.ca_bundle))


def _folders(*paths: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in paths:
            info = tarfile.TarInfo(path)
            info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, 0o755, AGENT, AGENT
            archive.addfile(info)
    return buffer.getvalue()


def _file(path: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo(path)
        info.size, info.mode = len(data), 0o644
        archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _wait(container: Container, timeout: float) -> int:
    try:
        return int(container.wait(timeout=timeout)["StatusCode"])
    except (requests.exceptions.ReadTimeout, requests.exceptions.ConnectionError):
        container.kill()
        return TIMED_OUT


def _read(container: Container, folder: str, collector: Collector) -> None:
    """Read a folder of the stopped container; entries are relative to it."""
    chunks, _ = container.get_archive(folder)
    with NamedTemporaryFile() as file:
        for chunk in chunks:
            file.write(chunk)
        file.seek(0)
        read_tar(file, collector)
    prefix = PurePosixPath(folder).name + "/"
    inside = {p.removeprefix(prefix): e for p, e in collector.entries.items() if p != prefix[:-1]}
    collector.entries.clear()
    collector.entries.update(inside)
