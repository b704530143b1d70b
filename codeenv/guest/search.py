"""Searching file contents with Python's ``re``: the same result whatever tools an image has."""

import contextlib
import os
import re
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType

from codeenv.guest.places import PlaceError, Places
from codeenv.guest.places import folder as held_folder

_GIT = ("git", "-c", "core.fsmonitor=false", "ls-files", "-coz", "--exclude-standard")
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_LARGEST = 10 * 1024**2
_SNIFF = 8192
_LINE = 4000
Row = tuple[str, int, str, list[str], list[str]]
"""Path, line number, text, lines before, lines after."""


@dataclass(frozen=True, slots=True)
class Query:
    """See ``SearchQuery``."""

    pattern: str
    path: str
    glob: str
    ignore_case: bool
    fixed_strings: bool
    context_lines: int
    max_results: int
    timeout: float


@dataclass
class Hits:
    """What was found: the first ``max_results`` lines, and how many there are per file."""

    rows: list[Row] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


class _TooSlow(Exception):
    """Raised by the alarm."""


def search(query: Query, places: Places, variables: Mapping[str, str]) -> Hits:
    """Search the tracked and the untracked, not ignored, text files.

    Raises:
        PlaceError: ``bad_pattern``, ``not_found``, ``outside``.
    """
    pattern = _compile(query)
    real = places.existing(query.path)
    hits = Hits()
    try:
        with _alarm(query.timeout):
            for path in sorted(_candidates(real, places, variables)):
                if _wanted(path, query.glob):
                    _search_file(path, os.path.join(places.workspace, path), pattern, query, hits)
    except _TooSlow:
        raise PlaceError("bad_pattern", f"the search took over {query.timeout:g} s") from None
    return hits


def _compile(query: Query) -> re.Pattern[str]:
    text = re.escape(query.pattern) if query.fixed_strings else query.pattern
    try:
        return re.compile(text, re.IGNORECASE if query.ignore_case else 0)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise PlaceError("bad_pattern", f"{error.msg}{where}") from error
    except (OverflowError, RecursionError) as error:
        raise PlaceError("bad_pattern", f"the pattern is too large: {error}") from error


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    deadline = time.monotonic() + seconds

    def ring(number: int, frame: FrameType | None) -> None:
        if time.monotonic() >= deadline:  # else it is a signal of the agent's
            raise _TooSlow

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _candidates(real: str, places: Places, variables: Mapping[str, str]) -> set[str]:
    """Return the files at or below ``real``, as callers see their paths."""
    if not os.path.isdir(real):
        return {places.relative(real)}
    base = places.relative(real)
    tracked = None
    if not os.path.isabs(base) and os.path.lexists(f"{places.workspace}/.git"):
        tracked = _git_files(places.workspace, variables)
    if tracked is None:
        return {places.relative(path) for path in _walk(real)}
    return tracked if base == "." else {p for p in tracked if p.startswith(base + "/")}


def _git_files(workspace: str, variables: Mapping[str, str]) -> set[str] | None:
    try:
        listing = subprocess.run(
            _GIT, cwd=workspace, env=variables, stdin=subprocess.DEVNULL, capture_output=True
        )
    except OSError:
        return None
    if listing.returncode != 0:
        return None
    return {os.fsdecode(name) for name in listing.stdout.split(b"\0") if name}


def _walk(folder: str) -> Iterator[str]:
    pending = [folder]
    while pending:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield entry.path
                elif entry.name != ".git":
                    pending.append(entry.path)


def _wanted(path: str, glob: str) -> bool:
    if not glob:
        return True
    name = path if "/" in glob else os.path.basename(path)
    return _glob_match(glob.removeprefix("./"))(name) is not None


def _glob_match(glob: str) -> Callable[[str], re.Match[str] | None]:
    """Compile a glob in which ``**`` crosses folders and ``*`` and ``?`` do not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\])", glob)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    out = ""
    for part in parts:
        if part.startswith("[") and part.endswith("]") and len(part) > 2:
            out += "[" + part[1:-1].replace("\\", r"\\").replace("!", "^", part[1] == "!") + "]"
        else:
            out += known.get(part) or re.escape(part)
    try:
        return re.compile(out, re.DOTALL).fullmatch
    except re.error as error:
        raise PlaceError("bad_pattern", f"bad glob {glob}") from error


def _search_file(path: str, real: str, pattern: re.Pattern[str], query: Query, hits: Hits) -> None:
    lines = _lines(real)
    numbers = [n for n, line in enumerate(lines) if pattern.search(line)]
    if not numbers:
        return
    hits.counts[path] = len(numbers)
    room, around = query.max_results - len(hits.rows), query.context_lines
    for n in numbers[: max(room, 0)]:
        before = [line[:_LINE] for line in lines[max(n - around, 0) : n]]
        after = [line[:_LINE] for line in lines[n + 1 : n + 1 + around]]
        hits.rows.append((path, n + 1, lines[n][:_LINE], before, after))


def _lines(real: str) -> list[str]:
    """Return a text file's lines; none of a binary, huge, special or unreadable one."""
    if os.path.isdir(real):
        return []
    try:
        with held_folder(os.path.dirname(real)) as parent:
            fd = os.open(os.path.basename(real), _OPEN, dir_fd=parent)
    except OSError:
        return []
    with open(fd, "rb", buffering=0) as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return []
        data = file.read()
    if b"\0" in data[:_SNIFF]:
        return []
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
