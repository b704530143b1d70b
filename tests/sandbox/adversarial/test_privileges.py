"""An agent gains no right: no namespace, no mount, no other user, no look into a process."""

from tests.sandbox.adversarial.conftest import attack

SPACES = """
flags = {"time": 0x80, "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000,
         "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}
clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
for what, flag in {**flags, "all": sum(flags.values()), "user and files": 0x10000400}.items():
    call("unshare " + what, libc.unshare, ctypes.c_ulong(flag))
    call("unshare with rubbish above " + what, libc.unshare, ctypes.c_ulong(flag | 1 << 40))
    if what != "time":
        syscall("clone " + what, clone, flag | signal.SIGCHLD, 0, 0, 0, 0)
        syscall("clone with rubbish above " + what, clone, flag | 17 | 1 << 40, 0, 0, 0, 0)
        request = struct.pack("=QQQQQQQQ", flag, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
        answers["clone3 " + what] = ["ENOSYS", syscall("x", 435, request, 64), answers.pop("x")]
own = "/proc/self/ns/"
for each in os.listdir(own):
    fd = os.open(own + each, os.O_RDONLY)
    call("enter " + each, libc.setns, fd, 0)
pidfd = os.pidfd_open(os.getpid())
call("enter own", libc.setns, pidfd, 0x10000000)
"""
MOUNTS = """
attribute = struct.pack("=QQQQ", 1, 0, 0, 0)
pivot, chroot = {"x86_64": (155, 161), "aarch64": (41, 51)}[platform.machine()]
for source, target, kind, flags in (
    (b"tmpfs", b"/tmp", b"tmpfs", 0), (b"/", b"/tmp", None, 4096 | 16384),
    (b"proc", b"/tmp", b"proc", 0), (b"none", b"/", None, 1 << 20 | 16384),
    (b"/workspace", b"/usr", None, 4096), (b"none", b"/usr", None, 32 | 4096),
    (b"/run", b"/tmp", None, 8192), (b"overlay", b"/workspace", b"overlay", 0),
    (b"sysfs", b"/tmp", b"sysfs", 0), (b"cgroup", b"/tmp", b"cgroup", 0),
    (b"/dev/vda", b"/tmp", b"ext4", 0), (b"x", b"/tmp", b"bpf", 0),
):
    call(f"mount {source} {target} {flags}", libc.mount, source, target, kind, flags, None)
for place in (b"/run", b"/proc", b"/workspace", b"/tmp", b"/"):
    for flag in (0, 1, 2, 8):
        call(f"umount {place} {flag}", libc.umount2, place, flag)
syscall("open_tree", 428, -100, b"/", 1 | 0x8000)
syscall("open_tree without a copy", 428, -100, b"/", 0)
syscall("open_tree_attr", 467, -100, b"/", 1, attribute, 32)
syscall("move_mount", 429, -100, b"/run", -100, b"/tmp", 0)
syscall("fsopen", 430, b"tmpfs", 0)
syscall("fsconfig", 431, 0, 6, 0, 0, 0)
syscall("fsmount", 432, 0, 0, 0)
syscall("fspick", 433, -100, b"/usr", 0)
syscall("mount_setattr", 442, -100, b"/usr", 0, struct.pack("=QQQQ", 0, 1, 0, 0), 32)
syscall("pivot_root", pivot, b"/tmp", b"/tmp")
syscall("chroot", chroot, b"/tmp")
"""
USERS = """
for call_name, numbers in (("setuid", (0,)), ("setgid", (0,)), ("setresuid", (0, 0, 0)),
                           ("setresgid", (0, 0, 0)), ("setreuid", (-1, 0)), ("setuid", (65534,))):
    call(f"{call_name} {numbers}", getattr(libc, call_name), *numbers)
attempt("setgroups", os.setgroups, [0])
attempt("chown", os.chown, "README.md", 0, 0)
attempt("file capability", os.setxattr, "README.md", "security.capability",
        struct.pack("=5I", 0x2000001, 0xffffffff, 0, 0xffffffff, 0))
attempt("file capability of this user", os.setxattr, "README.md", "security.capability",
        struct.pack("=6I", 0x3000001, 0xffffffff, 0, 0xffffffff, 0, 1000))
attempt("trusted attribute", os.setxattr, "README.md", "trusted.x", b"1")
attempt("security attribute", os.setxattr, "README.md", "security.x", b"1")
capset = {"x86_64": 126, "aarch64": 91}[platform.machine()]
header = struct.pack("=Ii", 0x20080522, 0)
syscall("capset", capset, header, struct.pack("=6I", *[0xffffffff] * 6))
syscall("capset inheritable", capset, header, struct.pack("=6I", 0, 0, 1 << 21, 0, 0, 1 << 21))
"""
CONTROLS = """
for what, numbers in {
    "ambient": (47, 2, 21), "bounding": (24, 21), "secure bits": (28, 0x2f),
    "memory map": (35, 7, 0), "memory file": (35, 13, 0),
}.items():
    call(what, libc.prctl, *(ctypes.c_ulong(one) for one in (*numbers, 0, 0, 0, 0)[:5]))
call("privileges again", libc.prctl, 38, ctypes.c_ulong(0), 0, 0, 0)
call("no filter again", libc.prctl, 22, ctypes.c_ulong(0), None)
allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fff0000))
class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))
program = Program(1, ctypes.addressof(allow))
call("a filter that allows all", libc.prctl, 22, ctypes.c_ulong(2), ctypes.byref(program))
call("mount behind it", libc.mount, b"tmpfs", b"/tmp", b"tmpfs", 0, None)
call("look after children", libc.prctl, 36, ctypes.c_ulong(1), 0, 0, 0)
call("be seen", libc.prctl, 4, ctypes.c_ulong(1), 0, 0, 0)
attempt("server's memory, being seen", opened, "/proc/1/mem")
libc.mmap.restype = ctypes.c_void_p
libc.personality(0x0100000)
zero = libc.mmap(None, 4096, 3, 0x32, -1, 0)
answers["page zero"] = name(ctypes.get_errno()) if zero == 2**64 - 1 else "done"
"""
SPYING = """
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.read(reader, 1)
    os._exit(0)
piece = struct.pack("=QQ", id(libc), 8)
local = ctypes.create_string_buffer(8)
into = struct.pack("=QQ", ctypes.addressof(local), 8)
numbers = {"x86_64": (101, 310, 311, 312, 279, 256), "aarch64": (117, 270, 271, 272, 239, 238)}
ptrace, read, write, kcmp, move, migrate = numbers[platform.machine()]
for pid in (child, 1, os.getpid()):
    who = {child: "child", 1: "server"}.get(pid, "self")
    for request in (0, 16, 0x4206):
        syscall(f"ptrace {request} {who}", ptrace, request, pid, 0, 0)
    syscall("read " + who, read, pid, into, 1, piece, 1, 0)
    syscall("write " + who, write, pid, into, 1, piece, 1, 0)
    syscall("take a descriptor of " + who, 438, os.pidfd_open(pid), 0, 0)
    syscall("compare " + who, kcmp, pid, os.getpid(), 0, 0, 0)
    syscall("move pages of " + who, move, pid, 0, 0, 0, 0, 0)
    syscall("migrate " + who, migrate, pid, 0, 0, 0)
os.write(writer, b"x")
os.waitpid(child, 0)
"""
KERNEL = """
old = {"x86_64": dict(add_key=248, request_key=249, keyctl=250, bpf=321, perf=298, userfaultfd=323,
           init_module=175, finit_module=313, delete_module=176, kexec_load=246, kexec_file=320,
           reboot=169, swapon=167, swapoff=168, syslog=103, acct=163, settime=164, clock=227,
           adjust=159, clock_adjust=305, quota=179, fanotify=300, vhangup=153, iopl=172,
           ioperm=173, ldt=154, uselib=134),
       "aarch64": dict(add_key=217, request_key=218, keyctl=219, bpf=280, perf=241,
           userfaultfd=282, init_module=105, finit_module=273, delete_module=106, kexec_load=104,
           kexec_file=294, reboot=142, swapon=224, swapoff=225, syslog=116, acct=89, settime=170,
           clock=112, adjust=171, clock_adjust=266, quota=60, fanotify=262, vhangup=58)}
new = dict(io_uring_setup=425, io_uring_enter=426, io_uring_register=427, quotactl_fd=443)
memory = ctypes.create_string_buffer(256)
for what, number in {**old[platform.machine()], **new}.items():
    syscall(what, number, 0, memory, 0, 0, 0, 0)
    syscall(what + " of itself", number, 1, memory, 120, 0, 0, 0)
for keyring in (-1, -2, -3, -4, -5):
    syscall(f"keyring {keyring}", old[platform.machine()]["keyctl"], 0, keyring, 1)
syscall("session keyring", old[platform.machine()]["keyctl"], 1, 0)
attempt("userfaultfd device", opened, "/dev/userfaultfd", os.O_RDWR)
attempt("host name", socket.sethostname, "mine")
"""
OTHER_DOORS = r"""
programs = {
    "32 bit getpid": b"\xb8\x14\0\0\0\xcd\x80\xc3",
    "32 bit mount": b"\xb8\x15\0\0\0\xcd\x80\xc3",
    "32 bit unshare": b"\xb8\x36\x01\0\0\xcd\x80\xc3",
    "32 bit ptrace": b"\xb8\x1a\0\0\0\xcd\x80\xc3",
    "32 bit by sysenter": b"\xb8\x14\0\0\0\x0f\x34\xc3",
    "x32 getpid": b"\xb8\x27\0\0\x40\x0f\x05\xc3",
    "x32 mount": b"\xb8\xa5\0\0\x40\x0f\x05\xc3",
} if platform.machine() == "x86_64" else {}
for what, code in programs.items():
    pid = os.fork()
    if pid == 0:
        page = mmap.mmap(-1, 4096, prot=7)
        page.write(code)
        where = ctypes.addressof(ctypes.c_char.from_buffer(page))
        result = ctypes.CFUNCTYPE(ctypes.c_int)(where)()
        os._exit(-result if -200 < result < 0 else 0)
    answers[what] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""
SETUID = """
import subprocess
shown = {}
def rights(pid):
    lines = open(f"/proc/{pid}/status").read().splitlines()
    return [line.split("\\t", 1)[1] for line in lines if line.startswith(("Uid", "Gid", "CapEff"))]
def start(path):
    return subprocess.Popen([path], stdin=-1, stdout=-3, stderr=-3, start_new_session=True)
import shutil
shutil.copy(os.path.realpath(sys.executable), "python")
os.chmod("python", 0o6755)
found = ["/workspace/python"]
for top in ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/opt"):
    for where, _, files in os.walk(top):
        for each in files:
            path = os.path.join(where, each)
            status = os.lstat(path)
            if status.st_mode & 0o170000 == 0o100000 and status.st_mode & 0o6000:
                found.append(path)
for path in found:
    try:
        program = start(path)
    except PermissionError:
        continue
    shown[path] = rights(program.pid)
    program.kill()
    program.wait()
answers["rights"] = shown
"""
STARVING = """
import resource
for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_CPU):
    attempt(f"limit {limit}", resource.prlimit, 1, limit, resource.getrlimit(limit))
attempt("idle", os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))
attempt("one processor", os.sched_setaffinity, 1, {min(os.sched_getaffinity(0))})
attempt("nice", os.setpriority, os.PRIO_PROCESS, 1, 19)
attempt("nice to all of this user", os.setpriority, os.PRIO_USER, 0, 19)
"""


def test_no_namespace_can_be_made_or_entered(walled_box):
    answers = attack(walled_box, SPACES)
    newest = {what: answers.pop(what) for what in tuple(answers) if what.startswith("clone3")}

    assert len(newest) == 9
    assert all(answer == ["ENOSYS", -1, "ENOSYS"] for answer in newest.values())
    assert set(answers.values()) == {"EPERM"}


def test_nothing_can_be_mounted_moved_or_uncovered(walled_box):
    assert set(attack(walled_box, MOUNTS).values()) == {"EPERM"}


def test_no_other_user_and_no_capability_can_be_had(walled_box):
    answers = attack(walled_box, USERS)

    assert {answer for what, answer in answers.items() if what.startswith("set")} <= {
        "EPERM", "EINVAL",
    }  # fmt: skip
    assert answers["chown"] in ("EPERM", "EINVAL")
    for what in ("file capability", "file capability of this user", "trusted attribute"):
        assert answers[what] == "EPERM"
    assert answers["security attribute"] in ("EPERM", "EOPNOTSUPP")
    assert answers["capset"] == answers["capset inheritable"] == "EPERM"


def test_what_was_given_up_does_not_come_back(walled_box):
    answers = attack(walled_box, CONTROLS)

    harmless = ("a filter that allows all", "look after children", "be seen")
    assert {answers.pop(what) for what in harmless} == {"done"}
    assert answers.pop("privileges again") == answers.pop("no filter again") == "EINVAL"
    assert answers.pop("server's memory, being seen") == "EACCES"
    assert set(answers.values()) == {"EPERM"}


def test_no_process_can_be_looked_into(walled_box):
    answers = attack(walled_box, SPYING)

    assert len(answers) == 27
    assert set(answers.values()) == {"EPERM"}


def test_parts_of_the_kernel_that_no_test_needs_do_not_answer(walled_box):
    answers = attack(walled_box, KERNEL)

    assert answers.pop("userfaultfd device") == "ENOENT"
    assert set(answers.values()) == {"EPERM"}


def test_no_other_way_into_the_kernel_leads_around_the_filter(walled):
    """ENOSYS, or death: by the engine's filter, or since the kernel has no such entry at all."""
    answers = attack(walled.open(), OTHER_DOORS)

    enosys, killed = 38, {-4, -11, -31}
    assert set(answers.values()) <= {enosys, *killed}


def test_programs_that_change_their_user_do_not(walled_box):
    rights = attack(walled_box, SETUID)["rights"]
    ours = ["\t".join(["1000"] * 4)] * 2 + ["0" * 16]

    assert rights.pop("/workspace/python") == ours
    assert all(found == ours for found in rights.values()), rights


def test_the_tool_server_cannot_be_starved_by_its_own_box(walled_box):
    assert set(attack(walled_box, STARVING).values()) == {"EPERM"}
