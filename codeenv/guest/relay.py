"""A chat server inside a box without network: what a program asks of it is answered from outside.

Started with a folder as its argument and a spec as JSON on standard input, it starts the program,
goes on in the background and returns.  ``relay_poll`` hands in the answer to the last request, and
waits for the next event.  Everything here is in the hands of whoever acts in the box: outside,
events are data, and no more.

Events: ``{"request": {…}, "id": n}``, ``{"exited": code}``, ``{}`` (nothing happened).
"""

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Answers = queue.Queue[Json]

_LARGEST = 8 * 1024**2
"""Bytes of a request."""
_PIECE = 1024**2
_QUIET = 10.0
"""Seconds until a stream that has nothing to say shows that it is alive."""
_MODELS = "/models"
_ASKED = "/chat/completions"


class Exchange:
    """Requests on their way out, and answers on their way in."""

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self.events: queue.Queue[Json] = queue.Queue()
        self._answers: dict[int, Answers] = {}
        self._lock = threading.Lock()
        self._count = 0

    def ask(self, request: Json) -> Answers:
        """Send a request out; return the queue that its answer comes by."""
        with self._lock:
            self._count += 1
            number = self._count
            answers: Answers = queue.Queue()
            self._answers[number] = answers
        self.events.put({"request": request, "id": number})
        return answers

    def answer(self, number: int, answer: Json) -> None:
        """Hand an answer over to whoever asked."""
        with self._lock:
            answers = self._answers.pop(number, None)
        if answers is not None:
            answers.put(answer)


class Handler(BaseHTTPRequestHandler):
    """OpenAI's chat completions, whole and streamed."""

    server: "Server"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """List the one model there is."""
        if self.path.split("?")[0].endswith(_MODELS):
            model = {"id": self.server.model, "object": "model", "owned_by": "codeenv"}
            self._send(200, {"object": "list", "data": [model]})
        else:
            self._refuse(404, f"there is nothing at {self.path}")

    def do_POST(self) -> None:
        """Have a request answered."""
        body = self._body()
        if not self.path.split("?")[0].endswith(_ASKED):
            self._refuse(404, f"only chat completions are served, not {self.path}")
            return
        if len(body) > _LARGEST:
            self._refuse(413, f"a request has at most {_LARGEST:,} bytes")
            return
        try:
            request = json.loads(body or b"")
        except (ValueError, RecursionError):
            self._refuse(400, "the body is no JSON")
            return
        if not isinstance(request, dict):
            self._refuse(400, "the body is no JSON object")
            return
        answers = self.server.exchange.ask(request)
        if request.get("stream") is True:
            self._stream(answers, request.get("stream_options"))
        else:
            answer = answers.get()
            self._send(answer["status"], answer["body"])

    def _body(self) -> bytes:
        """Return the body; of one that is too long, a byte too much."""
        kept, left = [], _LARGEST + 1
        for size in self._sizes():
            while size:
                data = self.rfile.read(min(size, _PIECE))
                if not data:
                    break
                size -= len(data)
                kept.append(data[:left])
                left -= len(kept[-1])
        return b"".join(kept)

    def _sizes(self) -> Iterator[int]:
        """Yield how many bytes come next."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            told = self.headers.get("Content-Length", "0")
            yield int(told) if told.isdigit() else 0
            return
        size = -1
        while size:
            size = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
            yield size
            self.rfile.readline()

    def _stream(self, answers: Answers, options: object) -> None:
        """Send an answer as events; comments while it is waited for."""
        begun = False
        while True:
            try:
                answer = answers.get(timeout=_QUIET)
                break
            except queue.Empty:
                self._begin(begun)
                self._event(": waiting")
                begun = True
        status, body = answer["status"], answer["body"]
        if status != 200 and not begun:
            self._send(status, body)
            return
        self._begin(begun)
        usage = isinstance(options, dict) and options.get("include_usage") is True
        for chunk in chunks(body, usage=usage) if status == 200 else [body]:
            self._event("data: " + json.dumps(chunk))
        self._event("data: [DONE]")

    def _begin(self, begun: bool) -> None:
        if begun:
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def _event(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\n\n")
        self.wfile.flush()

    def _send(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


class Server(ThreadingHTTPServer):
    """Listens inside the box."""

    daemon_threads = True

    def __init__(self, exchange: Exchange, model: str) -> None:
        """Listen at a free port."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.exchange, self.model = exchange, model

    def handle_error(self, request: object, client_address: object) -> None:
        """Let a client go that went away."""


def chunks(completion: Json, *, usage: bool) -> list[Json]:
    """Return a completion as the chunks of a stream."""
    head = {key: completion.get(key) for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    found = []
    for choice in completion.get("choices") or ():
        delta = dict(choice.get("message") or {})
        calls = delta.pop("tool_calls", None)
        if calls:
            delta["tool_calls"] = [dict(call, index=n) for n, call in enumerate(calls)]
        place = {"index": choice.get("index", 0)}
        found.append(dict(head, choices=[dict(place, delta=delta, finish_reason=None)]))
        reason = choice.get("finish_reason")
        found.append(dict(head, choices=[dict(place, delta={}, finish_reason=reason)]))
    if usage:
        found.append(dict(head, choices=[], usage=completion.get("usage")))
    return found


def serve(folder: str, spec: Json) -> None:
    """Start the program, and answer it, in a process of their own; return at once."""
    exchange = Exchange()
    server = Server(exchange, spec["model"]) if spec["model"] else None
    polled = socket.socket(socket.AF_UNIX)
    polled.bind(os.path.join(folder, "socket"))
    polled.listen()
    if os.fork():
        return
    os.setsid()
    _let_go()
    if server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1" if server else ""
    threading.Thread(target=_play, args=(folder, spec, url, exchange), daemon=True).start()
    while True:
        connection, _ = polled.accept()
        with contextlib.suppress(OSError, ValueError), connection:
            _serve_poll(connection, exchange)


def _serve_poll(connection: socket.socket, exchange: Exchange) -> None:
    """Take an answer and give the next event."""
    with connection.makefile("rwb") as stream:
        told = json.loads(stream.readline())
        if told.get("id"):
            exchange.answer(told["id"], told)
        try:
            event = exchange.events.get(timeout=told["wait"])
        except queue.Empty:
            event = {}
        told = json.dumps(event, ensure_ascii=False)
        stream.write(told.encode("utf-8", "replace") + b"\n")


def _play(folder: str, spec: Json, url: str, exchange: Exchange) -> None:
    """Run the program to its end."""
    served = {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": "in-the-box"}
    env = dict(os.environ, **served) if url else dict(os.environ)
    env.update(spec["env"])
    env["CODEENV_INSTRUCTION"] = os.path.join(folder, "instruction.md")
    command = ["bash", "-c", spec["command"]]
    with (
        open(env["CODEENV_INSTRUCTION"], "rb") as given,
        open(os.path.join(folder, "output"), "wb") as output,
    ):
        try:
            code = subprocess.call(command, stdin=given, stdout=output, stderr=output, env=env)
        except OSError as error:
            output.write(str(error).encode())
            code = 127
    exchange.events.put({"exited": code})


def _let_go() -> None:
    """Keep nothing of the command that started us."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)


def main() -> None:
    """Serve what standard input says, at the folder that is the argument."""
    serve(sys.argv[1], json.load(sys.stdin))


if __name__ == "__main__":
    main()
