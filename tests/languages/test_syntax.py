"""Parsing, whatever other threads do."""

import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeenv.languages.python.syntax import parse_quietly

TEXT = "x = " + "[" * 40 + "]" * 40 + "\n" + "def f():\n    return [a + (b, (c,))]\n" * 50


class Slow:
    """Lets other threads run whenever the collector finds one."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        time.sleep(0)


@pytest.fixture
def busy_collector():
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(5)
    sys.setswitchinterval(1e-6)
    yield
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


def test_many_threads_parse_at_once(busy_collector):
    def parse(_: int) -> int:
        garbage = [Slow() for _ in range(20)]
        del garbage
        return len(parse_quietly(TEXT).body)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(parse, range(100))) == {51}
