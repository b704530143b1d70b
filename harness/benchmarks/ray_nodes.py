"""What a second Ray node brings, and what Ray costs against threads.

An agent asks a chat server of this script that thinks a while before each answer, as a model does:
processors are idle most of the time, so that nodes on one machine do not take them from each other.
Each node has as many slots, and each slot as many episodes of the bundled toy, in real boxes.
Throughput is counted from the first episode's start to the last one's end.  Run
``python harness/benchmarks/ray_nodes.py``; it needs the extras ``ray`` and ``chat``.
"""

import argparse
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ray.cluster_utils import Cluster

from codeenv.env.runtime import Runtime
from codeenv.tasks.taskset import Taskset
from codeenv_harness.events import EpisodeEnded, EpisodeStarted, Event
from codeenv_harness.rollout import RunOptions, run
from codeenv_harness.runners import Runner, ThreadRunner, ray_runner

_STORE = 100 * 1024**2


class Model(ThreadingHTTPServer):
    """Looks around in the box for some steps and submits, each after a while."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, steps: int, seconds: float) -> None:
        """Serve on a free port."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.steps, self.seconds = steps, seconds
        self.never = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = sum(message["role"] == "assistant" for message in asked["messages"])
        self.server.never.wait(self.server.seconds)
        last = said + 1 >= self.server.steps
        call = ("submit", {}) if last else ("run_command", {"command": "ls"})
        data = json.dumps(_completion(f"call_{said}", *call)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _completion(identity: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": identity, "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {
        "id": "answer",
        "object": "chat.completion",
        "created": 0,
        "model": "waiting",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def measured(runner: Runner, backend: str, slots: int, waves: int) -> float:
    """Return the episodes a second that so many slots play."""
    times: list[float] = []

    def on_event(event: Event) -> None:
        if isinstance(event, EpisodeStarted | EpisodeEnded):
            times.append(time.monotonic())

    tasks = Taskset.load("toy")
    tasks = tasks.select(tasks.ids[:1])
    options = RunOptions("chat:waiting", rollouts=slots * waves, concurrency=slots)
    with Runtime(backend) as runtime:
        result = run(tasks, options, runtime, on_event, runner=runner)
    if result.summary.valid != slots * waves:
        raise SystemExit(f"only {result.summary.valid} of {slots * waves} rollouts are valid")
    return slots * waves / (times[-1] - times[0])


def main() -> None:
    """Measure threads, one node and two, and print how they compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="bubblewrap")
    parser.add_argument("--slots", type=int, default=4, help="episodes at once, on each node")
    parser.add_argument("--waves", type=int, default=3, help="episodes of each slot")
    parser.add_argument("--steps", type=int, default=20, help="answers of an episode")
    parser.add_argument("--seconds", type=float, default=1.0, help="until an answer")
    args = parser.parse_args()
    model = Model(args.steps, args.seconds)
    os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{model.server_address[1]}/v1"
    os.environ["OPENAI_API_KEY"] = "any"
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": _STORE}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        threads = measured(ThreadRunner(), args.backend, args.slots, args.waves)
        print(f"threads, {args.slots} slots: {threads:.3f} episodes/s", flush=True)
        found = []
        for nodes in (1, 2):
            cluster.add_node(num_cpus=2, object_store_memory=_STORE)
            runner, slots = ray_runner(cluster.address), args.slots * nodes
            found.append(measured(runner, args.backend, slots, args.waves))
            print(f"ray, {nodes} x {args.slots} slots: {found[-1]:.3f} episodes/s", flush=True)
    finally:
        cluster.shutdown()
    print(f"one node against threads: {found[0] / threads:.2f}")
    print(f"two nodes against twice one node: {found[1] / found[0] / 2:.2f} of linear")


if __name__ == "__main__":
    main()
