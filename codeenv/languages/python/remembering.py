"""Remembers what was worked out of files, as many bytes of them as memory allows.

A count of entries bounds nothing: one syntax tree takes a kilobyte or forty megabytes, and a
generator sees some versions of every large file it works on.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
TREES = 4 * 1024**2
"""Bytes of source for what holds syntax trees: these take up to a hundred times as much."""
NAMES = 32 * 1024**2
"""Bytes of source for what is smaller than the source."""


def remember(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep a function's results for the files it was last asked about.

    Args:
        most: Bytes of these files, taken together; the last one is kept in any case.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept: OrderedDict[tuple[object, ...], R] = OrderedDict()
        lock = threading.Lock()
        held = 0

        @wraps(function)
        def recall(*args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal held
            with lock:
                if args in kept:
                    kept.move_to_end(args)
                    return kept[args]
            value = function(*args, **kwargs)
            with lock:
                held += 0 if args in kept else _size(args)
                kept[args] = value
                while held > most and len(kept) > 1:
                    oldest, _ = kept.popitem(last=False)
                    held -= _size(oldest)
            return value

        return recall

    return decorate


def _size(args: tuple[object, ...]) -> int:
    return sum(len(_data(arg)) for arg in args if not isinstance(arg, str))


def _data(arg: object) -> bytes:
    """Return a file, a parsed one's, or that of what was read of one."""
    while not isinstance(arg, bytes):
        arg = arg.data if hasattr(arg, "data") else cast(_Read, arg).source
    return arg


class _Read(Protocol):
    @property
    def source(self) -> object: ...
