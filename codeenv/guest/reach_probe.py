"""Run as an agent in a box: tells what can be read there, beside what is known to be.

Standard library only, and all in one file: it is given to the box's interpreter as a program.  It
answers on descriptor 3: a JSON document, then the bytes of the files that it was not told of.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator

_SKIPPED = ("/proc", "/sys")
_PROCESS = ("cmdline", "environ", "maps", "mountinfo")
_LIMIT = 48 * 1024**2
_PIECE = 1 << 20


def main() -> None:
    """Read what is known (path -> size) from standard input, and answer."""
    asked = json.load(sys.stdin)
    known, skipped = asked["known"], (*_SKIPPED, *asked["skipped"])
    times: dict[str, int] = {}
    unknown: list[tuple[str, bytes]] = []
    count, room, cut = 0, _LIMIT, False
    for path, status in _files("/", skipped):
        count += 1
        if path.startswith(asked["workspace"] + "/"):
            times[path] = status.st_mtime_ns
        if known.get(path) == status.st_size:
            continue
        data = _read(path, room)
        if data is not None:
            room -= len(data)
            cut = cut or (room <= 0 and len(data) < status.st_size)
            unknown.append((path, data))
    head = {
        "files": count,
        "times": times,
        "unknown": [[path, len(data)] for path, data in unknown],
        "cut": cut,
        "processes": _processes(),
        "lower": _lower(),
        "environ": dict(os.environ),
    }
    with os.fdopen(3, "wb") as out:
        told = json.dumps(head).encode()
        out.write(len(told).to_bytes(8, "big") + told)
        for _, data in unknown:
            out.write(data)


def _files(folder: str, skipped: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the regular files below a folder that can be opened; no link is followed."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.path in skipped:
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _files(entry.path, skipped)
        elif stat.S_ISREG(status.st_mode) and os.access(entry.path, os.R_OK):
            yield entry.path, status


def _read(path: str, most: int) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError:
        return None


def _processes() -> dict[str, dict[str, str]]:
    """Return what can be read of every process that is seen."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            facts = {}
            for each in _PROCESS:
                data = _read(f"/proc/{name}/{each}", _PIECE)
                if data:
                    facts[each] = data.decode("utf-8", "replace")
            facts["fd"] = "\n".join(_targets(f"/proc/{name}/fd"))
            found[name] = facts
    return found


def _targets(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(f"{folder}/{name}")
        except OSError:
            continue


def _lower() -> list[str]:
    """Return the sides of overlays that can be reached by their paths."""
    found: set[str] = set()
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            for option in line.rpartition(" ")[2].strip().split(","):
                name, _, value = option.partition("=")
                if name in ("lowerdir", "upperdir", "workdir"):
                    found.update(path for path in value.split(":") if os.path.lexists(path))
    return sorted(found)


if __name__ == "__main__":
    main()
