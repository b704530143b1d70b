"""The system calls Python has no function for, through ctypes (Linux, x86_64 and aarch64)."""

import ctypes
import os
import platform
import struct
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER, PR_CAP_AMBIENT = 38, 36, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
CLONE_PARENT = 0x00008000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_SLAVE = 4096, 16384, 1 << 19

_SIGCHLD = 17
_CAPABILITY_VERSION_3 = 0x20080522
_NUMBERS = {"x86_64": {"clone": 56, "capset": 126}, "aarch64": {"clone": 220, "capset": 91}}
# PyDLL keeps the interpreter lock: between clone and the child's first step nothing else may run.
_libc = ctypes.PyDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, first: int = 0, second: int = 0) -> None:
    """Call ``prctl``."""
    arguments = (ctypes.c_ulong(value) for value in (first, second, 0, 0))
    _check(_libc.prctl(option, *arguments), f"prctl {option}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Call ``mount``."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        os.fsencode(data) or None,
    )
    _check(result, f"mount {kind or 'bind'} on {target}")


def set_hostname(name: str) -> None:
    """Call ``sethostname``."""
    data = name.encode()
    _check(_libc.sethostname(data, ctypes.c_size_t(len(data))), "sethostname")


def syscall_number(name: str) -> int:
    """Return a system call's number on this machine.

    Raises:
        OSError: On an architecture we do not know.
    """
    try:
        return _NUMBERS[platform.machine()][name]
    except KeyError:
        raise OSError(f"no system call numbers for {platform.machine()}") from None


def fork_into(flags: int) -> int:
    """Fork into new namespaces with one ``clone``; return 0 in the child, else its pid.

    The process must have one thread.
    """
    number = ctypes.c_long(syscall_number("clone"))
    api = ctypes.pythonapi
    zero = ctypes.c_long(0)
    api.PyOS_BeforeFork()
    pid = _libc.syscall(number, ctypes.c_ulong(flags | _SIGCHLD), zero, zero, zero, zero)
    error = ctypes.get_errno()
    if pid == 0:
        api.PyOS_AfterFork_Child()
        return 0
    api.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return int(pid)


def drop_capabilities() -> None:
    """Give up every capability for good, in all sets."""
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # without CAP_SETPCAP the set stays, and no_new_privs makes it moot
            break
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    nothing = struct.pack("=6I", 0, 0, 0, 0, 0, 0)
    number = ctypes.c_long(syscall_number("capset"))
    _check(_libc.syscall(number, header, nothing), "capset")
