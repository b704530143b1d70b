"""The way from outside to a program in a box: it is started, asked what it wants, and answered.

The program speaks to ``guest/relay.py``.  What comes from there may be anything.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeenv import guest
from codeenv.errors import SandboxError
from codeenv.sandbox.base import ExecResult, Sandbox
from codeenv_harness.agents.stops import AgentUnavailable

PROGRAM = "/opt/agent"
"""Where what is uploaded is in the box; a program's ``CODEENV_AGENT`` says so, too."""
_PLACE = "CODEENV_AGENT"
_SERVER, _POLLER = "relay.py", "relay_poll.py"
_PYTHON = ("sh", "-c", 'p=/usr/bin/python3; [ -x "$p" ] || p=python3; exec "$p" "$@"', "sh")
"""That of the base; an environment may have an older one."""
_FLAGS = ("-I", "-S", "-W", "ignore")
_LARGEST = 20 * 1024**2
"""Bytes of an event; the server in the box refuses requests long before."""
_CODES = range(-64, 256)
_SHOWN = 12_000
"""Bytes of a program's output that are kept."""
_START = 30.0


@dataclass(frozen=True)
class Asked:
    """A request for the model.

    Attributes:
        number: Names it.
        request: Its body.
    """

    number: int
    request: Mapping[str, Any]


@dataclass(frozen=True)
class Exited:
    """The program is over; ``code`` is None where that cannot be known."""

    code: int | None


@dataclass(frozen=True)
class Nothing:
    """Nothing happened meanwhile."""


@dataclass(frozen=True)
class Reply:
    """What a request is answered with: an HTTP status and a body."""

    number: int
    status: int
    body: Mapping[str, Any]


class Relay:
    """One program in one box."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Take the box; nothing is started yet."""
        self._sandbox, self._folder = sandbox, ""

    def start(
        self, command: str, instruction: str, *, model: str = "", env: Mapping[str, str]
    ) -> None:
        """Start the program in the workspace; its standard input is the instruction.

        Raises:
            AgentUnavailable: If the box has no Python that can serve.
            SandboxError: If it cannot be started.
        """
        self._folder = self._run(("mktemp", "-d", "--tmpdir", "codeenv-relay-XXXXXX")).strip()
        here = Path(guest.__file__).parent
        files = {name: (here / name).read_bytes() for name in (_SERVER, _POLLER)}
        for name, data in {**files, "instruction.md": instruction.encode()}.items():
            self._run(("sh", "-c", 'cat > "$0"', f"{self._folder}/{name}"), data)
        spec = {"command": command, "model": model, "env": dict(env)}
        started = self._python(_SERVER, spec, timeout=_START, env={_PLACE: PROGRAM})
        if started.exit_code in (1, 126, 127):
            raise AgentUnavailable(
                f"the box cannot serve a program: {started.text[-300:].strip()}",
                hint="the environment's image needs Python 3.9 or newer as python3",
            )
        if started.exit_code:
            raise SandboxError(f"the relay does not start: {started.text[-500:]}")

    def poll(self, wait: float, reply: Reply | None = None) -> Asked | Exited | Nothing:
        """Hand an answer in, and wait for what is next.

        A program can end the relay beside it: then it has exited.

        Raises:
            SandboxError: If the sandbox failed.
        """
        told: dict[str, Any] = {"wait": wait}
        if reply is not None:
            told |= {"id": reply.number, "status": reply.status, "body": reply.body}
        found = self._python(_POLLER, told, timeout=wait + _START, report_limit=_LARGEST)
        return _event(found.report) if found.exit_code == 0 else Exited(None)

    def output(self) -> str:
        """Return what the program wrote, the end of it if that is much."""
        command = ("tail", "-c", str(_SHOWN), f"{self._folder}/output")
        return self._sandbox.exec(command, timeout=_START).text

    def _run(self, command: Sequence[str], data: bytes = b"") -> str:
        done = self._sandbox.exec(command, timeout=_START, stdin=data)
        if done.exit_code:
            raise SandboxError(f"the relay cannot be put into the box: {done.text[-500:]}")
        return done.text

    def _python(
        self,
        script: str,
        told: Mapping[str, Any],
        *,
        timeout: float,
        report_limit: int = 0,
        env: Mapping[str, str] | None = None,
    ) -> ExecResult:
        return self._sandbox.exec(
            (*_PYTHON, *_FLAGS, f"{self._folder}/{script}", self._folder),
            timeout=timeout,
            env=env,
            stdin=json.dumps(told).encode(),
            report_limit=report_limit,
        )


def _event(report: bytes) -> Asked | Exited | Nothing:
    """Read an event; what is none is the end."""
    try:
        event = json.loads(report)
    except (ValueError, RecursionError):
        return Exited(None)
    if not isinstance(event, dict):
        return Exited(None)
    code, number, request = (event.get(name) for name in ("exited", "id", "request"))
    if isinstance(number, int) and isinstance(request, dict):
        return Asked(number, request)
    if "exited" in event:
        return Exited(code if isinstance(code, int) and code in _CODES else None)
    return Nothing()
