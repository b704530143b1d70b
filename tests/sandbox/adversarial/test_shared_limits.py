"""What the kernel counts per user or per machine, one box cannot use up for the others."""

import ctypes
import platform

import pytest

from tests.sandbox.adversarial.conftest import attack, hold, is_alive

TAKE = {
    "descriptors under way": """
keep = []
try:
    while True:
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        one.setblocking(False)
        keep.append((one, other))
        try:
            while True:
                socket.send_fds(one, [b"x"], [0] * 253)
        except BlockingIOError:
            continue
except OSError:
    answers["taken"] = True
""",
    "watches": """
while libc.inotify_init() >= 0:
    pass
answers["taken"] = True
""",
    "message queues": """
n = 0
while libc.mq_open(b"/%d" % n, os.O_CREAT | os.O_RDWR, 0o600, None) >= 0:
    n += 1
answers["taken"] = True
""",
    "terminals": """
keep = []
try:
    while True:
        keep.append(os.open("/dev/ptmx", os.O_RDWR))
except OSError:
    answers["taken"] = True
""",
    "locked memory": """
pages = mmap.mmap(-1, 8 << 20)
libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(pages))), 8 << 20)
answers["taken"] = True
""",
    "timers": """
create = {"x86_64": 222, "aarch64": 107}[platform.machine()]
timer = ctypes.c_int()
for _ in range(120_000):
    if libc.syscall(create, 1, None, ctypes.byref(timer)):
        break
answers["taken"] = True
""",
    "pages in pipes": """
keep = []
try:
    while True:
        reader, writer = os.pipe()
        keep.append((reader, writer))
        fcntl.fcntl(writer, 1031, 1 << 20)
except OSError:
    answers["taken"] = True
""",
}
ASYNCHRONOUS = """
setup = {"x86_64": 206, "aarch64": 0}[platform.machine()]
for size in (32000, 4000, 500, 60, 8, 1):
    context = ctypes.c_ulong(0)
    while libc.syscall(setup, size, ctypes.byref(context)) == 0:
        context = ctypes.c_ulong(0)
answers["taken"] = True
"""
USE = """
one, other = socket.socketpair()
attempt("descriptors under way", socket.send_fds, one, [b"x"], [0])
call("watches", libc.inotify_init)
call("message queues", libc.mq_open, b"/queue", os.O_CREAT | os.O_RDWR, 0o600, None)
attempt("terminals", os.openpty)
pages = mmap.mmap(-1, 1 << 20)
call("locked memory", libc.mlock, ctypes.c_void_p(
    ctypes.addressof(ctypes.c_char.from_buffer(pages))), 1 << 20)
create = {"x86_64": 222, "aarch64": 107}[platform.machine()]
syscall("timers", create, 1, None, ctypes.byref(ctypes.c_int()))
attempt("pages in pipes", fcntl.fcntl, os.pipe()[1], 1031, 1 << 16)
"""


@pytest.mark.parametrize("what", TAKE)
def test_one_box_does_not_use_up(walled, walled_box, neighbour, what):
    hold(walled_box, TAKE[what])

    assert is_alive(neighbour)
    assert is_alive(walled.open())
    assert attack(neighbour, USE)[what] == "done"


def test_one_box_does_not_use_up_this_machine_s_asynchronous_input(walled_box):
    hold(walled_box, ASYNCHRONOUS)
    libc, context = ctypes.CDLL(None, use_errno=True), ctypes.c_ulong(0)
    number = {"x86_64": 206, "aarch64": 0}[platform.machine()]

    assert libc.syscall(number, 128, ctypes.byref(context)) == 0
    destroy = {206: 207, 0: 1}[number]
    libc.syscall(destroy, context)
