"""Data that hides what it holds: packed or encrypted in a way that is not read here."""

import re
import zlib

_FORMS = {
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"hsqs": "squashfs",
    b"MSCF\0\0\0\0": "cab",
    b"ITSF\x03\0\0\0": "compiled help",
    b"MSWIM\0\0\0": "wim",
    b"xar!": "xar",
    b"\x89LZO\0\r\n\x1a\n": "lzop",
    b"\x02\x21\x4c\x18": "old lz4",
    b"\xff\x06\0\0sNaPpY": "snappy",
    b"zPQ": "zpaq",
    b"\x1f\xa0": "lzh",
    b"\x1f\x9d": "compress",
    b"PAR1": "parquet",
    b"ORC\0": "orc",
    b"Obj\x01": "avro",
    b"ARROW1\0\0": "arrow",
    b"Salted__": "encrypted",
    b"\0GITCRYPT\0": "encrypted",
    b"age-encryption.org/v1": "encrypted",
    b"-----BEGIN PGP MESSAGE-----": "encrypted",
    b"$ANSIBLE_VAULT;": "encrypted",
    b"LUKS\xba\xbe": "encrypted",
}
_FORM = re.compile(b"|".join(re.escape(magic) for magic in sorted(_FORMS, reverse=True)))
_KNOWN = re.compile(
    rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF|OggS|fLaC|ID3|\xff[\xfb\xf3\xf2]|wOF[F2]|II\*\0|MM\0\*|%PDF"
    rb"|8BPS|\x1aE\xdf\xa3|BM....\0\0\0\0|\0\0\0\x0cjP  |\xff\x4f\xff\x51|.{4}ftyp|\x93NUMPY"
    rb"|SIMPLE  =|CDF[\1\2\5]|\x89HDF|\0\0[\1\2]\0|qoif|FORM....AIF|\x47.{187}\x47",
    re.DOTALL,
)
"""Pictures, sounds, films, fonts and numbers: they cannot be packed further, and hold no code."""
_BLOCK = 4096
_LEAST_BLOCK = 256
_SHRUNK = 0.97


def sealed_form(data: bytes) -> str:
    """Return the form of data whose contents are not read here, by how it begins; else ""."""
    found = _FORM.match(data)
    return _FORMS[found[0]] if found else ""


def is_media(data: bytes) -> bool:
    """Return whether a file is a picture, a document, a sound or the like, by how it begins."""
    return _KNOWN.match(data) is not None


def packed_bytes(rest: bytes, whole: bytes) -> int:
    """Return how many bytes of a file are packed or encrypted: they cannot be made smaller.

    Args:
        rest: What of it could not be unpacked.
        whole: All of it: of pictures, sounds and the like none count.
    """
    if is_media(whole) or sealed_form(whole):
        return 0
    blocks = (rest[start : start + _BLOCK] for start in range(0, len(rest), _BLOCK))
    return sum(len(block) for block in blocks if _is_packed(block))


def _is_packed(block: bytes) -> bool:
    if len(block) < _LEAST_BLOCK:
        return False
    return len(zlib.compress(block, 1)) >= _SHRUNK * len(block)
