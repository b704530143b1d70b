"""What every wall promises: limits, no privilege, no network, nothing of this machine."""

import json
from pathlib import Path

import pytest

from codeenv.sandbox.image import Mount
from codeenv.tree import Entry, Tree

PROBE = """
import ctypes, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments)
    return os.strerror(ctypes.get_errno()) if result < 0 else "allowed"
def sock(family, kind=socket.SOCK_STREAM, protocol=0):
    try:
        socket.socket(family, kind, protocol).close()
    except OSError as error:
        return error.strerror
    return "allowed"
print(json.dumps({
    "mount": call("mount", b"tmpfs", b"/tmp", b"tmpfs", 0, None),
    "umount": call("umount2", b"/workspace", 2),
    "chroot": call("chroot", b"/tmp"),
    "unshare user": call("unshare", 0x10000000),
    "unshare mount": call("unshare", 0x00020000),
    "unshare files": call("unshare", 0x400),
    "setns": call("setns", 0, 0),
    "ptrace": call("ptrace", 16, 1, 0, 0),
    "keyctl": call("syscall", 250, 0, -3, 0),
    "bpf": call("syscall", 321, 0, 0, 0),
    "io_uring": call("syscall", 425, 1, 0),
    "clone3": call("syscall", 435, 0, 0),
    "userfaultfd": call("syscall", 323, 0),
    "setuid": call("setuid", 0),
    "mknod": call("mknod", b"/tmp/null", 0o20666, 0x103),
    "vsock": sock(40), "alg": sock(38, socket.SOCK_SEQPACKET), "packet": sock(17, socket.SOCK_RAW),
    "raw": sock(2, socket.SOCK_RAW, 1), "inet": sock(2), "unix": sock(1),
}))
"""
REFUSED = {"Operation not permitted", "Function not implemented"}
NO_SUCH_USER = "Invalid argument"
NO_FAMILY = "Address family not supported by protocol"
BOMB = """
import os
n = 0
try:
    while True:
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "30"])
        n += 1
except OSError as error:
    print(n, error.strerror)
"""


def _python(box, code, *, timeout=30.0):
    return box.exec(["python3", "-c", code], timeout=timeout)


def test_calls_that_lead_out_are_refused(walled_box):
    answers = json.loads(_python(walled_box, PROBE).text)
    allowed = {answers.pop(name) for name in ("inet", "unix", "unshare files")}

    assert allowed == {"allowed"}
    assert answers.pop("setuid") == NO_SUCH_USER
    assert {answers.pop(name) for name in ("vsock", "alg", "packet")} == {NO_FAMILY}
    assert {name: answer for name, answer in answers.items() if answer not in REFUSED} == {}


def test_commands_have_no_privilege(walled_box):
    status = walled_box.exec("cat /proc/self/status").text.splitlines()
    facts = dict(line.split(":\t", 1) for line in status if ":\t" in line)

    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(facts[name], 16) == 0
    assert facts["NoNewPrivs"] == "1"
    assert facts["Seccomp"] == "2"
    assert facts["Uid"].split() == ["1000"] * 4
    assert facts["Gid"].split() == ["1000"] * 4


def test_commands_run_as_a_user_with_a_name_and_a_home(walled_box):
    assert walled_box.exec("id -un; echo ~; cd ~ && touch mine && ls").text == (
        "agent\n/home/agent\nmine\n"
    )


def test_a_setuid_program_gains_nothing(walled_box):
    assert walled_box.exec("su -c id < /dev/null").exit_code != 0


def test_only_the_loopback_network_is_there(walled_box):
    lines = walled_box.exec("cat /proc/net/dev").text.splitlines()[2:]
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"

    assert [line.split(":")[0].strip() for line in lines] == ["lo"]
    assert "Network is unreachable" in _python(walled_box, code).text


def test_the_loopback_network_works(walled_box):
    code = (
        "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
        "c = socket.create_connection(('localhost', s.getsockname()[1]))\nprint('connected')"
    )

    assert _python(walled_box, code).text == "connected\n"


def test_localhost_is_found_by_those_who_ask_for_configured_addresses_only(walled_box):
    code = (
        "import socket as s\n"
        "print(s.getaddrinfo('localhost', 80, s.AF_INET, s.SOCK_STREAM, flags=s.AI_ADDRCONFIG))"
    )

    assert "('127.0.0.1', 80)" in _python(walled_box, code).text


@pytest.mark.skipif(
    not Path("/proc/net/if_inet6").exists(), reason="the kernel of this machine has no IPv6"
)
def test_the_loopback_network_works_by_its_ipv6_address(walled_box):
    code = (
        "import socket\ns = socket.create_server(('::1', 0), family=socket.AF_INET6)\n"
        "c = socket.create_connection(s.getsockname()[:2])\nprint('connected')"
    )

    assert _python(walled_box, code).text == "connected\n"


@pytest.mark.parametrize("place", ["/", "/usr", "/etc", "/opt", "/dev", "/proc", "/home", "/var"])
def test_the_base_cannot_be_written(walled_box, place):
    assert walled_box.exec(f"touch {place}/new").exit_code != 0


def test_an_environment_layer_and_a_mounted_tree_cannot_be_written(walled):
    tools = Mount("/opt/tools", Tree({"lib/tool.txt": Entry(b"tool"), "run": Entry(b"", "exec")}))
    box = walled.open(mounts=[tools])

    assert box.exec("cat /opt/tools/lib/tool.txt; test -x /opt/tools/run").text == "tool"
    for change in ("touch new", "rm run", "echo x > lib/tool.txt", "chmod 777 .", "mkdir lib/new"):
        result = box.exec(change, cwd="/opt/tools")
        assert result.exit_code != 0
        assert "Read-only file system" in result.text


HOARD = """
import os, socket, time
here = os.open(".", os.O_RDONLY)
pairs = []
try:
    while True:
        pairs.append(socket.socketpair())
        for _ in range(8):
            socket.send_fds(pairs[-1][0], [b"x"], [here] * 250)
except OSError as error:
    print(error.errno, flush=True)
time.sleep(60)
"""


def test_what_the_kernel_counts_by_user_is_not_shared_between_boxes(walled):
    hoarder = walled.open()
    hoarder.exec(f"python3 -c '{HOARD}' > hoard 2>&1 & until test -s hoard; do :; done", timeout=30)
    assert hoarder.read_file("hoard") == b"109\n"  # ETOOMANYREFS: none can be sent any more

    other = walled.open()

    assert other.exec("echo alive").text == "alive\n"
    assert hoarder.exec("echo alive").text == "alive\n"


def test_init_cannot_be_killed_read_or_traced(walled_box):
    for sign in ("KILL", "TERM", "INT", "STOP", "ALRM", "USR1"):
        walled_box.exec(f"kill -{sign} 1")
    tried = "ls /proc/1/fd /proc/1/root /proc/1/cwd; cat /proc/1/environ /proc/1/mem; kill -9 -1"
    result = walled_box.exec(tried)

    assert "codeenv" not in result.text
    assert result.text.count("Permission denied") >= 4
    assert walled_box.exec("echo alive").text == "alive\n"


def test_processes_of_this_machine_and_of_other_boxes_are_not_seen(walled):
    first, second = walled.open(), walled.open()
    first.exec("sleep 341 > /dev/null &")

    assert "sleep" in first.exec("cat /proc/[0-9]*/comm").text
    assert "sleep" not in second.exec("cat /proc/[0-9]*/comm").text
    assert int(second.exec("ls -d /proc/[0-9]* | wc -l").text) < 8


def test_files_of_the_wall_are_not_seen(walled_box):
    listing = walled_box.exec("ls -A /run /tmp /var/tmp /dev/shm /home/agent | grep -v :").text

    assert listing.split() == []


def test_a_fork_bomb_ends_at_the_limit_of_processes(walled_box):
    count, _, problem = _python(walled_box, BOMB).text.strip().partition(" ")

    assert problem == "Resource temporarily unavailable"
    assert 10 < int(count) < 60


def test_a_fork_bomb_is_killed_whole_at_its_deadline(walled_box):
    result = walled_box.exec("f() { f | f & }; f; sleep 60", timeout=1)

    assert result.timed_out
    assert int(walled_box.exec("ls -d /proc/[0-9]* | wc -l").text) < 8


def test_one_process_over_the_memory_limit_fails_alone(walled_box):
    result = _python(walled_box, "x = bytearray(400 * 1024**2); print(len(x))")

    assert result.exit_code != 0
    assert str(400 * 1024**2) not in result.text
    assert walled_box.exec("echo alive").text == "alive\n"


def test_many_processes_over_the_memory_limit_are_killed(walled_box):
    eat = "python3 -c 'import time; x = bytearray(120 * 1024**2); time.sleep(20)' || echo $?;"
    result = walled_box.exec("".join(f"( {eat} ) & " for _ in range(4)) + "wait -n", timeout=15)

    assert not result.timed_out
    assert "137" in result.text
    assert result.exhausted == ("memory",)
    after = walled_box.exec("echo alive")
    assert (after.text, after.exhausted) == ("alive\n", ())


def test_files_over_the_disk_limit_do_not_fit(walled_box):
    result = walled_box.exec("head -c 60M /dev/zero > a; head -c 60M /dev/zero > /tmp/b")

    assert "No space left" in result.text
    assert result.exhausted == ("disk",)
    after = walled_box.exec("rm a /tmp/b; echo fits > c")
    assert (after.exit_code, after.exhausted) == (0, ())


def test_more_files_than_there_is_room_for_are_told_apart_from_a_full_disk(walled_box):
    result = walled_box.exec("mkdir many; cd many; seq 7000 | xargs touch")

    assert "No space left" in result.text
    assert result.exhausted == ("files",)


def test_one_file_over_the_disk_limit_is_refused(walled_box):
    assert walled_box.exec("truncate -s 1T huge").exit_code != 0


def test_devices_that_programs_need_are_there(walled_box):
    script = (
        "head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo x > /dev/null;"
        "echo y 2> /dev/null > /dev/full || echo full; test -c /dev/tty && echo tty;"
        "cat <(echo fd); python3 -c 'import pty; pty.openpty(); print(\"pty\")'"
    )

    assert walled_box.exec(script).text.split() == ["4", "4", "full", "tty", "fd", "pty"]


def test_semaphores_and_shared_memory_work(walled_box):
    code = (
        "import multiprocessing as m\n"
        "m.Lock(); m.Queue()\n"
        "with m.Pool(1) as pool:\n"
        "    print(*pool.map(abs, [-1]))\n"
    )

    assert _python(walled_box, code).text == "1\n"
