"""HTTP for the package index: capped, retried, with the machine's proxies, certificates, netrc.

Only http and https are spoken; credentials never follow a redirect and never enter a message.
"""

import base64
import hashlib
import netrc
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from codeenv.errors import SourceError
from codeenv.sources.entries import too_large
from codeenv.sources.pip_settings import PipSettings

_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
_AGENT = "codeenv-gym"
_CHUNK = 1 << 16
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page:
    """A small document: its final address, media type and bytes."""

    url: str
    media_type: str
    data: bytes


class NotFound(SourceError):
    """Raised when a server answers that there is no such page."""


class HttpClient:
    """Fetches pages and files as pip would on this machine.

    Attributes:
        settings: pip's configuration.
        pause: Seconds before the first retry; doubled each time.
    """

    def __init__(self, settings: PipSettings, *, pause: float = 0.5) -> None:
        self.settings = settings
        self.pause = pause

    def page(self, url: str, *, accept: str, limit: int = 64 * 1024**2) -> Page:
        """Return a document.

        Raises:
            NotFound: If the server has none.
            SourceError: If it cannot be had.
        """

        def read(response: HTTPResponse) -> Page:
            data = response.read(limit + 1)
            if len(data) > limit:
                raise too_large(redact(url), f"the page has more than {limit} bytes")
            return Page(response.url, response.headers.get_content_type(), data)

        return self._retried(url, accept, read)

    def download(self, url: str, target: Path, *, limit: int) -> str:
        """Write a file, in one step, and return its sha256.

        Raises:
            SourceError: If it cannot be had or is over ``limit`` bytes.
        """

        def save(response: HTTPResponse) -> str:
            total, size = hashlib.sha256(), 0
            target.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=target.parent, prefix=".part-", delete=False) as file:
                try:
                    while chunk := response.read(_CHUNK):
                        size += len(chunk)
                        if size > limit:
                            raise too_large(redact(url), f"it has more than {limit} bytes")
                        total.update(chunk)
                        file.write(chunk)
                    file.close()
                    Path(file.name).replace(target)
                finally:
                    Path(file.name).unlink(missing_ok=True)
            return total.hexdigest()

        return self._retried(url, "*/*", save)

    def _retried(self, url: str, accept: str, use: Callable[[HTTPResponse], T]) -> T:
        for attempt in range(self.settings.retries + 1):
            try:
                with self._opened(url, accept) as response:
                    return use(response)
            except _Transient as error:
                if attempt == self.settings.retries:
                    raise SourceError(
                        f"{redact(url)} cannot be reached: {error.message}",
                        hint="check the network, proxy and certificates (pip uses the same)",
                    ) from error
                time.sleep(self.pause * 2**attempt)
        raise AssertionError("unreachable")

    @contextmanager
    def _opened(self, url: str, accept: str) -> Iterator[HTTPResponse]:
        """Open one connection, and turn what can go wrong into our errors."""
        request = _request(url, accept)
        host = urlsplit(request.full_url).hostname or ""
        opener = self._opener(verified=host not in self.settings.trusted_hosts)
        try:
            with opener.open(request, timeout=self.settings.timeout) as response:
                yield response
        except urllib.error.HTTPError as error:
            with error:
                raise _status_error(redact(url), error.code) from error
        except ssl.SSLCertVerificationError as error:
            raise _untrusted(url, error) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                raise _untrusted(url, error.reason) from error
            raise _Transient(str(error.reason)) from error
        except (TimeoutError, ConnectionError, HTTPException, ssl.SSLError) as error:
            raise _Transient(str(error) or type(error).__name__) from error

    def _opener(self, *, verified: bool) -> urllib.request.OpenerDirector:
        proxies = urllib.request.getproxies()
        if self.settings.proxy:
            proxies = {**proxies, "http": self.settings.proxy, "https": self.settings.proxy}
        context = ssl.create_default_context(cafile=self.settings.cert or None)
        if not verified:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(proxies),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPRedirectHandler(),
            urllib.request.HTTPErrorProcessor(),
        ):
            opener.add_handler(handler)
        return opener


class _Transient(SourceError):
    """Something that may be gone on the next try."""


def redact(url: str) -> str:
    """Return the address without credentials, for messages."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _request(url: str, accept: str) -> urllib.request.Request:
    parts = urlsplit(url)
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
    request = urllib.request.Request(bare, headers={"Accept": accept, "User-Agent": _AGENT})
    login = _login(parts.username, parts.password, parts.hostname or "")
    if login:
        token = base64.b64encode(login.encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {token}")
    return request


def _login(user: str | None, password: str | None, host: str) -> str:
    """Return ``user:password`` from the address, else from netrc, else nothing."""
    if user:
        return f"{unquote(user)}:{unquote(password or '')}"
    path = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    try:
        found = netrc.netrc(path).hosts.get(host) if path.is_file() else None
    except (netrc.NetrcParseError, OSError):
        return ""
    return f"{found[0]}:{found[2] or ''}" if found else ""


def _status_error(url: str, status: int) -> SourceError:
    if status in (404, 410):
        return NotFound(f"{url} does not exist")
    if status in (401, 403, 407):
        return SourceError(
            f"{url} refuses access (HTTP {status})",
            hint="put the credentials into the index address or ~/.netrc, as for pip",
        )
    if status in _TRANSIENT:
        return _Transient(f"HTTP {status}")
    return SourceError(f"{url} answers HTTP {status}")


def _untrusted(url: str, error: ssl.SSLCertVerificationError) -> SourceError:
    return SourceError(
        f"the certificate of {redact(url)} is not trusted: {error.verify_message}",
        hint="set PIP_CERT (or SSL_CERT_FILE) to the right CA bundle",
    )
