"""The test files of the repository in ``oddshop``: each has habits that runs stumble over."""

IDS = """\
import datetime
import os

import pytest
from shop import glue, slug

CASES = ["a b", "a/b", "a::b[c]", "\\\\n", "é", "\\x00", "2001-02-03", ""]
LONG = pytest.param("x", id="x" * 10_000)


@pytest.mark.quick
@pytest.mark.parametrize("text", [*CASES, LONG])
def test_glue(text):
    assert glue([text, "!"]) == text + "!"


@pytest.mark.parametrize("stamp", [os.urandom(8).hex()])
def test_stamp(stamp):
    assert slug(f"{stamp} B") == f"{stamp}-b"


@pytest.mark.parametrize("year", [datetime.date.today().year, 2001])
def test_year(year):
    assert slug(f"{year} B") == f"{year}-b"
"""
UNIT = """\
import unittest

from shop.sums import Basket


class TestBasket(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name = "tea"

    def setUp(self):
        self.basket = Basket()

    def test_add(self):
        for count in range(3):
            with self.subTest(count=count):
                self.assertEqual(len(Basket().add(self.name, count).things), count)

    def test_total(self):
        self.assertEqual(self.basket.add(self.name, 2).total(), 2)

    @unittest.skip("never")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_known_fault(self):
        self.assertEqual(self.basket.total(), 1)
"""
TREE = """\
import os
import re
from pathlib import Path

import shop

ROOT = Path(__file__).parent.parent


def test_it_writes_into_the_tree():
    for place in (ROOT / "shop" / "made.txt", ROOT / "tests" / "made.txt"):
        assert not place.exists()
        place.write_text(shop.initials("a b"))


def test_what_it_writes_is_right():
    place = ROOT / "shop" / "right.txt"
    assert not place.exists()
    place.write_text(shop.initials("a b"))
    assert place.read_text() == "ab"


def test_the_source_defines_it():
    assert "def initials" in (ROOT / "shop" / "words.py").read_text()


def test_everything_is_listed():
    listed = re.findall(r"`(\\w+)`", (ROOT / "docs" / "api.md").read_text())
    assert sorted(shop.__all__) == sorted(listed)


def test_a_link_is_followed():
    assert (ROOT / "tests" / "link" / "golden.txt").read_text() == "a-b"


def test_what_nobody_may_read_is_not_read():
    place = ROOT / "secret"
    place.touch(mode=0)
    assert not os.access(place, os.R_OK)


def test_names_differ_in_case_only():
    texts = {(ROOT / "tests" / "data" / name).read_text() for name in ("Case.txt", "case.txt")}
    assert len(texts) == 2
"""
NEEDS = """\
import locale
import os
import socket

from shop import slug


def test_terminal():
    os.close(os.open("/dev/tty", os.O_RDWR))


def test_terminal_size():
    assert os.get_terminal_size()


def test_network():
    socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_display():
    import tkinter

    tkinter.Tk().destroy()


def test_german():
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")


def test_loopback_of_ipv6():
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        socket.create_connection(server.getsockname()[:2]).close()


def test_none_of_it():
    assert slug("A b c") == "a-b-c"
"""
LUCK = """\
import os

import pytest

from shop import slug


def test_rarely():
    assert os.urandom(1)[0] < 4


@pytest.mark.parametrize("coin", range(64))
def test_coin(coin):
    assert os.urandom(1)[0] < 128


def test_without_luck():
    assert slug("A") == "a"
"""
ORDER = """\
import os

import shop

SEEN = []


def _follow(number):
    assert len(SEEN) == number
    SEEN.append(number)


def test_0():
    shop.marked = True


def test_1():
    _follow(0)


def test_2():
    _follow(1)


def test_3():
    _follow(2)


def test_4():
    _follow(3)


def test_hash_seed():
    assert os.environ["PYTHONHASHSEED"] == "0"
"""
OTHER_FILE = """\
import shop


def test_needs_another_file():
    assert shop.marked
"""
CONFTEST = """\
import pytest
from shop.words import shout


@pytest.fixture(autouse=True)
def loud():
    yield
    assert shout
"""
SHOUT = """\
from shop.words import shout


def test_shout():
    assert shout("a") == "A!"
"""
MARK = """\
import pytest


@pytest.mark.qiuck
def test_a():
    pass
"""
SLUG = """\
from pathlib import Path

from shop import initials, slug

GOLDEN = Path(__file__).parent / "data" / "golden.txt"


def test_golden():
    assert slug("A b") == GOLDEN.read_text()


def test_initials():
    assert initials("Big deal") == "Bd"


def test_initials_of_nothing():
    assert initials("") == ""
"""
