"""Serves the page and what it asks for to browsers on this machine, and to nobody else.

What runs hold is anybody's text.  It leaves as JSON alone; the page's policy allows its own files
and no other script, style or address.  A page of another site that gets its name to lead here is
refused by the name it asks for.
"""

import re
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from codeenv.errors import CodeEnvError, UsageError
from codeenv_harness.viewer.library import Library, answer

HOST = "127.0.0.1"
_NAMES = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_JSON = "application/json"
STATIC = {
    "/": ("viewer", "viewer.html", "text/html; charset=utf-8"),
    "/viewer.css": ("viewer", "viewer.css", "text/css; charset=utf-8"),
    "/colours.css": ("report", "colours.css", "text/css; charset=utf-8"),
    "/icon.svg": ("viewer", "icon.svg", "image/svg+xml"),
    "/viewer.js": ("viewer", "viewer.js", "text/javascript; charset=utf-8"),
    "/show.js": ("viewer", "show.js", "text/javascript; charset=utf-8"),
    "/list.js": ("viewer", "list.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SECONDS = 30
_LONGEST = 400


class ViewerServer(ThreadingHTTPServer):
    """The page of some runs; ``url`` is where it is."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, library: Library, port: int = 0) -> None:
        """Listen on a port of this machine; 0 takes a free one.

        Raises:
            UsageError: If the port cannot be had.
        """
        self.library = library
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise UsageError(f"port {port}: {why}", hint="name another --port") from error

    def server_bind(self) -> None:
        """Bind without asking the network for this machine's name."""
        TCPServer.server_bind(self)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_address[1]}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away in the middle of an answer."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "codeenv"
    sys_version = ""
    timeout = _SECONDS
    disable_nagle_algorithm = True  # or small answers wait for their acknowledgement
    server: ViewerServer

    def do_GET(self) -> None:
        """Answer."""
        try:
            parts = urlsplit(self.path)
            asked = _Asked(parts.query)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "this is no address")
            return
        if not _NAMES.fullmatch(self.headers.get("Host", "")):
            self._refuse(HTTPStatus.FORBIDDEN, "this is served to this machine alone")
        elif parts.path in STATIC:
            folder, name, kind = STATIC[parts.path]
            self._send(HTTPStatus.OK, kind, _asset(folder, name))
        elif self.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            self._refuse(HTTPStatus.FORBIDDEN, "another site asked")
        elif parts.path in _ANSWERS:
            self._tell(_ANSWERS[parts.path], asked)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request, or another method than GET."""
        self.close_connection = True
        self._refuse(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the person who reads."""

    def _tell(self, tell: "_Answer", asked: "_Asked") -> None:
        try:
            told = answer(tell(self.server.library, asked))
        except CodeEnvError as error:
            self._refuse(HTTPStatus.NOT_FOUND, error.message)
        except (OSError, ValueError, RecursionError) as error:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}")
        else:
            self._send(HTTPStatus.OK, _JSON, told)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send(status, _JSON, answer({"error": why[:_LONGEST]}))

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


class _Asked:
    """The words behind the question mark."""

    def __init__(self, query: str) -> None:
        self._words = parse_qs(query, keep_blank_values=True, max_num_fields=20)

    def text(self, name: str) -> str:
        """Return a text; "" if it was not said."""
        return self._words.get(name, [""])[-1]

    def number(self, name: str) -> int:
        """Return a whole number.

        Raises:
            UsageError: If it is none.
        """
        text = self.text(name)
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise UsageError(f"{name} is not a number")
        return int(text)


_Answer = Callable[[Library, _Asked], Any]


def _opened(library: Library, asked: _Asked) -> Any:  # noqa: ANN401 - see its class
    return library.opened(asked.text("run"), (asked.text("task"), asked.number("rollout")))


_ANSWERS: dict[str, _Answer] = {
    "/api/runs": lambda lib, asked: lib.index(asked.text("known")),
    "/api/rollout": lambda lib, asked: _opened(lib, asked).head,
    "/api/step": lambda lib, asked: _opened(lib, asked).step(
        asked.number("step"), full=bool(asked.text("full"))
    ),
    "/api/change": lambda lib, asked: _opened(lib, asked).change(
        asked.number("file"), full=bool(asked.text("full"))
    ),
    "/api/search": lambda lib, asked: {"steps": _opened(lib, asked).search(asked.text("words"))},
}


def _asset(folder: str, name: str) -> bytes:
    return files(f"codeenv_harness.{folder}").joinpath(name).read_bytes()
