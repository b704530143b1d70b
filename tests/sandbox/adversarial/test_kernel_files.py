"""An agent changes nothing through the kernel's own file systems, and reads no secret in them."""

from tests.sandbox.adversarial.conftest import attack

SECRETS = """
for each in ("kcore", "kmsg", "kpagecount", "kpageflags", "kpagecgroup", "pagetypeinfo",
             "slabinfo", "timer_list", "vmallocinfo", "sched_debug"):
    attempt(each, opened, "/proc/" + each)
"""
WRITES = """
answers["opened"] = []
for where, folders, files in os.walk("/proc"):
    if where == "/proc":
        folders[:] = [each for each in folders if not each.isdigit() and "self" not in each]
    for each in files:
        path = os.path.join(where, each)
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            answers["opened"].append(path)
        except OSError as error:
            answers.setdefault("errors", []).append(name(error.errno))
answers["errors"] = sorted(set(answers["errors"]))
"""
SWITCHES = """
for each in ("sysrq-trigger", "acpi/wakeup", "irq/default_smp_affinity", "mtrr"):
    attempt(each, opened, "/proc/" + each, os.O_WRONLY)
for each in ("kernel/core_pattern", "kernel/hostname", "kernel/modprobe", "kernel/panic",
             "kernel/printk", "kernel/randomize_va_space", "kernel/shmmax", "kernel/sysrq",
             "kernel/keys/maxkeys", "fs/binfmt_misc/register", "fs/mqueue/msg_max",
             "fs/suid_dumpable", "net/core/somaxconn", "net/ipv4/ip_forward",
             "net/ipv4/ip_unprivileged_port_start", "net/ipv4/ping_group_range",
             "user/max_inotify_instances", "user/max_user_namespaces", "vm/drop_caches",
             "vm/mmap_min_addr", "vm/overcommit_memory"):
    attempt(each, opened, "/proc/sys/" + each, os.O_WRONLY)
"""
OWN = """
def write(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text)
    finally:
        os.close(fd)
attempt("uid_map", write, "/proc/self/uid_map", b"0 0 1\\n")
attempt("gid_map", write, "/proc/self/gid_map", b"0 0 1\\n")
attempt("setgroups", write, "/proc/self/setgroups", b"allow")
attempt("less than its share of the risk", write, "/proc/self/oom_score_adj", b"-1")
attempt("next pid", write, "/proc/sys/kernel/ns_last_pid", b"1")
"""
KEYS = """
answers["keys"] = open("/proc/keys").read() if os.path.exists("/proc/keys") else ""
"""
SYSFS = """
answers["exists"] = os.path.lexists("/sys")
answers["writable"], answers["read-only"] = [], True
for where, folders, files in os.walk("/sys"):
    for each in (*folders, *files):
        path = os.path.join(where, each)
        if not os.path.islink(path) and os.access(path, os.W_OK):
            answers["writable"].append(path)
for each in ("/sys", "/sys/kernel", "/sys/devices", "/sys/module"):
    if answers["exists"]:
        answers["read-only"] &= bool(os.statvfs(each).f_flag & os.ST_RDONLY)
for path in ("/sys/fs/cgroup/x", "/sys/fs/cgroup/memory/x", "/sys/fs/cgroup/pids/x"):
    attempt(path, os.mkdir, path)
for path in ("cgroup.procs", "memory/memory.limit_in_bytes", "memory.max", "pids/pids.max",
             "devices/devices.allow", "memory/cgroup.event_control", "release_agent"):
    attempt(path, opened, "/sys/fs/cgroup/" + path, os.O_WRONLY)
"""
NODES = """
ordinary = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2)}
answers["odd"], answers["disks"] = [], []
for where, folders, files in os.walk("/dev"):
    for each in files:
        path = os.path.join(where, each)
        status = os.lstat(path)
        numbers = (os.major(status.st_rdev), os.minor(status.st_rdev))
        if status.st_mode & 0o170000 == 0o060000:
            answers["disks"].append(path)
        elif status.st_mode & 0o170000 == 0o020000 and numbers not in ordinary:
            answers["odd"].append(path)
for each in ("mem", "kmem", "port", "kmsg", "fuse", "kvm", "loop-control", "loop0", "vda", "sda",
             "nvme0", "net/tun", "vhost-vsock", "vhost-net", "vsock", "console", "tty0", "tty1",
             "userfaultfd", "snd", "dri", "nvidia0", "uinput", "input", "mapper/control", "hpet",
             "cpu/0/msr", "btrfs-control", "rtc0", "watchdog", "autofs", "vfio/vfio", "ptp0"):
    attempt(each, opened, "/dev/" + each, os.O_RDWR)
"""
MAKING = """
for path in ("/workspace/node", "/tmp/node", "/dev/shm/node", "/home/agent/node", "/run/node"):
    for number in ((1, 1), (1, 3), (10, 229), (5, 1)):
        attempt(f"{path} {number}", os.mknod, path, 0o020666, os.makedev(*number))
    attempt(f"{path} disk", os.mknod, path, 0o060666, os.makedev(254, 0))
"""
TERMINALS = """
answers["terminals"] = [fd for fd in range(64) if os.isatty(fd)]
answers["shown"] = sorted(os.listdir("/dev/pts"))
attempt("controlling", os.open, "/dev/tty", os.O_RDWR)
for path in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random"):
    fd = os.open(path, os.O_RDWR)
    attempt("TIOCSTI " + path, fcntl.ioctl, fd, 0x5412, b"x")
    attempt("TIOCLINUX " + path, fcntl.ioctl, fd, 0x541C, b"\\x03")
    attempt("TIOCCONS " + path, fcntl.ioctl, fd, 0x541D)
fd = os.open("/dev/random", os.O_RDWR)
attempt("entropy", fcntl.ioctl, fd, 0x40045201, struct.pack("i", 8))
attempt("clear pool", fcntl.ioctl, fd, 0x5206)
"""


def test_what_only_the_administrator_reads_stays_closed(walled_box):
    assert set(attack(walled_box, SECRETS).values()) <= {"EACCES", "ENOENT"}


def test_no_key_of_this_machine_is_listed(walled_box):
    assert attack(walled_box, KEYS)["keys"] == ""


def test_no_switch_of_the_kernel_can_be_turned(walled_box):
    answers = attack(walled_box, SWITCHES)

    assert set(answers.values()) <= {"EACCES", "ENOENT"}
    assert answers["kernel/core_pattern"] == "EACCES"


def test_no_other_file_of_the_kernel_opens_for_writing(walled_box):
    """All but pressure triggers, which anyone may have, and one that checks when it is written."""
    answers = attack(walled_box, WRITES)
    opened = {path for path in answers["opened"] if not path.startswith("/proc/pressure/")}

    assert opened <= {"/proc/sys/kernel/ns_last_pid"}
    assert set(answers["errors"]) <= {"EACCES", "EPERM", "ENOENT", "EROFS"}


def test_an_agent_cannot_rewrite_who_it_is(walled_box):
    assert attack(walled_box, OWN) == {
        "uid_map": "EPERM",
        "gid_map": "EPERM",
        "setgroups": "EACCES",
        "less than its share of the risk": "EACCES",
        "next pid": "EPERM",
    }


def test_nothing_in_sys_can_be_written(walled):
    answers = attack(walled.open(), SYSFS)

    assert answers.pop("exists") == (walled.backend.name == "docker")
    assert answers.pop("writable") == []
    assert answers.pop("read-only")
    assert set(answers.values()) <= {"EROFS", "EACCES", "ENOENT"}


def test_only_devices_without_power_are_there(walled_box):
    answers = attack(walled_box, NODES)

    assert answers.pop("odd") == answers.pop("disks") == []
    assert set(answers.values()) == {"ENOENT"}


def test_no_device_can_be_made(walled_box):
    assert set(attack(walled_box, MAKING).values()) == {"EPERM"}


def test_no_terminal_can_be_typed_into(walled_box):
    answers = attack(walled_box, TERMINALS)

    assert answers.pop("terminals") == []
    assert answers.pop("shown") == ["ptmx"]
    assert answers.pop("controlling") == "ENXIO"
    assert answers.pop("entropy") == answers.pop("clear pool") == "EPERM"
    assert set(answers.values()) <= {"ENOTTY", "EINVAL"}
