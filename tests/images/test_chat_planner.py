"""``chat:MODEL`` against a real HTTP server of our own, also one that fails."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from codeenv.errors import BackendUnavailable, BuildError
from codeenv.images.planners.base import Brief, Install, Run
from codeenv.images.planners.chat import ChatPlanner

BRIEF = Brief("thing 1.0", "3.13.5", {"apt": ["git"]}, [{"command": "true"}], ["log"], {})


@pytest.fixture
def server(monkeypatch):
    """A server that gives ready answers in turn, and keeps what it was asked."""
    answers, asked = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(json.loads(body))
            status, document = answers.pop(0) if answers else (200, message())
            data = json.dumps(document).encode() if not isinstance(document, bytes) else document
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{made.server_port}/v1")
    made.answers, made.asked = answers, asked
    yield made
    made.shutdown()
    made.server_close()


def message(*calls, content="done"):
    """One completion, with calls of (name, arguments)."""
    made = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": text if isinstance(text, str) else json.dumps(text),
            },
        }
        for number, (name, text) in enumerate(calls)
    ]
    said = {"role": "assistant", "content": None if calls else content}
    if made:
        said["tool_calls"] = made
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


class Bench:
    """Notes what it is asked for."""

    def __init__(self):
        self.actions = []

    def act(self, action):
        self.actions.append(action)
        return {"output": f"said {len(self.actions)}"}


def test_a_model_looks_around_installs_and_is_done(server):
    server.answers += [
        (200, message(("run", {"command": "ls"}), ("run", {"command": "pwd"}))),
        (200, message(("install", {"requirements": ["pytest"], "packages": ["zsh"]}))),
        (200, message(("done", {}))),
    ]
    bench = Bench()
    ChatPlanner("some-model").plan(BRIEF, bench)
    assert bench.actions == [
        Run(command="ls"),
        Run(command="pwd"),
        Install(requirements=("pytest",), packages=("zsh",)),
    ]
    first, second, _ = server.asked
    assert first["model"] == "some-model"
    assert json.loads(first["messages"][1]["content"])["checks"] == [{"command": "true"}]
    assert {tool["function"]["name"] for tool in first["tools"]} == {"run", "install", "done"}
    assert "action" not in json.dumps(first["tools"])
    told = [m for m in second["messages"] if m["role"] == "tool"]
    assert [(m["tool_call_id"], json.loads(m["content"])) for m in told] == [
        ("call_0", {"output": "said 1"}),
        ("call_1", {"output": "said 2"}),
    ]


def test_a_model_that_calls_nothing_is_done(server):
    bench = Bench()
    ChatPlanner("m").plan(BRIEF, bench)
    assert bench.actions == []


@pytest.mark.parametrize(
    "call",
    [
        ("run", "{not json"),
        ("run", {"command": 5}),
        ("fly", {}),
        ("install", {"requirements": ["x @ file:///etc/passwd"]}),
        ("run", "[1]"),
    ],
)
def test_a_malformed_call_is_told_to_the_model(server, call):
    server.answers += [(200, message(call)), (200, message())]
    bench = Bench()
    ChatPlanner("m").plan(BRIEF, bench)
    assert bench.actions == []
    assert "cannot be read" in server.asked[1]["messages"][-1]["content"]


def test_a_server_that_is_busy_is_asked_again(server):
    server.answers += [(429, {"error": {"message": "slow down"}}), (500, {}), (200, message())]
    ChatPlanner("m").plan(BRIEF, Bench())
    assert len(server.asked) == 3


def test_a_server_that_speaks_something_else_is_a_clear_error(server):
    server.answers += [(200, b"<html>hello</html>")]
    with pytest.raises(BuildError):
        ChatPlanner("m").plan(BRIEF, Bench())


@pytest.mark.parametrize("status", [401, 404])
def test_a_server_that_refuses_is_a_clear_error(server, status):
    server.answers += [(status, {"error": {"message": "no such model"}})]
    with pytest.raises(BuildError, match="no such model") as caught:
        ChatPlanner("m").plan(BRIEF, Bench())
    assert "OPENAI_API_KEY" in caught.value.hint


def test_without_a_key_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BackendUnavailable) as caught:
        ChatPlanner("m")
    assert "OPENAI_API_KEY" in caught.value.hint
