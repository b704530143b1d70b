"""Answers recorded calls beside the code under test, which sees neither a test nor an answer."""

import contextlib
import importlib
import json
import os
import signal
import sys
from types import FrameType
from typing import Any

from codeenv.guest.pytest_report import Channel
from codeenv.guest.pytest_runner import close_input, prepare_path
from codeenv.guest.replay_values import answer_of, perform, raised
from codeenv.guest.replay_world import Chance, shift_clock

_ANSWER_LIMIT = 4_000
_DAYS = 401
"""Changes year, month and weekday."""


class _TimeUp(BaseException):
    """Raised in a script that takes too long."""


def main(request: dict[str, Any]) -> None:
    """Answer scripts in the order asked for, one record each, and end the process."""
    channel = Channel(3)
    close_input()
    prepare_path(os.getcwd())
    sys.argv[:] = ["pytest"]
    if request["strange"]:
        shift_clock(_DAYS * 86400)
        _import(request["scripts"], Chance())
    signal.signal(signal.SIGALRM, _end)
    for number in request["order"]:
        answer = _answer(request["scripts"][number], request)
        if answer is not None and len(answer) <= _ANSWER_LIMIT:
            channel.send({"script": number, "answer": answer})
    os._exit(0)


def _import(scripts: list[str], chance: Chance) -> None:
    """Import what scripts speak of, and forbid chance from then on."""
    for name in {json.loads(script)[0][0].partition(":")[0] for script in scripts}:
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    chance.forbidden = True


def _answer(script: str, request: dict[str, Any]) -> str | None:
    try:
        signal.setitimer(signal.ITIMER_REAL, request["limit"])
        try:
            return answer_of(perform(json.loads(script)), request["fields"])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _TimeUp:
        return None
    except BaseException as error:  # noqa: BLE001 - also what would end the process
        return raised(error)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _TimeUp
