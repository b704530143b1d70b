"""Parsing, whatever other threads do."""

import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeenv.languages.python.references import references
from codeenv.languages.python.syntax import parse_quietly, parse_source

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


def test_the_same_bytes_are_the_same_object_in_every_thread(busy_collector):
    for turn in range(20):
        data = f"{TEXT}# {turn}\n".encode()
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(parse_source, [data] * 8))
        assert len({id(source) for source in found}) == 1


def test_nodes_that_someone_holds_stay_the_ones_that_a_new_look_finds():
    data = b"import os\n\nos.getcwd()\n"
    held = references(data)
    for turn in range(1100):  # more than is remembered
        parse_source(f"x = {turn}\n".encode())
    again = parse_source(data)
    assert again is held.source
    assert held.imports[0].node is again.module.body[0]
