"""The filter's program, run by a small interpreter of our own, says what its tables say."""

import struct

import pytest

from codeenv.guest import seccomp

ALLOW, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x50001, 0x50026, 0x50061
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386 = 0x40000003
CALLS = {
    "x86_64": {"read": 0, "mount": 165, "clone": 56, "clone3": 435, "socket": 41, "unshare": 272},
    "aarch64": {"read": 63, "mount": 40, "clone": 220, "clone3": 435, "socket": 198, "unshare": 97},
}


def _run(machine, number, argument=0, architecture=None):
    data = struct.pack("=IIQQ", number, architecture or ARCHITECTURES[machine], 0, argument)
    program = list(struct.iter_unpack("=HBBI", b"".join(seccomp._program(machine))))
    at = value = 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, operand)
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: value & operand}[code]
            at += if_true if holds else if_false


@pytest.fixture(params=sorted(CALLS))
def machine(request):
    return request.param


def test_ordinary_calls_are_allowed(machine):
    assert _run(machine, CALLS[machine]["read"]) == ALLOW
    assert _run(machine, CALLS[machine]["clone"], 0x11) == ALLOW
    assert _run(machine, CALLS[machine]["unshare"], 0x400) == ALLOW


def test_listed_calls_are_refused(machine):
    for number in seccomp._DENIED[machine].values():
        assert _run(machine, number) == EPERM
    assert _run(machine, CALLS[machine]["mount"]) == EPERM


@pytest.mark.parametrize("flag", [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000,
                                  0x20000000, 0x40000000])  # fmt: skip
def test_new_namespaces_are_refused(machine, flag):
    assert _run(machine, CALLS[machine]["clone"], flag | 0x11) == EPERM
    assert _run(machine, CALLS[machine]["unshare"], flag) == EPERM


def test_clone3_does_not_exist(machine):
    assert _run(machine, CALLS[machine]["clone3"]) == ENOSYS


@pytest.mark.parametrize(("family", "answer"), [(1, ALLOW), (2, ALLOW), (10, ALLOW), (16, ALLOW),
                                                (17, EAFNOSUPPORT), (38, EAFNOSUPPORT),
                                                (40, EAFNOSUPPORT)])  # fmt: skip
def test_few_socket_families_are_left(machine, family, answer):
    assert _run(machine, CALLS[machine]["socket"], family) == answer


def test_other_instruction_sets_have_no_calls(machine):
    assert _run(machine, CALLS[machine]["read"], architecture=I386) == ENOSYS
    assert _run("x86_64", 0x40000000 | 1) == ENOSYS


def test_an_unknown_machine_is_refused():
    with pytest.raises(OSError, match="riscv64"):
        b"".join(seccomp._program("riscv64"))
