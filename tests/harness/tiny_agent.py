# ruff: noqa: T201, SIM115
"""A whole coding agent in one file, as somebody else may have written it: shell, loop, model.

It runs in boxes, with nothing but Python: ``tiny_agent.py [--stream]``.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

TOOL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Run a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}


def ask(messages, stream):
    body = {"model": "whatever", "messages": messages, "tools": [TOOL], "temperature": 0.25}
    if stream:
        body.update(stream=True, stream_options={"include_usage": True})
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {
            "Content-Type": "application/json",
            "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
        },
    )
    with urllib.request.urlopen(request) as reply:
        return whole(reply) if stream else json.load(reply)["choices"][0]["message"]


def whole(stream):
    message, usage = {"role": "assistant", "content": None}, None
    for line in stream:
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line[6:])
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            message.update(choice["delta"])
    assert usage, "a stream with usage tells it"
    for call in message.get("tool_calls", ()):
        del call["index"]
    return message


def main():
    print("tiny agent at", os.getcwd(), flush=True)
    instruction = sys.stdin.read()
    assert instruction == open(os.environ["CODEENV_INSTRUCTION"]).read()
    messages = [
        {"role": "system", "content": "You are tiny."},
        {"role": "user", "content": instruction},
    ]
    while True:
        try:
            message = ask(messages, "--stream" in sys.argv)
        except urllib.error.HTTPError as error:
            sys.exit(f"the server says {error.code}: {error.read().decode()}")
        messages.append(message)
        if not message.get("tool_calls"):
            print("done:", message["content"])
            return
        for call in message["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(
                command, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            told = {"role": "tool", "tool_call_id": call["id"], "content": done.stdout}
            messages.append(told)


if __name__ == "__main__":
    main()
