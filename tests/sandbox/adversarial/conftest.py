"""What the attackers share: programs that try things inside a box and say what came of it."""

import json

import pytest

from codeenv.errors import SandboxError
from codeenv.sandbox.box import Box

PRELUDE = """
import ctypes, errno, fcntl, json, mmap, os, platform, signal, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
answers = {}
def name(number):
    return errno.errorcode.get(number, str(number))
def attempt(what, function, *arguments, **options):
    '''Note the name of the error, or that there was none.'''
    try:
        found = function(*arguments, **options)
    except OSError as error:
        answers[what] = name(error.errno)
    else:
        answers[what] = "done"
        return found
def call(what, function, *arguments):
    '''As attempt, for functions that return a negative number and set errno.'''
    ctypes.set_errno(0)
    found = function(*arguments)
    answers[what] = name(ctypes.get_errno()) if found < 0 else "done"
    return found
def syscall(what, number, *arguments):
    '''As call, for a system call by its number.'''
    given = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    return call(what, libc.syscall, ctypes.c_long(number), *given)
def opened(path, flags=os.O_RDONLY):
    '''Open and close; of a file that can be read, read a little.'''
    fd = os.open(path, flags | os.O_NONBLOCK)
    try:
        if flags == os.O_RDONLY and not os.path.isdir(path):
            os.read(fd, 16)
    finally:
        os.close(fd)
"""
ANSWER = "\nprint(json.dumps(answers), flush=True)\n"
HOLD = """
null = os.open(os.devnull, os.O_RDWR)
for standard in (0, 1, 2):
    os.dup2(null, standard)
"""
"""Let go of the command's pipes, so that the program may go on behind its back."""
PAUSE = "while True: signal.pause()\n"
ALIVE = "echo alive"
SHORT = 5.0
"""Seconds that a box may take to answer something simple while others attack."""


def python(box: Box, code: str, *, timeout: float = 20.0):
    """Run a program in a box."""
    return box.exec(["python3", "-c", code], timeout=timeout)


def attack(box: Box, code: str, *, timeout: float = 20.0) -> dict:
    """Run a program that attempts things; return what became of each."""
    result = python(box, PRELUDE + code + ANSWER, timeout=timeout)
    assert result.exit_code == 0, result.text
    return json.loads(result.output.splitlines()[-1])


def hold(box: Box, code: str, then: str = PAUSE) -> dict:
    """Run such a program behind the box's back; return its answers while it goes on.

    Without an answer it did not live to give one, and nothing is returned.
    """
    program = PRELUDE + code + ANSWER + HOLD + then
    command = '(setsid python3 -c "$CODE" &) | head -n 1'
    result = box.exec(command, env={"CODE": program}, timeout=20.0)
    assert "Traceback" not in result.text, result.text
    lines = [line for line in result.output.splitlines() if line.startswith(b"{")]
    return json.loads(lines[-1]) if lines else {}


def is_alive(box: Box) -> bool:
    """Return whether a box answers soon."""
    return box.exec(ALIVE, timeout=SHORT).text == "alive\n"


def answers_or_is_dead(box: Box) -> bool:
    """Return whether a box answers soon, or is reported dead: nothing between the two."""
    try:
        result = box.exec(ALIVE, timeout=SHORT)
    except SandboxError:
        return True
    refused = result.exit_code == 126 and "cannot run bash" in result.text
    return result.text == "alive\n" or refused


@pytest.fixture
def neighbour(walled) -> Box:
    """Another agent's box, open while this one is attacked from."""
    return walled.open()
