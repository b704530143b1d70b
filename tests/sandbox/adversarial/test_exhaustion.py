"""An agent that uses up what it can hurts itself alone, and never passes its limits."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from codeenv.errors import SandboxError
from tests.sandbox.adversarial.conftest import answers_or_is_dead, attack, hold, is_alive
from tests.sandbox.conftest import LIMITS

MIB = 1024**2
GOAL = 448 * MIB
"""More than a box's memory and all headroom together."""
MEMORY = {
    "files without a name": """
chunk = bytes(MIB)
while got < GOAL:
    fd = os.memfd_create("x")
    for _ in range(32):
        got += os.write(fd, chunk)
""",
    "shared mappings": """
keep = []
while got < GOAL:
    pages = mmap.mmap(-1, 32 * MIB)
    for at in range(0, 32 * MIB, 4096):
        pages[at] = 1
    keep.append(pages)
    got += 32 * MIB
""",
    "shared segments": """
libc.shmat.restype = ctypes.c_void_p
while got < GOAL:
    segment = libc.shmget(0, 32 * MIB, 0o1600)
    if segment < 0:
        break
    where = libc.shmat(segment, None, 0)
    ctypes.memset(where, 1, 32 * MIB)
    libc.shmdt(ctypes.c_void_p(where))
    got += 32 * MIB
""",
    "sockets": """
keep, chunk = [], bytes(1 << 17)
while got < GOAL:
    pair = socket.socketpair()
    keep.append(pair)
    for one in pair:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        one.setblocking(False)
        try:
            while True:
                got += one.send(chunk)
        except BlockingIOError:
            pass
""",
    "page tables": """
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
step = 2 * MIB
while got < GOAL:
    where = libc.mmap(None, 4096 * step, 1, 0x4022, -1, 0)
    if where == 2**64 - 1:
        break
    for n in range(4096):
        ctypes.string_at(where + n * step, 1)
        got += 4096
""",
}
TEMPORARY = """
chunk = bytes(MIB)
for folder in ("/workspace", "/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/run"):
    try:
        for n in range(3):
            with open(f"{folder}/{n}", "wb", buffering=0) as file:
                while True:
                    written = file.write(chunk)
                    got += written
                    if written < MIB:
                        break
    except OSError as error:
        answers[folder] = name(error.errno)
"""
SMALL = """
for folder in ("/workspace", "/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/run"):
    try:
        for n in range(30_000):
            os.close(os.open(f"{folder}/{n}", os.O_CREAT | os.O_WRONLY))
            got += 1
    except OSError as error:
        answers[folder] = name(error.errno)
"""
KINDS = {
    "open files": """
for _ in range(24):
    if os.fork() == 0:
        try:
            while True:
                os.dup(0)
        except OSError:
            signal.pause()
""",
    "pipes": """
keep = []
try:
    while True:
        reader, writer = os.pipe()
        keep.append((reader, writer))
        os.set_blocking(writer, False)
        try:
            while os.write(writer, bytes(1 << 16)):
                pass
        except BlockingIOError:
            pass
except OSError:
    pass
""",
    "zombies": """
try:
    while True:
        if os.fork() == 0:
            os._exit(0)
except OSError:
    pass
""",
    "threads": """
import threading
threading.stack_size(1 << 16)
try:
    while True:
        threading.Thread(target=signal.pause, daemon=True).start()
except RuntimeError:
    pass
""",
    "locks": """
fd = os.open("/tmp/locked", os.O_CREAT | os.O_RDWR)
for n in range(5000):
    fcntl.lockf(fd, fcntl.LOCK_EX, 1, (5000 - n) * 2)
for each in ("/usr/bin/bash", "/usr/bin/env", "/etc/passwd"):
    fcntl.flock(os.open(each, os.O_RDONLY), fcntl.LOCK_EX)
""",
    "watches": """
for _ in range(100):
    watch = libc.inotify_init()
    for folder in (b"/", b"/usr", b"/usr/bin", b"/usr/lib", b"/etc", b"/workspace", b"/tmp"):
        libc.inotify_add_watch(watch, folder, 0xfff)
""",
    "folders": """
for n in range(5900):
    try:
        os.mkdir("d")
        os.chdir("d")
    except OSError:
        break
""",
    "events": """
import select
keep = [os.eventfd(0) for _ in range(900)]
for _ in range(200):
    poll = select.epoll()
    for each in keep:
        poll.register(each)
""",
    "segments": """
for _ in range(2000):
    libc.semget(0, 250, 0o600)
while libc.msgget(0, 0o600) >= 0 and got < 2000:
    got += 1
""",
    "processes that come and go": """
def breed():
    while True:
        try:
            if os.fork() == 0:
                os.fork()
                os._exit(0)
            os.wait()
        except OSError:
            pass
try:
    for _ in range(10):
        if os.fork() == 0:
            breed()
except OSError:
    pass
""",
}
START = f"MIB, GOAL, got = {MIB}, {GOAL}, 0\n"


def _attacked(box, code):
    """Attack and go on holding what was had; a box that dies of it is a box that died."""
    try:
        return hold(box, START + code + "\nanswers['got'] = got\n")
    except SandboxError:
        return {}


@pytest.mark.parametrize("kind", MEMORY)
def test_memory_ends_at_the_limit_whatever_it_is_used_for(walled, neighbour, kind):
    box = walled.open()
    answers = _attacked(box, MEMORY[kind])

    assert is_alive(neighbour)
    assert answers_or_is_dead(box)
    assert is_alive(walled.open())
    assert answers.get("got", 0) < GOAL


def test_temporary_and_other_files_together_end_at_the_limit(walled_box, neighbour):
    answers = attack(walled_box, START + TEMPORARY + "\nanswers['got'] = got\n")

    assert answers.pop("got") <= LIMITS.disk + 2 * MIB
    assert set(answers.values()) <= {"ENOSPC", "EFBIG", "EACCES"}
    assert is_alive(walled_box)
    assert is_alive(neighbour)


def test_small_files_end_at_the_limit_in_every_folder(walled_box, neighbour):
    answers = attack(walled_box, START + SMALL + "\nanswers['got'] = got\n")

    assert is_alive(walled_box)
    assert is_alive(neighbour)
    assert answers.pop("got") <= 2 * LIMITS.files + 2000
    assert set(answers.values()) <= {"ENOSPC", "EACCES"}
    assert len(answers) == 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_that_uses_up(walled, neighbour, kind):
    box = walled.open()
    _attacked(box, KINDS[kind])

    assert is_alive(neighbour)
    assert answers_or_is_dead(box)
    box.close()
    assert is_alive(walled.open())


def test_a_flood_of_output_leaves_the_others_their_turn(walled, neighbour):
    boxes = [walled.open() for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        floods = [pool.submit(box.exec, "yes | tee /dev/fd/2", timeout=1.0) for box in boxes]
        assert is_alive(neighbour)
        assert all(flood.result().timed_out for flood in floods)
    assert all(map(is_alive, boxes))
