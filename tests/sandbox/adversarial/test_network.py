"""An agent reaches nothing but its own loopback device, and cannot change that."""

import socket

from tests.sandbox.adversarial.conftest import attack, hold

OUT = """
def reach(family, kind, address):
    with socket.socket(family, kind) as caller:
        caller.settimeout(3)
        caller.connect(address)
streams, datagrams = socket.SOCK_STREAM, socket.SOCK_DGRAM
for host in ("192.0.2.1", "10.0.0.1", "172.17.0.1", "169.254.169.254", "224.0.0.1",
             "255.255.255.255"):
    for kind in (streams, datagrams):
        attempt(f"{host} {kind}", reach, socket.AF_INET, kind, (host, 53))
attempt("broadcast", socket.socket(2, 2).setsockopt, 1, 6, 1)
answers.pop("broadcast")
try:
    six = socket.socket(socket.AF_INET6, streams)
except OSError:
    six = None
for host in ("2001:db8::1", "fe80::1", "ff02::1", "fec0::1", "::ffff:192.0.2.1"):
    for scope in range(4 if six else 0):
        for kind in (streams, datagrams):
            attempt(f"{host} {scope} {kind}", reach, socket.AF_INET6, kind, (host, 53, 0, scope))
"""
OWN = """
answers["devices"] = [name for _, name in socket.if_nameindex()]
table = open("/proc/net/route").read().splitlines()[1:]
answers["routes"] = table
answers["unix"] = open("/proc/net/unix").read().splitlines()[1:]
answers["six"] = sorted({line.split()[-1] for line in open("/proc/net/if_inet6")}) if (
    os.path.exists("/proc/net/if_inet6")) else ["lo"]
"""
FAMILIES = """
for family in range(64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        if family not in (1, 2, 10, 16):
            attempt(f"{family} {kind}", socket.socket, family, kind)
for what, family, kind, protocol in (
    ("icmp", 2, 3, 1), ("any raw", 2, 3, 255), ("tcp raw", 2, 3, 6), ("icmp6", 10, 3, 58),
    ("obsolete packet", 2, 10, 0x300), ("ping", 2, 2, 1), ("ping6", 10, 2, 58),
):
    attempt(what, socket.socket, family, kind, protocol)
"""
OPTIONS = """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
attempt("mark", s.setsockopt, 1, 36, 1)
attempt("priority above all", s.setsockopt, 1, 12, 7)
attempt("transparent", s.setsockopt, 0, 19, 1)
attempt("buffers beyond the limit", s.setsockopt, 1, 33, 1 << 30)
attempt("device", s.setsockopt, 1, 25, b"eth0\\0")
lo = b"lo".ljust(16, b"\\0")
attempt("down", fcntl.ioctl, s, 0x8914, lo + bytes(24))
attempt("address", fcntl.ioctl, s, 0x8916, b"lo:7".ljust(16, b"\\0") + struct.pack(
    "=HH4s16x", 2, 0, bytes((10, 0, 0, 1))))
attempt("hardware address", fcntl.ioctl, s, 0x8924, lo + struct.pack("=H22x", 772))
attempt("route", fcntl.ioctl, s, 0x890B, bytes(120))
attempt("neighbour", fcntl.ioctl, s, 0x8955, bytes(68))
attempt("bridge", fcntl.ioctl, s, 0x89A0, b"br0".ljust(16, b"\\0"))
attempt("name", fcntl.ioctl, s, 0x8923, lo + b"wan".ljust(24, b"\\0"))
attempt("low port", socket.create_server, ("127.0.0.1", 80))
attempt("foreign address", socket.create_server, ("192.0.2.1", 8080))
attempt("tunnel", os.open, "/dev/net/tun", os.O_RDWR)
"""
NETLINK = """
def ask(protocol, kind, body=b"", flags=0x5):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as talk:
        talk.settimeout(3)
        talk.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        answer = talk.recv(65536)
        number, code = struct.unpack_from("=4xH10xi", answer)
        if number == 2 and code:
            raise OSError(-code, "refused")
def join(protocol, groups):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as talk:
        talk.bind((0, groups))
link, make = struct.pack("=BxHiII", 0, 0, 0, 0, 0), 0x605
kind = struct.pack("=HH5s3x", 9, 1, b"dummy")
attempt("new device", ask, 0, 16, link + struct.pack("=HH", 4 + len(kind), 18) + kind, make)
attempt("device down", ask, 0, 16, struct.pack("=BxHiII", 0, 0, 1, 0, 1))
attempt("to another space", ask, 0, 16, struct.pack("=BxHiII", 0, 0, 1, 0, 0) + struct.pack(
    "=HHi", 8, 19, 1))
attempt("new address", ask, 0, 20, struct.pack("=BBBBiHH4s", 2, 8, 0, 0, 1, 8, 2, bytes(4)), make)
attempt("new route", ask, 0, 24, struct.pack("=BBBBBBBBIHHi", 2, 0, 0, 0, 254, 4, 0, 1, 0, 8, 4, 1),
        make)
attempt("new rule", ask, 0, 32, struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 0, 0, 1, 0), make)
attempt("new queue", ask, 0, 36, struct.pack("=BxxxiIII", 0, 1, 0, 0xffffffff, 0), make)
attempt("name of a space", ask, 0, 88, struct.pack("=BxxxHHiHHi", 0, 8, 1, 0, 8, 2, 1))
attempt("firewall", ask, 12, 10 << 8, struct.pack("=BBHHH4s", 2, 0, 0, 8, 1, b"abc\\0"), make)
attempt("ipsec", ask, 6, 16)
attempt("audit state", ask, 9, 1000)
attempt("audit message", ask, 9, 1107, b"planted\\0")
attempt("audit log", join, 9, 1)
attempt("every process's start", ask, 11, 3, struct.pack("=IIIIHHI", 1, 1, 0, 0, 4, 0, 1))
"""
SERVE = """
keep = [socket.create_server(("127.0.0.1", 47113)), socket.create_server(("", 47114))]
answers["ready"] = True
"""
KNOCK = """
def knock(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as caller:
        caller.settimeout(3)
        caller.connect(address)
for port in PORTS:
    for host in ("127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost"):
        attempt(f"{host} {port}", knock, socket.AF_INET, (host, port))
    attempt(f"::1 {port}", knock, socket.AF_INET6, ("::1", port))
"""


def test_no_address_but_its_own_is_reached(walled_box):
    answers = attack(walled_box, OUT)

    assert len(answers) >= 12
    assert set(answers.values()) <= {"ENETUNREACH", "EADDRNOTAVAIL", "EINVAL"}
    assert answers["192.0.2.1 1"] == answers["169.254.169.254 1"] == "ENETUNREACH"


def test_no_device_route_or_socket_of_others_is_there(walled_box):
    nothing = {"devices": ["lo"], "routes": [], "unix": [], "six": ["lo"]}

    assert attack(walled_box, OWN) == nothing


def test_sockets_are_unix_internet_and_netlink_and_never_raw(walled_box):
    answers = attack(walled_box, FAMILIES)
    raw = ("icmp", "any raw", "tcp raw", "icmp6", "obsolete packet", "ping", "ping6")

    assert {answers.pop(what) for what in raw} <= {"EPERM", "EACCES", "EAFNOSUPPORT"}
    assert len(answers) == 240
    assert set(answers.values()) == {"EAFNOSUPPORT"}


def test_the_network_cannot_be_changed_by_its_devices(walled_box):
    answers = attack(walled_box, OPTIONS)

    assert answers.pop("device") == "ENODEV"
    assert answers.pop("low port") == "EACCES"
    assert answers.pop("foreign address") == "EADDRNOTAVAIL"
    assert answers.pop("tunnel") == "ENOENT"
    assert set(answers.values()) == {"EPERM"}


def test_the_network_cannot_be_changed_by_messages_to_the_kernel(walled_box):
    answers = attack(walled_box, NETLINK)

    for what in ("audit state", "audit message", "every process's start"):
        assert answers.pop(what) in ("ECONNREFUSED", "EPROTONOSUPPORT", "EPERM")
    assert set(answers.values()) <= {"EPERM", "EPROTONOSUPPORT"}
    assert answers["new device"] == answers["new route"] == "EPERM"


def test_servers_of_this_machine_and_of_other_boxes_are_not_reached(walled, walled_box, neighbour):
    assert hold(neighbour, SERVE) == {"ready": True}
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("", 0)) as second:
        ports = [first.getsockname()[1], second.getsockname()[1], 47113, 47114]
        code = KNOCK.replace("PORTS", str(ports))

        answers = attack(walled_box, code)
    by_six = {answers.pop(what) for what in tuple(answers) if what.startswith("::1")}

    assert by_six <= {"ECONNREFUSED", "EADDRNOTAVAIL", "EAFNOSUPPORT"}
    assert set(answers.values()) == {"ECONNREFUSED"}
    assert "done" in attack(neighbour, code).values()
