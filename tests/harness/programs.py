"""Programs for boxes, and how tests play them."""

from pathlib import Path

import pytest

from codeenv.env.runtime import Runtime
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents import AgentOptions, agent_factory
from codeenv_harness.agents.resident import mounts_of
from codeenv_harness.episode import play
from codeenv_harness.prices import Price
from tests.harness.chat_server import said

TINY = Path(__file__).with_name("tiny_agent.py")
RUN_TINY = "cmd:python3 $CODEENV_AGENT/tiny_agent.py"


@pytest.fixture(scope="module")
def toy(request):
    taskset = Taskset.load("toy")
    small = min(taskset.recipes, key=lambda r: (r.difficulty.lines, r.id))
    with Runtime(getattr(request, "param", "bubblewrap")) as runtime:
        yield runtime, runtime.task(small, taskset)


def shell(command, **more):
    return said(("shell", {"command": command}), **more)


def played(toy, spec, limits=None, **settings):
    runtime, task = toy
    options = AgentOptions(settings=settings, prices={"m": Price(input=1, output=1)})
    factory = agent_factory(spec, options)
    try:
        episode = runtime.open(task, limits=limits, mounts=mounts_of(factory))
        return play(factory(task), episode, seed=3)
    finally:
        factory.close()


def tiny(toy, flags="", **more):
    return played(toy, f"{RUN_TINY} {flags}", model="m", upload=str(TINY), **more)


ASK = """
import http.client, json, os, urllib.error, urllib.request
url = os.environ.get("OPENAI_BASE_URL", "")
def send(data, path="/chat/completions"):
    data = data if isinstance(data, bytes) or data is None else json.dumps(data).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data)) as reply:
            return json.load(reply)["choices"][0]["message"] if data else reply.status
    except urllib.error.HTTPError as error:
        return error.code
def user(text="hello"):
    return {"role": "user", "content": text}
"""


def written(done):
    return done.trajectory.extra["program"]["output"].strip()


def asking(toy, script, **settings):
    """Play a program that asks as it likes, and writes what it got."""
    spec = f"cmd:python3 - <<'END'\n{ASK}\n{script}\nEND"
    return played(toy, spec, **{"model": "m", "retries": 0, **settings})
