"""An agent reads nothing of other boxes, of other tasks, of the wall and of this machine."""

import os
import socket
from pathlib import Path

import pytest

from codeenv._paths import cache_folder
from codeenv.tree import Entry, Tree
from tests.sandbox.adversarial.conftest import attack, hold

SECRET = "s3cret-of-a-neighbour"
PLANT = f"""
for folder in ("/workspace", "/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/run"):
    with open(folder + "/planted", "w") as file:
        file.write("{SECRET}")
listener = socket.socket(socket.AF_UNIX)
listener.bind("\\0{SECRET}")
listener.listen()
named = socket.socket(socket.AF_UNIX)
named.bind("/tmp/{SECRET}")
named.listen()
libc.shmget(4711, 4096, 0o1666)
libc.msgget(4711, 0o1666)
libc.semget(4711, 1, 0o1666)
libc.mq_open(b"/queue", os.O_CREAT | os.O_RDWR, 0o666, None)
"""
SEARCH = f"""
found, base = [], os.stat("/usr").st_dev
def is_base(path):
    return path == "/usr" or os.path.ismount(path) and os.stat(path).st_dev == base
for where, folders, files in os.walk("/"):
    folders[:] = [each for each in folders if not is_base(os.path.join(where, each))]
    if where == "/":
        folders[:] = [each for each in folders if each not in ("proc", "sys")]
    for each in files:
        path = os.path.join(where, each)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            if b"{SECRET}" in os.read(fd, 1 << 16):
                found.append(path)
            os.close(fd)
        except OSError:
            continue
answers["found"] = found
"""
JOIN = f"""
abstract, by_path = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
attempt("abstract", abstract.connect, "\\0{SECRET}")
attempt("path", by_path.connect, "/tmp/{SECRET}")
call("shared memory", libc.shmget, 4711, 0, 0o666)
call("messages", libc.msgget, 4711, 0o666)
call("semaphores", libc.semget, 4711, 0, 0o666)
call("queue", libc.mq_open, b"/queue", os.O_RDWR)
"""
PROCESSES = """
answers["seen"] = sorted(int(each) for each in os.listdir("/proc") if each.isdigit())
answers["own"] = [1, os.getpid()]
answers["hit"] = []
for pid in range(2, 70_000):
    try:
        os.kill(pid, 0)
        answers["hit"].append(pid)
    except ProcessLookupError:
        continue
"""
LAYERS = """
paths = {"/run/codeenv", "/run/codeenv/layers", "/run/codeenv/stage", "/run/door", "/newroot"}
for line in open("/proc/self/mountinfo"):
    fields, _, (kind, source, options) = [part.split() for part in line.partition(" - ")]
    for option in options.split(","):
        key, _, value = option.partition("=")
        if key in ("lowerdir", "upperdir", "workdir"):
            paths.update(value.split(":"))
    if fields[3].startswith(("/var/lib/", "/tmp/", "/docker/")):
        paths.update((fields[3], fields[3].removesuffix("//deleted")))
answers["overlays"] = sum("layers" in path for path in paths)
for path in paths:
    attempt(path, os.stat, path)
    attempt("of root: " + path, os.stat, "/proc/self/root" + path)
"""
HANDLES = """
number = {"x86_64": (303, 304), "aarch64": (264, 265)}[platform.machine()]
which = ctypes.c_int()
for path in (b"/workspace/README.md", b"/tmp", b"/usr"):
    room = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136)
    libc.syscall(number[0], -100, path, room, ctypes.byref(which), 0)
    folder = os.open(path.decode(), os.O_RDONLY)
    syscall(path.decode(), number[1], folder, room, os.O_RDONLY)
"""
CLIMB = """
root = os.stat("/")
os.chdir("/workspace")
for _ in range(64):
    os.chdir("..")
answers["climbed"] = os.path.samestat(os.stat("."), root)
folder = os.open("/", os.O_RDONLY)
answers["climbed by descriptors"] = os.path.samestat(os.stat("..", dir_fd=folder), root)
for link in ("root", "cwd", "exe"):
    attempt(link, os.readlink, f"/proc/1/{link}")
    attempt(f"thread's {link}", os.readlink, f"/proc/1/task/1/{link}")
for each in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"):
    attempt("space " + each, os.readlink, "/proc/1/ns/" + each)
    attempt("open space " + each, opened, "/proc/1/ns/" + each)
for path in ("root/etc/shadow", "root/run/codeenv", "root", "cwd", "fd", "task/1/root"):
    attempt(path, os.listdir, "/proc/1/" + path)
    attempt("enter " + path, os.chdir, "/proc/1/" + path)
"""
OF_THE_SERVER = """
for each in ("auxv", "environ", "fd", "fdinfo", "io", "map_files", "maps", "mem", "mountstats",
             "ns", "numa_maps", "pagemap", "personality", "smaps", "stack", "syscall"):
    if os.path.lexists(f"/proc/self/{each}"):
        attempt(each, opened, f"/proc/1/{each}")
for each in ("mem", "clear_refs", "oom_score_adj", "uid_map", "gid_map", "setgroups", "comm"):
    attempt("write " + each, opened, f"/proc/1/{each}", os.O_WRONLY)
"""


@pytest.fixture
def other(walled):
    """A box that holds a secret in every way it can."""
    box = walled.open(Tree({"task.txt": Entry(SECRET.encode())}))
    assert hold(box, PLANT + "answers['ready'] = True") == {"ready": True}
    return box


def test_no_path_leads_to_a_file_of_another_box(other, walled_box):
    assert attack(other, SEARCH)["found"]
    assert attack(walled_box, SEARCH)["found"] == []


def test_sockets_queues_and_memory_of_another_box_do_not_exist(other, walled_box):
    assert set(attack(other, JOIN).values()) == {"done"}
    assert attack(walled_box, JOIN) == {
        "abstract": "ECONNREFUSED",
        "path": "ENOENT",
        "shared memory": "ENOENT",
        "messages": "ENOENT",
        "semaphores": "ENOENT",
        "queue": "ENOENT",
    }


def test_no_number_names_a_process_of_another_box_or_of_this_machine(other, walled_box):
    answers = attack(walled_box, PROCESSES)

    assert answers["seen"] == answers["own"]
    assert answers["hit"] == answers["own"][1:]


def test_folders_that_the_mount_table_names_cannot_be_reached(walled_box):
    answers = attack(walled_box, LAYERS)

    assert answers.pop("overlays") > 0
    assert set(answers.values()) == {"ENOENT"}


def test_a_file_handle_opens_nothing(walled_box):
    answers = attack(walled_box, HANDLES)

    assert answers == dict.fromkeys(("/workspace/README.md", "/tmp", "/usr"), "EPERM")


def test_climbing_ends_at_the_box_s_own_root(walled_box):
    answers = attack(walled_box, CLIMB)

    assert answers.pop("climbed")
    assert answers.pop("climbed by descriptors")
    assert set(answers.values()) == {"EACCES"}


def test_memory_descriptors_and_maps_of_the_tool_server_are_closed(walled_box):
    answers = attack(walled_box, OF_THE_SERVER)

    assert len(answers) > 20
    assert set(answers.values()) == {"EACCES"}


def test_files_of_this_machine_have_no_path_in_a_box(walled_box, tmp_path):
    (tmp_path / "private").write_text(SECRET)
    places = (
        tmp_path / "private", "/var/run/docker.sock", "/run/docker.sock", "/run/containerd",
        cache_folder(), Path(__file__), "/etc/shadow-", "/etc/machine-id",
    )  # fmt: skip
    code = f"for path in {[str(place) for place in places]}: attempt(path, os.stat, path)"

    assert set(attack(walled_box, code).values()) <= {"ENOENT", "EACCES"}
    assert attack(walled_box, SEARCH)["found"] == []


def test_sockets_of_this_machine_are_not_heard(walled_box, tmp_path):
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as by_path:
        abstract.bind(f"\0codeenv-{os.getpid()}")
        by_path.bind(str(tmp_path / "s"))
        for listener in (abstract, by_path):
            listener.listen()
        code = (
            f"attempt('abstract', socket.socket(1).connect, '\\0codeenv-{os.getpid()}')\n"
            f"attempt('path', socket.socket(1).connect, {str(tmp_path / 's')!r})"
        )

        assert attack(walled_box, code) == {"abstract": "ECONNREFUSED", "path": "ENOENT"}
