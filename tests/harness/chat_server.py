"""A real server of chat completions that says what a test gave it, and fails as told."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Fail:
    """An answer that is an error, with headers that ask to come back at once."""

    def __init__(self, status, code=None, message="no"):
        self.status = status
        self.body = {"error": {"message": message, "code": code, "type": "error"}}


class Cut:
    """An answer whose connection breaks after some bytes of it."""


class Raw:
    """An answer of any bytes."""

    def __init__(self, data, kind="application/json"):
        self.data, self.kind = data, kind


HANG = object()
DRIP = object()
"""An answer of which a byte comes now and then, and never the last."""


def said(*calls, content=None, usage=(100, 10), finish="stop", message=(), choice=(), **more):
    """A completion with calls of (name, arguments), or just text."""
    made = [
        {
            "id": f"id_{number}",
            "type": "function",
            "function": {"name": name, "arguments": a if isinstance(a, str) else json.dumps(a)},
        }
        for number, (name, a) in enumerate(calls)
    ]
    told = {"role": "assistant", "content": content, **dict(message)}
    if made:
        told.setdefault("tool_calls", made)
    prompt, completion = usage
    return {
        "id": "answer",
        "object": "chat.completion",
        "created": 0,
        "model": "served-model",
        "choices": [{"index": 0, "message": told, "finish_reason": finish, **dict(choice)}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
        **more,
    }


def chunks(completion):
    """The same completion as a stream: its text and arguments in two pieces each."""
    (choice,) = completion["choices"]
    message = choice["message"]
    deltas = [{"role": "assistant"}]
    for name in ("reasoning_content", "content"):
        text = message.get(name) or ""
        deltas += [{name: part} for part in (text[:2], text[2:]) if part]
    for number, call in enumerate(message.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        first = {"name": call["function"]["name"], "arguments": arguments[:5]}
        deltas.append({"tool_calls": [{**call, "index": number, "function": first}]})
        rest = {"index": number, "function": {"arguments": arguments[5:]}}
        deltas.append({"tool_calls": [rest]})
    head = {k: completion[k] for k in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    ended = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield {**head, "choices": [ended]}
    yield {**head, "choices": [], "usage": completion["usage"]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append(body)
            answers = self.server.answers
            answer = answers.pop(0) if answers else self.server.otherwise
        if callable(answer):
            answer = answer(body)
        if answer is HANG:
            self.server.hanging.set()
            self.server.released.wait(60)
            self.close_connection = True
        elif answer is DRIP:
            self.drip()
        elif isinstance(answer, Fail):
            self.send(json.dumps(answer.body).encode(), answer.status)
        elif isinstance(answer, Raw):
            self.send(answer.data, kind=answer.kind)
        elif body.get("stream"):
            self.stream(answer)
        else:
            cut = isinstance(answer, Cut)
            data = json.dumps(said(content="cut") if cut else answer).encode()
            self.send(data, cut=cut)

    def send(self, data, status=200, kind="application/json", cut=False):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self.broken()

    def stream(self, answer):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        cut = isinstance(answer, Cut)
        for number, chunk in enumerate(chunks(said(content="cut off") if cut else answer)):
            if cut and number == 2:
                self.broken()
                return
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def drip(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        while not self.server.released.wait(0.05):
            self.wfile.write(b" ")

    def broken(self):
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, *args):
        pass


class ChatServer(ThreadingHTTPServer):
    """Gives ``answers`` in turn, then ``otherwise``; ``asked`` has what came."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked, self.lock = [], [], threading.Lock()
        self.otherwise = said(("submit", {}))
        self.hanging, self.released = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # a client that went away

    def stop(self):
        self.released.set()
        self.shutdown()
        self.server_close()
