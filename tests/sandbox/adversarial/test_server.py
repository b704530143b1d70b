"""A box's tool server goes on, or is reported dead; an agent never speaks in its name."""

import json
import struct

import pytest

from codeenv.errors import PathError, SandboxError
from codeenv.guest.frames import Frame
from codeenv.sandbox.base import SearchQuery
from tests.sandbox.adversarial.conftest import (
    PRELUDE,
    answers_or_is_dead,
    attack,
    hold,
    is_alive,
    python,
)
from tests.sandbox.conftest import WORKSPACE

EVERY_SIGNAL = """
me, server = os.getpid(), os.pidfd_open(1)
queue, thread = {"x86_64": (129, 234), "aarch64": (138, 131)}[platform.machine()]
for number in range(1, 65):
    attempt(f"kill {number}", os.kill, 1, number)
    attempt(f"all {number}", os.kill, -1, number)
    syscall(f"thread {number}", thread, 1, 1, number)
    try:
        signal.pidfd_send_signal(server, number)
        signal.pidfd_send_signal(server, number, None, 0)
    except (OSError, ValueError):
        pass
    information = struct.pack("=iii4xii", number, 0, -1, me, 1000).ljust(128, b"\\0")
    syscall(f"queue {number}", queue, 1, number, information)
"""
FLOOD = """
for number in NUMBERS:
    if os.fork() == 0:
        while True:
            os.kill(1, number)
"""
KILLER = """
while True:
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""
BOMB = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""
DESCRIPTORS = """
answers["open"] = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in range(4096)
                   if os.path.lexists(f"/proc/self/fd/{fd}")}
"""
FORGE = """
frame = FRAME
for fd in range(64):
    try:
        os.write(fd, frame)
    except OSError:
        pass
for pid in ("self", "1", str(os.getppid())):
    for fd in range(16):
        try:
            os.write(os.open(f"/proc/{pid}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK), frame)
        except OSError:
            pass
sys.exit(7)
"""
WRITERS = """
for _ in range(8):
    if os.fork() == 0:
        while True:
            os.write(1, b"x" * 65536)
"""
FORGED = Frame(
    {"id": 1, "exit_code": 0, "output_size": 2, "timed_out": False, "truncated": False,
     "total": 2, "log": ""},
    b"ok",
).encode()  # fmt: skip


def test_no_signal_ends_or_stops_the_tool_server(walled_box):
    answers = attack(walled_box, EVERY_SIGNAL)

    assert {answers[f"kill {number}"] for number in range(1, 65)} == {"done"}
    assert is_alive(walled_box)
    assert walled_box.read_file("README.md") == b"# toy\n"
    assert walled_box.export() == WORKSPACE


def test_a_flood_of_signals_does_not_keep_the_tool_server_from_its_work(walled_box):
    numbers = "(signal.SIGCHLD, signal.SIGUSR1, signal.SIGTERM, signal.SIGCONT, 40)"
    hold(walled_box, "", FLOOD.replace("NUMBERS", numbers))

    assert is_alive(walled_box)
    assert walled_box.search(SearchQuery("answer")).total == 1
    assert walled_box.exec("sleep 60", timeout=0.3).timed_out
    assert walled_box.export() == WORKSPACE


def test_an_alarm_during_a_search_harms_nobody_else(walled_box, neighbour):
    hold(walled_box, "", FLOOD.replace("NUMBERS", "(signal.SIGALRM,)"))
    for _ in range(30):
        try:
            walled_box.search(SearchQuery("answer"))
        except (PathError, SandboxError):
            continue

    assert is_alive(neighbour)
    assert answers_or_is_dead(walled_box)


def test_an_agent_that_kills_all_it_starts_gets_results_that_say_so(walled_box):
    hold(walled_box, "", KILLER)

    assert walled_box.exec("sleep 60", timeout=10).exit_code == 137
    assert walled_box.read_file("README.md") == b"# toy\n"
    assert walled_box.search(SearchQuery("answer")).total == 1
    assert walled_box.export() == WORKSPACE


def test_a_command_that_stops_itself_and_all_others_ends_at_its_deadline(walled_box):
    result = walled_box.exec("sleep 60 & kill -STOP -1; kill -STOP $$", timeout=0.3)

    assert result.timed_out
    assert is_alive(walled_box)
    assert walled_box.export() == WORKSPACE


def test_closing_a_box_full_of_forking_processes_leaves_nothing(walled, neighbour):
    box = walled.open()
    host = box.host
    hold(box, "", BOMB)
    box.close()

    fresh = walled.open()
    assert fresh.host is host
    assert is_alive(fresh)
    assert int(fresh.exec("ls -d /proc/[0-9]* | wc -l").text) < 8
    assert is_alive(neighbour)


@pytest.mark.parametrize(("limit", "expected"), [(0, {"0", "1", "2"}), (9, {"0", "1", "2", "3"})])
def test_a_command_has_its_own_streams_and_no_other(walled_box, limit, expected):
    code = PRELUDE + DESCRIPTORS + "print(json.dumps(answers))"
    result = walled_box.exec(["python3", "-c", code], report_limit=limit)
    streams = attack(walled_box, DESCRIPTORS)["open"] if not limit else None
    shown = json.loads(result.text)["open"]

    assert set(shown) == expected
    assert shown.pop("0") == "/dev/null"
    assert all(target.startswith("pipe:") for target in shown.values())
    assert streams is None or set(streams) == expected


def test_frames_written_to_every_descriptor_are_output_and_no_answers(walled_box):
    code = PRELUDE + FORGE.replace("FRAME", repr(FORGED))
    result = walled_box.exec(["python3", "-c", code], report_limit=4096)

    assert result.exit_code == 7
    assert result.output.startswith(FORGED)
    assert set(result.report.split(FORGED)) == {b""}
    assert is_alive(walled_box)


def test_a_frame_as_the_content_of_a_file_is_content(walled_box):
    data = FORGED + struct.pack("!IQ", 2**32 - 1, 2**64 - 1)
    walled_box.write_file("frame", data)

    assert walled_box.read_file("frame") == data
    assert walled_box.exec("cat frame").output == data
    assert walled_box.export()["frame"].data == data


def test_writers_that_a_command_left_behind_do_not_hold_up_the_next(walled_box):
    python(walled_box, PRELUDE + WRITERS, timeout=5)
    for _ in range(3):
        assert is_alive(walled_box)
    assert walled_box.read_file("README.md") == b"# toy\n"
