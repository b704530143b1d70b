"""A repository whose suite has every habit that runs stumble over."""

from codeenv.tree import Entry
from tests.generate.pitfalls import oddsuite
from tests.generate.pitfalls.journey import tree_of

_PROJECT = '''\
[project]
name = "shop"
version = "1"

[tool.pytest.ini_options]
addopts = """
  -n auto --cov=shop --cov-fail-under=100 --strict-markers -W error
  --doctest-modules --doctest-glob=*.md
"""
testpaths = ["tests", "shop", "README.md"]
markers = ["quick: runs at once"]
'''
_README = """\
# shop

>>> from shop import price
>>> price(2, 3)
6
"""
_INIT = """\
from shop.sums import price
from shop.words import glue, initials, slug

__all__ = ["glue", "initials", "price", "slug"]
"""
_WORDS = '''\
"""Words."""


def slug(text):
    """Join words.

    >>> slug("A b")
    'a-b'
    """
    words = text.lower().split()
    joined = "-".join(words)
    return joined


def initials(text):
    """Take first letters."""
    words = text.split()
    letters = [word[0] for word in words]
    return "".join(letters)


def glue(parts):
    """Put parts together."""
    result = ""
    for part in parts:
        result += part
    return result


def shout(text):
    """Say it loudly."""
    louder = text.upper()
    louder += "!"
    return louder
'''
_SUMS = '''\
"""Sums."""


def price(count, each):
    """Multiply."""
    total = 0
    for _ in range(count):
        total += each
    return total


class Basket:
    """Things to buy."""

    def __init__(self):
        self.things = []

    def add(self, name, count):
        """Put things in."""
        for _ in range(count):
            self.things.append(name)
        return self

    def total(self):
        """Count what is in."""
        number = 0
        for _ in self.things:
            number += 1
        return number
'''
TREE = tree_of(
    {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        "docs/api.md": "`glue` `initials` `price` `slug`\n",
        "shop/__init__.py": _INIT,
        "shop/words.py": _WORDS,
        "shop/sums.py": _SUMS,
        "stubs/shop/sums.pyi": "class Basket:\n    def add(self, name: str, count: int): ...\n",
        "tests/conftest.py": oddsuite.CONFTEST,
        "tests/data/Case.txt": "upper",
        "tests/data/case.txt": "lower",
        "tests/data/golden.txt": "a-b",
        "tests/link": Entry(b"data", "link"),
        "tests/test_broken.py": "import nowhere_at_all\n\n\ndef test_a():\n    pass\n",
        "tests/test_ids.py": oddsuite.IDS,
        "tests/test_needs.py": oddsuite.NEEDS,
        "tests/test_order.py": oddsuite.ORDER,
        "tests/test_other_file.py": oddsuite.OTHER_FILE,
        "tests/test_shout.py": oddsuite.SHOUT,
        "tests/test_syntax.py": "def test_a(:\n    pass\n",
        "tests/test_tree.py": oddsuite.TREE,
        "tests/test_unit.py": oddsuite.UNIT,
        "tests/test_unknown_mark.py": oddsuite.MARK,
        "tests/test_words.py": oddsuite.SLUG,
    }
)
