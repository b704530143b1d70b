"""Packers that the standard library lacks, and what they made of the code of the toy task."""

import base64
import lzma
import zipfile
from io import BytesIO

from tests.toytask import SOURCE

ORIGINAL = SOURCE["src/notes/text.py"].data
ZSTD = base64.b64decode(
    """
    KLUv/QRoTQ0AdldEHkBVc7/bWFsbAgaG2tpRi8SyxP3Efghl80gxipteFzsAOgA8AJ/fQ7503rjdOlT1/1dBklFKBW/e
    RiJ+00E+s9Io3r2vstbSgX66gwFBOBANxWMtVWXNM8JT8T09DFHVrHFVRdnOct8ZuYvF+Dnqexmps2bhly/zUG4mGwaX
    Pl0ydBFzQeACOfuF6eEZWTavT3FbTcbOI3zvJVLElqQM42cvv899N2ao0p1yFAt0HMeRm55I0XSvanboLkWSO/ExSZng
    ANCocnI24wq7SvLpzXOba3ArAasZujed+3HUIFfVsje4N1yKID8NgR6aEAYSkFKfLtkC41NlzdC9x31mWSYmcrZktnsT
    uhcus7lOtbITQCgghBDDJHsgTJqSYZhKB1cUdASPvgANQR9kG76sAYogcPStMrIiHRx0F/hknMEI7VSH4EjDB8BDB+nH
    BjpigTCBlQYJ1jD2MUyBKFkCDz1javJFABPAjgEOGshgGazglTps3DegKAjyNxwDMbMN+AQJAeSIeWenaChIt6xlrGRC
    iZcdy+ySdtbRsyEeDnGgz25xZQbAm7A0
    """
)
LZ4 = base64.b64decode(
    """
    BCJNGGRApz4CAADwTiIiIlRleHRzIG9mIG5vdGVzLiIiIgoKU0VQQVJBVE9SID0gIi0iCgoKY2xhc3MgRW1wdHlUaXRs
    ZShWYWx1ZUVycm9yKToKICAgICIiIlJhaXNlZCB3aGVuIGEgdCgAwyBoYXMgbm8gd29yZF0A8Q8KZGVmIHNsdWcodGV4
    dDogc3RyLCAqLCBqb2luZXIQADUgPSCDAEApIC0+FAAGZgCTZXR1cm4gdGhlYwDxB2FzIGEgbmFtZSBmb3IgYSBmaWxl
    LgovAPQDTWFya3MgYXJlIGRyb3BwZWQuRgABCADxGmNhbmRpZGF0ZXMgPSBbcGllY2Uuc3RyaXAoIiE/LC4iKS5sb3dl
    cigpWgABIABAIGluILgAkS5zcGxpdCgpXUkAoXN1cnZpdmluZ18lAAZPAAo5AAdwACJpZhcAAkAAEWl/AQ1HAAL0AAAB
    ABByWwEIgAEUImEB8QNuZWVkcyBhdCBsZWFzdCBvbmVtASEiKTwAEnItAQJcARAuBwAcKGUAEymTAUh3cmFwkwGhd2lk
    dGg6IGludIMBlWxpc3Rbc3RyXYkBcUJyZWFrIGEPAQAnAFNvIGxpbkMCAF4BAQ4AAAoBIiIi5gAADAEAnAAMRAEG5wBQ
    bG9uZ2X/ATFmIns/AHBbLTFdfSB7NgAjfSKcARUpLwByaWYgbGVuKDYAMikgPrQAVSBhbmQgPgAGXQAFlACALmFwcGVu
    ZChWAAZNAE9lbHNlLQAAAEQAIyA9mgAIVAFgbGluZXMKAAAAALY6a5Q=
    """
)
"""What ``zstd -19`` and ``lz4 -9`` make of it: to be made again when the code is changed."""


def lzip(data: bytes) -> bytes:
    """Return an lzip file."""
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 20, "lc": 3, "lp": 0, "pb": 2}]
    body = lzma.compress(data, lzma.FORMAT_ALONE, filters=filters)[13:]
    return b"LZIP\x01\x14" + body + bytes(20)


def debian(data: bytes) -> bytes:
    """Return an ``ar`` archive as Debian's packages are."""
    out = b"!<arch>\n"
    for name, body in (("debian-binary", b"2.0\n"), ("data.tar.xz", data)):
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(body):<10}`\n".encode()
        out += body + b"\n" * (len(body) % 2)
    return out


def cpio(data: bytes) -> bytes:
    """Return a ``cpio`` archive of one file, as in an RPM package."""
    out = b""
    for name, body in ((b"notes/text.py\0", data), (b"TRAILER!!!\0", b"")):
        numbers = [1, 0o100644, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(name), 0]
        out += b"070701" + b"".join(b"%08x" % number for number in numbers) + name
        out += bytes(-len(out) % 4) + body
        out += bytes(-len(out) % 4)
    return out


def damaged_zip(data: bytes) -> bytes:
    """Return a zip file whose directory was cut off."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes/text.py", data)
    packed = buffer.getvalue()
    return packed[: packed.index(b"PK\x01\x02")]


def encrypted_zip(data: bytes) -> bytes:
    """Return a zip file that says that its member is encrypted."""
    packed = bytearray(damaged_zip(data))
    packed[6] |= 1
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes/text.py", data)
    whole = bytearray(buffer.getvalue())
    whole[6] |= 1
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    return bytes(whole)
