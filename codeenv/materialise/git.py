"""A one-commit git repository made without git: same files, same bytes, on every machine.

Objects lie in one pack, as stored (uncompressed) zlib streams written by our own code, since the
output of zlib differs between its versions.  Formats: gitformat-pack(5), gitformat-index(5).
"""

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codeenv.tree import Entry, Mode, Tree

_WHO = "codeenv <codeenv@localhost> 1704067200 +0000"
_COMMIT = f"author {_WHO}\ncommitter {_WHO}\n\nInitial commit\n"
_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = agent
\temail = agent@localhost
"""
# Files are kept byte for byte, whatever the repository's own attributes ask of a checkout.
_ATTRIBUTES = "* -text -ident -filter -working-tree-encoding\n"
_MODES: Mapping[Mode, int] = {"file": 0o100644, "exec": 0o100755, "link": 0o120000}
_TREE_MODE = 0o40000
_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_STORED_MAX = 0xFFFF
_NAME_MAX = 0xFFF


@dataclass(frozen=True, slots=True)
class _Object:
    kind: str
    data: bytes

    @property
    def id(self) -> bytes:
        header = f"{self.kind} {len(self.data)}\0".encode()
        return hashlib.sha1(header + self.data, usedforsecurity=False).digest()


def git_folder(tree: Tree) -> Tree:
    """Return the ``.git/…`` files of a repository whose only commit holds exactly ``tree``."""
    objects: dict[bytes, _Object] = {}
    root = _store_tree(_nested(tree), objects)
    head = _store(_Object("commit", f"tree {root.hex()}\n{_COMMIT}".encode()), objects)
    pack, index = _pack(dict(sorted(objects.items())))
    name = f"pack-{pack[-20:].hex()}"
    files = {
        "HEAD": b"ref: refs/heads/main\n",
        "config": _CONFIG.encode(),
        "index": _staging(tree),
        "info/attributes": _ATTRIBUTES.encode(),
        f"objects/pack/{name}.idx": index,
        f"objects/pack/{name}.pack": pack,
        "refs/heads/main": head.hex().encode() + b"\n",
    }
    return Tree({f".git/{path}": Entry(data) for path, data in files.items()})


def without_git(tree: Tree) -> Tree:
    """Return the tree without its top-level ``.git``."""
    return Tree({p: e for p, e in tree.items() if p != ".git" and not p.startswith(".git/")})


_Nested = dict[str, "Entry | _Nested"]


def _nested(tree: Tree) -> _Nested:
    root: _Nested = {}
    for path, entry in tree.items():
        *folders, name = path.split("/")
        here = root
        for folder in folders:
            below = here.setdefault(folder, {})
            if isinstance(below, Entry):
                raise ValueError(f"{path} lies below a file")
            here = below
        here[name] = entry
    return root


def _store(item: _Object, objects: dict[bytes, _Object]) -> bytes:
    key = item.id
    objects[key] = item
    return key


def _store_tree(folder: _Nested, objects: dict[bytes, _Object]) -> bytes:
    rows = []
    for name, item in folder.items():
        raw = _raw(name)
        if isinstance(item, Entry):
            key = _store(_Object("blob", item.data), objects)
            rows.append((raw, _MODES[item.mode], key))
        else:
            rows.append((raw + b"/", _TREE_MODE, _store_tree(item, objects)))
    rows.sort()  # git sorts a folder as if its name ended in a slash
    lines = [b"%o %s\0%s" % (mode, raw.removesuffix(b"/"), key) for raw, mode, key in rows]
    return _store(_Object("tree", b"".join(lines)), objects)


def _pack(objects: Mapping[bytes, _Object]) -> tuple[bytes, bytes]:
    body = bytearray(b"PACK" + struct.pack(">II", 2, len(objects)))
    offsets, checks = [], []
    for item in objects.values():
        offsets.append(len(body))
        packed = _pack_header(item) + _stored(item.data)
        checks.append(zlib.crc32(packed))
        body += packed
    pack = _sealed(bytes(body))
    return pack, _pack_index(list(objects), offsets, checks, pack[-20:])


def _pack_header(item: _Object) -> bytes:
    size = len(item.data)
    byte, size = _KINDS[item.kind] << 4 | size & 0x0F, size >> 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    return bytes([*out, byte])


def _pack_index(keys: list[bytes], offsets: list[int], checks: list[int], pack: bytes) -> bytes:
    counts = [0] * 256
    for key in keys:
        counts[key[0]] += 1
    fanout = [sum(counts[: first + 1]) for first in range(256)]
    large = [offset for offset in offsets if offset >= 1 << 31]
    places = iter(range(len(large)))
    small = [o if o < 1 << 31 else 1 << 31 | next(places) for o in offsets]
    parts = [
        b"\xfftOc" + struct.pack(">I", 2),
        struct.pack(">256I", *fanout),
        *keys,
        struct.pack(f">{len(checks)}I", *checks),
        struct.pack(f">{len(small)}I", *small),
        struct.pack(f">{len(large)}Q", *large),
        pack,
    ]
    return _sealed(b"".join(parts))


def _staging(tree: Tree) -> bytes:
    """Return the index with all stat fields zero: git compares contents where the size is zero."""
    rows = sorted((_raw(path), entry) for path, entry in tree.items())
    out = bytearray(b"DIRC" + struct.pack(">II", 2, len(rows)))
    for raw, entry in rows:
        key = _Object("blob", entry.data).id
        stat = struct.pack(">10I", 0, 0, 0, 0, 0, 0, _MODES[entry.mode], 0, 0, 0)
        row = stat + key + struct.pack(">H", min(len(raw), _NAME_MAX)) + raw
        out += row + b"\0" * (8 - len(row) % 8)
    return _sealed(bytes(out))


def _stored(data: bytes) -> bytes:
    blocks = b"".join(_blocks(data))
    return b"\x78\x01" + blocks + struct.pack(">I", zlib.adler32(data))


def _blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, max(len(data), 1), _STORED_MAX):
        block = data[start : start + _STORED_MAX]
        last = start + _STORED_MAX >= len(data)
        yield struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block


def _sealed(body: bytes) -> bytes:
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
