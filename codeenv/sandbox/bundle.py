"""The guest code as one zip that a wall's interpreter runs without touching a disk."""

import io
import struct
import zipfile
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_BOOTSTRAP = """
import os, sys
def take(n):
    parts = []
    while n and (data := os.read(0, n)):
        parts.append(data)
        n -= len(data)
    return b"".join(parts)
fd = os.memfd_create("codeenv", os.MFD_CLOEXEC)
data = take(int.from_bytes(take(8), "big"))
while data:
    data = data[os.write(fd, data):]
sys.path.insert(0, f"/proc/self/fd/{fd}")
from codeenv.guest.supervisor import main
os.close(fd)
main()
"""


def bootstrap(python: str) -> Sequence[str]:
    """Return the command that receives the guest code on standard input and becomes a supervisor.

    Isolated from user site, environment and current folder; ``site`` does not run either.
    """
    return (python, "-I", "-S", "-B", "-X", "utf8", "-c", _BOOTSTRAP)


@cache
def guest_archive() -> bytes:
    """Return what is sent first: the zip's length (8 bytes) and the zip, the same every time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("codeenv/__init__.py"), "")
        for file in sorted(files("codeenv.guest").iterdir(), key=lambda each: each.name):
            if file.name.endswith(".py") and not file.name.startswith("pytest_"):
                name = f"codeenv/guest/{file.name}"
                archive.writestr(zipfile.ZipInfo(name), file.read_bytes())
    data = buffer.getvalue()
    return struct.pack("!Q", len(data)) + data
