"""Whatever an agent makes of its files, reading them from outside gives a tree or a PathError."""

import hashlib

import pytest

from codeenv.errors import PathError
from codeenv.sandbox.base import Limits, SearchQuery
from codeenv.tree import Entry, Tree
from tests.sandbox.adversarial.conftest import attack, hold, is_alive, python
from tests.sandbox.conftest import WORKSPACE

MIB = 1024**2
VIEW = """
import hashlib
def view(top):
    for where, folders, files in os.walk(top):
        if where == top and ".git" in folders:
            folders.remove(".git")
        for each in (*files, *(one for one in folders if os.path.islink(os.path.join(where, one)))):
            path = os.path.join(where, each)
            status = os.lstat(path)
            kind = status.st_mode & 0o170000
            if kind == 0o120000:
                data, mode = os.fsencode(os.readlink(path)), "link"
            elif kind == 0o100000:
                data = open(path, "rb").read()
                mode = "exec" if status.st_mode & 0o100 else "file"
            else:
                continue
            yield os.path.relpath(path, top), mode, hashlib.sha256(data).hexdigest()
"""
TRICKS = """
import shutil
for each in ("src", "data", "README.md", "bin/run"):
    for key in ("opaque", "whiteout", "redirect", "metacopy", "origin"):
        attempt("plant", os.setxattr, each, "user.overlay." + key, b"y")
os.rename("README.md", "moved.md")
os.makedirs("README.md/inside")
open("README.md/inside/file", "w").close()
shutil.rmtree("data")
os.makedirs("data/deeper")
open("data/deeper/new", "w").write("new")
os.unlink("link")
os.symlink("/etc", "link")
shutil.copytree("src", "copied")
shutil.rmtree("src")
os.rename("copied", "src")
call("exchange", libc.renameat2, -100, b"bin/run", -100, b"moved.md", 2)
call("whiteout", libc.renameat2, -100, b"src/toy.py", -100, b"src/renamed.py", 4)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755)
os.write(fd, b"nameless once")
call("name it", libc.linkat, -100, f"/proc/self/fd/{fd}".encode(), -100, b"named", 0x400)
os.link("named", "twice")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
os.makedirs(".git/hooks")
os.makedirs("sub/.git")
open("sub/.git/kept", "w").close()
open("caf\\udce9 \\n", "w").write("odd name")
os.chmod("data", 0o2777)
"""
LEASES = """
keep = []
for path in ("README.md", "src/toy.py", "fresh", "/tmp/fresh", "/home/agent/fresh"):
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    attempt(path, fcntl.fcntl, fd, 1024, fcntl.F_WRLCK)
    fcntl.flock(fd, fcntl.LOCK_EX)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    keep.append(fd)
"""
LONG = """
name = b"\\xff" * 240
for n in range(13):
    os.mkdir(name)
    os.chdir(name)
for n in range(6_000):
    os.close(os.open(b"%06d" % n + name, os.O_CREAT | os.O_WRONLY))
"""
SPARSE = "for n in range(25): os.truncate(os.open(f'sparse{n}', os.O_CREAT | os.O_RDWR), 10 << 20)"
COUNTERS = """
first, last = (os.open(each, os.O_CREAT | os.O_RDWR) for each in ("a-first", "z-last"))
for n in range(60):
    open(f"m{n}", "wb").write(bytes(1 << 18))
os.pwrite(first, b"%012d" % 0, 0), os.pwrite(last, b"%012d" % 0, 0)
answers["ready"] = True
"""
AWAKE = """
def stay_awake():
    '''Let timers of the kernel continue this process whenever it is stopped.'''
    create, start = {"x86_64": (222, 223), "aarch64": (107, 110)}[platform.machine()]
    signal.signal(signal.SIGCONT, lambda *_: None)
    for n in range(40):
        timer = ctypes.c_int()
        event = struct.pack("=Qii48x", 0, signal.SIGCONT, 0)
        libc.syscall(create, 1, event, ctypes.byref(timer))
        when = struct.pack("=qqqq", 0, 20_000_000, 0, 1_000_000 + n * 500_000)
        libc.syscall(start, timer, 0, when, None)
"""
COUNT = (
    AWAKE
    + """
stay_awake()
n = 0
while True:
    n += 1
    os.pwrite(first, b"%012d" % n, 0)
    os.pwrite(last, b"%012d" % n, 0)
"""
)
CHURN = (
    AWAKE
    + """
for number in range(4):
    if os.fork() == 0:
        stay_awake()
        while True:
            for n in range(150):
                os.makedirs(f"churn{number}/{n}", exist_ok=True)
                open(f"churn{number}/{n}/file", "w").close()
            for n in range(150):
                os.unlink(f"churn{number}/{n}/file")
                os.rmdir(f"churn{number}/{n}")
while True:
    signal.pause()
"""
)
DEEP = "for n in range({depth}): os.mkdir('d'); os.chdir('d')"


def _digests(tree: Tree) -> set[tuple[str, str, str]]:
    return {
        (path, entry.mode, hashlib.sha256(entry.data).hexdigest()) for path, entry in tree.items()
    }


def _exported(box) -> Tree | str:
    """Return the tree, or the code of the error that is the agent's doing."""
    try:
        return box.export()
    except PathError as error:
        return error.code


def test_what_is_exported_is_what_the_box_shows(walled_box):
    answers = attack(walled_box, TRICKS + VIEW + "answers['view'] = list(view('/workspace'))")

    assert {tuple(row) for row in answers["view"]} == _digests(walled_box.export())
    assert answers["exchange"] == "done"


def test_a_fork_of_a_hostile_box_has_its_files_and_nothing_else(walled_box):
    more = """
for folder in ("/tmp", "/home/agent"):
    attempt("whiteout", os.mknod, folder + "/white", 0o020000, 0)
    os.symlink("/workspace/src", folder + "/link")
    os.makedirs(folder + "/closed/inside")
    open(folder + "/closed/inside/file", "w").write("closed")
    os.chmod(folder + "/closed", 0)
open("setuid", "w").close()
os.chmod("setuid", 0o6755)
"""
    attack(walled_box, TRICKS + more)
    with walled_box.fork() as fork:
        assert fork.export() == walled_box.export()
        assert fork.exec("ls /tmp ~; chmod 700 ~/closed; cat ~/closed/inside/file").text == (
            "/home/agent:\nclosed\nlink\n\n/tmp:\nclosed\nlink\nclosed"
        )
        assert fork.exec("cat /etc/hostname; ls /workspace/src/").exit_code == 0


def test_a_workspace_nobody_may_enter_is_exported(walled_box):
    walled_box.exec("echo new > new; chmod 000 /workspace")

    assert _exported(walled_box) == Tree({**WORKSPACE, "new": Entry(b"new\n")})


def test_files_under_lease_and_lock_are_exported(walled_box):
    held = hold(walled_box, LEASES)

    assert set(held) == {"README.md", "src/toy.py", "fresh", "/tmp/fresh", "/home/agent/fresh"}
    assert _exported(walled_box) == Tree({**WORKSPACE, "fresh": Entry(b"")})


def test_files_under_lease_and_lock_go_into_a_fork(walled_box):
    hold(walled_box, LEASES)
    with walled_box.fork() as fork:
        assert fork.exec("ls /tmp ~").text == "/home/agent:\nfresh\n\n/tmp:\nfresh\n"


def test_very_many_bytes_of_names_are_the_agent_s_doing(walled):
    box = walled.open(limits=Limits(files=20_000, memory=256 * MIB, disk=64 * MIB, pids=40))
    python(box, "import os\n" + LONG)

    found = _exported(box)
    assert found == "too_large" or len(found) == len(WORKSPACE) + 6_000
    assert is_alive(box)


def test_files_that_are_all_hole_are_exported_within_the_limits(walled):
    """The reader stands beside the box's files: what it needs must fit beside them."""
    box = walled.open(limits=Limits(memory=256 * MIB, disk=256 * MIB, pids=40))
    python(box, "import os\n" + SPARSE)

    found = _exported(box)
    assert found == "too_large" or len(found) == len(WORKSPACE) + 25
    assert is_alive(box)


def test_processes_that_the_kernel_wakes_stand_still_all_the_same(walled_box):
    assert hold(walled_box, COUNTERS, COUNT) == {"ready": True}
    for _ in range(6):
        tree = walled_box.export()
        first, last = (int(tree[each].data) for each in ("a-first", "z-last"))
        assert first - 1 <= last <= first


def test_a_tree_that_changes_all_the_time_is_exported(walled_box):
    assert hold(walled_box, "answers['ready'] = True", CHURN) == {"ready": True}
    for _ in range(3):
        assert set(WORKSPACE) <= set(walled_box.export())
    assert is_alive(walled_box)


@pytest.mark.parametrize("depth", [1500, 4000])
def test_a_folder_deeper_than_any_path_ends_nothing(walled, depth):
    box = walled.open()
    python(box, "import os\n" + DEEP.format(depth=depth))

    assert _exported(box) == "too_large"
    with pytest.raises(PathError, match="deeper"):
        box.snapshot()
    assert is_alive(box)
    host = box.host
    box.close()
    assert walled.open().host is host


def test_a_folder_deeper_than_any_path_can_be_searched_and_listed(walled_box):
    python(walled_box, "import os\n" + DEEP.format(depth=1500))

    assert walled_box.search(SearchQuery("answer")).total == 1
    assert walled_box.list_files("d", depth=5)[-1].path == "d/d/d/d/d/d"
    assert is_alive(walled_box)
