"""A seccomp filter for boxes: a deny list of system calls no test suite needs and escapes do.

Default allow, since a repository's tests may call anything reasonable.  The namespaces, the missing
capabilities and ``no_new_privs`` are what isolates; this takes kernel surface away.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator, Mapping

from codeenv.guest import system

_PR_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_NEW_NAMESPACES = 0x7E020080
"""All ``CLONE_NEW*`` flags."""
_FAMILIES = (1, 2, 10, 16)
"""unix, inet, inet6 and netlink sockets; never vsock, which leads past the network namespace."""

_COMMON = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "pidfd_getfd": 438, "mount_setattr": 442, "quotactl_fd": 443,
    "open_tree_attr": 467,
}  # fmt: skip
_X86_64 = {
    "io_setup": 206, "ptrace": 101, "syslog": 103, "uselib": 134, "vhangup": 153, "modify_ldt": 154,
    "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164,
    "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "iopl": 172,
    "ioperm": 173, "create_module": 174, "init_module": 175, "delete_module": 176,
    "quotactl": 179, "nfsservctl": 180, "lookup_dcookie": 212, "clock_settime": 227,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "migrate_pages": 256,
    "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300, "open_by_handle_at": 304,
    "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
}  # fmt: skip
_AARCH64 = {
    "io_setup": 0, "lookup_dcookie": 18, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51,
    "vhangup": 58, "quotactl": 60, "acct": 89, "kexec_load": 104, "init_module": 105,
    "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117, "reboot": 142,
    "settimeofday": 170, "adjtimex": 171, "add_key": 217, "request_key": 218, "keyctl": 219,
    "swapon": 224, "swapoff": 225, "migrate_pages": 238, "move_pages": 239,
    "perf_event_open": 241, "fanotify_init": 262, "open_by_handle_at": 265,
    "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
    "kcmp": 272, "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip
_DENIED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {**_X86_64, **_COMMON},
    "aarch64": {**_AARCH64, **_COMMON},
}
_SPECIAL = {
    "x86_64": {"clone": 56, "unshare": 272, "socket": 41, "clone3": 435, "fcntl": 72},
    "aarch64": {"clone": 220, "unshare": 97, "socket": 198, "clone3": 435, "fcntl": 25},
}
_ON_PROCESSES = {"x86_64": (142, 144, 203, 302, 314), "aarch64": (118, 119, 122, 261, 274)}
"""sched_setparam, sched_setscheduler, sched_setaffinity, prlimit64, sched_setattr."""
_PRIORITIES = {"x86_64": ((141, 0), (251, 1)), "aarch64": ((140, 0), (30, 1))}
"""setpriority and ioprio_set, with the word that means one process."""
_SET_LEASE = 1024


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def lock() -> None:
    """Install the filter for this process and all it will start.  Needs ``no_new_privs``.

    Raises:
        OSError: If the kernel refuses, or the architecture is unknown.
    """
    program = b"".join(_program(platform.machine()))
    holder = _Program(len(program) // 8, program)
    system.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(holder))


def _program(machine: str) -> Iterator[bytes]:
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {machine}")
    special = _SPECIAL[machine]
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, _ARCHITECTURES[machine], 1, 0)
    yield _refuse(errno.ENOSYS)
    yield _step(_LOAD, _NUMBER)
    if machine == "x86_64":
        yield from (_step(_AT_LEAST, _X32_BIT, 0, 1), _refuse(errno.ENOSYS))
    yield from (_step(_EQUAL, special["clone3"], 0, 1), _refuse(errno.ENOSYS))
    for number in _DENIED[machine].values():
        yield from (_step(_EQUAL, number, 0, 1), _refuse(errno.EPERM))
    yield from _no_namespaces(special["clone"])
    yield from _no_namespaces(special["unshare"])
    for number in _ON_PROCESSES[machine]:
        yield from _not_if(number, _FIRST_ARGUMENT, 1)
    for number, one in _PRIORITIES[machine]:
        yield from _one_process(number, one)
    yield from _not_if(special["fcntl"], _SECOND_ARGUMENT, _SET_LEASE)
    yield from _few_families(special["socket"])
    yield _step(_RETURN, _ALLOW)


def _no_namespaces(number: int) -> Iterator[bytes]:
    """Refuse a call whose first argument asks for a new namespace."""
    yield _step(_EQUAL, number, 0, 4)
    yield _step(_LOAD, _FIRST_ARGUMENT)
    yield _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1)
    yield _refuse(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _not_if(number: int, argument: int, value: int) -> Iterator[bytes]:
    """Refuse a call one of whose arguments is this value."""
    yield _step(_EQUAL, number, 0, 4)
    yield _step(_LOAD, argument)
    yield _step(_EQUAL, value, 0, 1)
    yield _refuse(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _one_process(number: int, which: int) -> Iterator[bytes]:
    """Refuse a priority for the first process, and for groups and users it may belong to."""
    yield _step(_EQUAL, number, 0, 6)
    yield _step(_LOAD, _FIRST_ARGUMENT)
    yield _step(_EQUAL, which, 0, 2)
    yield _step(_LOAD, _SECOND_ARGUMENT)
    yield _step(_EQUAL, 1, 0, 1)
    yield _refuse(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _few_families(number: int) -> Iterator[bytes]:
    """Refuse sockets but of the families in ``_FAMILIES``."""
    yield _step(_EQUAL, number, 0, 2 + 2 * len(_FAMILIES))
    yield _step(_LOAD, _FIRST_ARGUMENT)
    for family in _FAMILIES:
        yield from (_step(_EQUAL, family, 0, 1), _step(_RETURN, _ALLOW))
    yield _refuse(errno.EAFNOSUPPORT)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
