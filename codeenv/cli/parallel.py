"""The same work on several things, a few at a time, results in order."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def each(items: Iterable[T], work: Callable[[T], R], *, jobs: int) -> Iterator[R]:
    """Yield ``work(item)`` for every item, in order.

    If the caller stops early (Ctrl-C), what has not started is dropped, and what runs is not
    waited for: closing the backend ends it.
    """
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="codeenv")
    try:
        for future in [pool.submit(work, item) for item in items]:
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
