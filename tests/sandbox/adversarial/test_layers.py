"""What lies below a box is the same after whatever an agent has tried."""

from pathlib import Path

import pytest

from codeenv.sandbox.image import Image, Layer, Mount
from codeenv.tree import Entry, Tree
from tests.sandbox.adversarial.conftest import attack, hold, is_alive
from tests.sandbox.conftest import LIMITS, WORKSPACE

TOOLS = Tree({"lib/tool.txt": Entry(b"tool\n"), "run": Entry(b"#!/bin/sh\necho t\n", "exec")})
MOUNT = Mount("/opt/tools", TOOLS)
CHANGES = """
def reopen(path, flags):
    held = os.open(path, os.O_PATH)
    try:
        os.write(os.open(f"/proc/self/fd/{held}", flags), b"x")
    finally:
        os.close(held)
def map_shared(path):
    mmap.mmap(os.open(path, os.O_RDONLY), 1, flags=mmap.MAP_SHARED, prot=3)
def link_descriptor(what, path, into):
    held = f"/proc/self/fd/{os.open(path, os.O_RDONLY)}".encode()
    call(what, libc.linkat, -100, held, -100, into.encode(), 0x400)
def flags(path):
    fcntl.ioctl(os.open(path, os.O_RDONLY), 0x40086602, struct.pack("l", 0x10))
for path in PATHS:
    attempt(path + " open", os.open, path, os.O_RDWR)
    attempt(path + " append", os.open, path, os.O_WRONLY | os.O_APPEND)
    attempt(path + " truncate", os.truncate, path, 0)
    attempt(path + " reopen", reopen, path, os.O_RDWR)
    attempt(path + " map", map_shared, path)
    attempt(path + " mode", os.chmod, path, 0o6777)
    attempt(path + " owner", os.chown, path, 1000, 1000)
    attempt(path + " time", os.utime, path, (1, 1))
    attempt(path + " attribute", os.setxattr, path, "user.overlay.opaque", b"y")
    attempt(path + " flags", flags, path)
    attempt(path + " remove", os.unlink, path)
    attempt(path + " replace", os.rename, "/workspace/README.md", path)
    attempt(path + " rename", os.rename, path, path + "x")
    for into in ("/workspace/hard", "/tmp/hard", path + ".hard"):
        attempt(f"{path} link {into}", os.link, path, into)
        link_descriptor(f"{path} link by descriptor {into}", path, into)
        attempt(f"{path} move {into}", os.rename, path, into)
    call(path + " exchange", libc.renameat2, -100, path.encode(), -100, b"/workspace/link", 2)
    attempt(path + " new beside", os.open, path + ".new", os.O_CREAT | os.O_WRONLY)
    attempt(path + " folder beside", os.mkdir, path + ".d")
    attempt(path + " nameless beside", os.open, os.path.dirname(path), os.O_TMPFILE | os.O_RDWR)
"""
REFUSED = {"EROFS", "EACCES", "EXDEV", "EPERM", "ENOTTY"}
PLANTS = """
import shutil
names = ("redirect", "opaque", "metacopy", "origin", "impure", "whiteout", "protattr", "upper",
         "nlink", "uuid", "overlay.redirect", "overlay.opaque")
values = (b"/etc", b"y", b"x", b"../../layers", b"/" + b"a" * 64)
for path in ("README.md", "src", "bin", "data/latin.txt", "."):
    for each in names:
        for value in values:
            attempt("user", os.setxattr, path, "user.overlay." + each, value)
            attempt(f"trusted {path} {each}", os.setxattr, path, "trusted.overlay." + each, value)
os.link("README.md", "hard")
with open("hard", "ab") as file:
    file.write(b"through a hard link")
held = os.open("data/latin.txt", os.O_RDONLY)
os.write(os.open(f"/proc/self/fd/{held}", os.O_RDWR), b"overwritten")
page = mmap.mmap(os.open("src/toy.py", os.O_RDWR), 0)
page[0:3] = b"xxx"
page.flush()
os.chmod("bin/run", 0o4777)
answers["seen"] = sorted(os.listdir("src")), os.listdir("bin")
attempt("whiteout", os.mknod, "white", 0o020000, 0)
attempt("whiteout by a rename", os.stat, "README.md")
call("whiteout by a rename", libc.renameat2, -100, b"hard", -100, b"harder", 4)
shutil.rmtree("data")
os.makedirs("data/deeper")
attempt("move a folder of the layer", os.rename, "bin", "moved")
"""
BELOW = """
for each in os.listdir("/proc/self/map_files"):
    attempt("map", os.open, "/proc/self/map_files/" + each, os.O_RDONLY)
for each in ("/run/codeenv/layers", "/run/codeenv/stage/upper", "/run/codeenv/stage/work"):
    attempt(each, os.listdir, each)
for path in ("/workspace/../run/codeenv", "/home/agent/../../run/codeenv/stage", "/tmp/../0"):
    attempt(path, os.stat, path)
for folder in ("/workspace", "/tmp", "/home/agent", "/dev/shm"):
    attempt("out of " + folder, os.stat, folder + "/../upper")
    attempt("move " + folder, os.rename, folder, folder + ".moved")
    attempt("remove " + folder, os.rmdir, folder)
"""
LEASES = """
for path in ("/opt/tools/lib/tool.txt", "/opt/tools/run", "/workspace/README.md"):
    fd = os.open(path, os.O_RDONLY)
    attempt(path, fcntl.fcntl, fd, 1024, fcntl.F_RDLCK)
    attempt(path, fcntl.fcntl, fd, 1024, fcntl.F_WRLCK)
    fcntl.flock(fd, fcntl.LOCK_EX)
"""


def _reopened(walled, box, **options):
    """Close a box and open the next one on the same host."""
    box.close()
    following = walled.open(**options)
    assert following.host is box.host
    return following


def test_a_mounted_tree_resists_and_the_next_box_has_it_as_it_was(walled):
    box = walled.open(mounts=[MOUNT])
    paths = ["/opt/tools/lib/tool.txt", "/opt/tools/run"]
    answers = attack(box, f"PATHS = {paths}" + CHANGES)

    assert len(answers) == 52
    assert set(answers.values()) <= REFUSED
    following = _reopened(walled, box, mounts=[MOUNT])
    seen = following.exec("cd /opt/tools; find . -printf '%p %m %T@\\n' | sort; cat lib/*; ./run")
    assert seen.text == (
        ". 755 1600000000.0000000000\n./lib 755 1600000000.0000000000\n"
        "./lib/tool.txt 644 1600000000.0000000000\n./run 755 1600000000.0000000000\ntool\nt\n"
    )


def test_the_base_resists(walled_box):
    paths = ["/usr/bin/env", "/usr/bin/bash", "/etc/passwd", "/etc/hosts"]
    answers = attack(walled_box, f"PATHS = {paths}" + CHANGES)

    assert len(answers) == 104
    assert set(answers.values()) <= REFUSED


def test_the_next_box_has_the_workspace_as_it_was_given(walled):
    box = walled.open()
    answers = attack(box, PLANTS)
    following = _reopened(walled, box)

    assert answers["seen"] == [["toy.py"], ["run"]]
    assert {answer for what, answer in answers.items() if what.startswith("trusted")} == {"EPERM"}
    assert following.export() == WORKSPACE
    assert following.exec("stat -c '%a %Y' bin/run README.md").text == (
        "755 1600000000\n644 1600000000\n"
    )
    assert attack(following, "answers['x'] = os.listxattr('src')") == {"x": []}


def test_planted_attributes_show_nothing_of_what_lies_below(walled_box):
    attack(walled_box, PLANTS)
    exported = walled_box.export()

    assert exported["hard" if "hard" in exported else "harder"].data.startswith(b"# toy")
    assert all(not entry.data.startswith(b"root:") for entry in exported.values())
    assert walled_box.exec("ls -d data/*").text == "data/deeper\n"


def test_the_sides_of_the_overlay_cannot_be_reached(walled_box):
    answers = attack(walled_box, BELOW)

    assert answers.pop("map") == "EPERM"
    assert set(answers.values()) <= {"ENOENT", "EROFS", "EBUSY", "EACCES"}


def test_locks_and_leases_on_shared_files_end_with_the_box(walled):
    box = walled.open(mounts=[MOUNT])
    hold(box, LEASES)
    following = _reopened(walled, box, mounts=[MOUNT])

    assert is_alive(following)
    assert following.exec("flock -n /opt/tools/run cat /opt/tools/lib/tool.txt").text == "tool\n"


@pytest.mark.bubblewrap
def test_an_environment_s_folder_on_this_machine_resists(
    bubblewrap_backend, host_image, tmp_path: Path
):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").write_text("#!/bin/sh\necho tool\n")
    (tmp_path / "bin" / "tool").chmod(0o777)
    tmp_path.chmod(0o777)
    layers = (Layer("d", tmp_path, "/opt/env"),)
    image = Image("with a layer", host_image.base, host_image.rootfs, layers)
    with bubblewrap_backend.open(image, WORKSPACE, limits=LIMITS) as box:
        answers = attack(box, "PATHS = ['/opt/env/bin/tool']" + CHANGES)

        assert set(answers.values()) <= REFUSED
        assert box.exec("tool").text == "tool\n"
    assert [path.name for path in tmp_path.rglob("*")] == ["bin", "tool"]
    assert (tmp_path / "bin" / "tool").read_text() == "#!/bin/sh\necho tool\n"
