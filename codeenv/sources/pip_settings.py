"""Where packages come from on this machine: what pip itself is configured to do.

No registry's address is written in codeenv.  pip's own default index is asked of pip.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from codeenv.errors import MachineError

_DEFAULT_INDEX = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
_CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
_CA_FILES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class PipSettings:
    """pip's configuration, as far as it decides where archives come from.

    Attributes:
        indexes: Simple-API roots, in pip's order; empty with ``no-index``.
        find_links: Folders, pages or archives that are looked through as well.
        cert: CA bundle file, or "".
        trusted_hosts: Hosts whose certificate is not checked.
        timeout: Seconds for one request.
        retries: How often a request is tried again.
        proxy: For all requests, or "" for the environment's.
    """

    indexes: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    cert: str = ""
    trusted_hosts: tuple[str, ...] = ()
    timeout: float = 15.0
    retries: int = 3
    proxy: str = ""

    def ca_bundle(self) -> bytes:
        """Return the CA bundle of this machine, to be offered in a build box."""
        for candidate in (self.cert, *_CA_FILES):
            if candidate and Path(candidate).is_file():
                return Path(candidate).read_bytes()
        return b""

    def build_variables(self, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the variables that make pip in a build box use the same indexes.

        Folders of this machine are left out: they do not exist in the box.  Credentials in an
        index's address are kept, so a dependency's build code can read them, as with pip itself.
        """
        environment = os.environ if environment is None else environment
        indexes = [url for url in self.indexes if not _is_local(url)]
        links = [link for link in self.find_links if not _is_local(link)]
        variables = {
            "PIP_INDEX_URL": indexes[0] if indexes else "",
            "PIP_EXTRA_INDEX_URL": " ".join(indexes[1:]),
            "PIP_FIND_LINKS": " ".join(links),
            "PIP_TRUSTED_HOST": " ".join(self.trusted_hosts),
            "PIP_PROXY": self.proxy,
            "PIP_TIMEOUT": f"{self.timeout:g}",
            "PIP_RETRIES": str(self.retries),
            "PIP_NO_INDEX": "" if indexes else "1",
        }
        for name in _PROXIES:
            for spelling in (name, name.upper()):
                variables[spelling] = environment.get(spelling, "")
        return {name: value for name, value in variables.items() if value}


def read_settings(environment: Mapping[str, str] | None = None) -> PipSettings:
    """Ask pip for its configuration (files and variables).

    Raises:
        MachineError: If no pip answers, so that its default index is unknown.
    """
    environment = os.environ if environment is None else environment
    return _read_settings(tuple(sorted(environment.items())))


@lru_cache(maxsize=16)
def _read_settings(variables: tuple[tuple[str, str], ...]) -> PipSettings:
    """Ask once per environment: starting pip takes longer than a request."""
    environment = dict(variables)
    values = _read_values(environment)
    indexes: list[str] = []
    if not _truthy(values.get("no-index", "")):
        indexes = [values.get("index-url") or _default_index(environment)]
        indexes += values.get("extra-index-url", "").split()
    cert = values.get("cert", "")
    if not cert:
        cert = next((environment[name] for name in _CA_VARIABLES if environment.get(name)), "")
    return PipSettings(
        indexes=tuple(url.rstrip("/") for url in indexes),
        find_links=tuple(values.get("find-links", "").split()),
        cert=cert,
        trusted_hosts=tuple(values.get("trusted-host", "").split()),
        timeout=float(values.get("timeout") or values.get("default-timeout") or 15),
        retries=int(values.get("retries") or 3),
        proxy=values.get("proxy", ""),
    )


def local_folder(url: str) -> Path | None:
    """Return the folder or file that a ``file:`` address or plain path names, else None."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    return Path(url) if not parts.scheme else None


def _is_local(url: str) -> bool:
    return local_folder(url) is not None


def _truthy(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "on", "t", "y")


def _read_values(environment: Mapping[str, str]) -> dict[str, str]:
    """Merge pip's settings in its own order: global, ``download``'s, the environment's."""
    layers: dict[str, dict[str, str]] = {"global": {}, "download": {}, ":env:": {}}
    for line in _pip(environment, "-m", "pip", "config", "list").splitlines():
        key, separator, quoted = line.partition("=")
        section, _, name = key.partition(".")
        if separator and section in layers:
            try:
                value = ast.literal_eval(quoted)
            except (ValueError, SyntaxError):
                value = quoted
            layers[section][name] = str(value)
    return {**layers["global"], **layers["download"], **layers[":env:"]}


def _default_index(environment: Mapping[str, str]) -> str:
    return _pip(environment, "-c", _DEFAULT_INDEX).strip()


def _pip(environment: Mapping[str, str], *arguments: str) -> str:
    """Run a pip of this machine; the working directory is kept off its import path."""
    for extra in ({}, *_bundled_pips()):
        done = subprocess.run(
            (sys.executable, "-P", *arguments),
            env={**environment, **extra},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode == 0:
            return done.stdout
    raise MachineError(
        "pip does not answer, so the package index is unknown",
        hint="install pip for this Python, or set PIP_INDEX_URL",
    )


def _bundled_pips() -> list[dict[str, str]]:
    """Return variables that make Python find the pip it carries for ``ensurepip``."""
    folder = Path(os.__file__).parent / "ensurepip" / "_bundled"
    return [{"PYTHONPATH": str(wheel)} for wheel in sorted(folder.glob("pip-*.whl"))]
