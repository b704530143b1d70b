"""What an agent gets works: the tests that stay in its tree pass there."""

import pytest

from codeenv.generate.models import Reason
from codeenv.generate.pipeline import propose
from tests.generate.pitfalls.journey import travel, tree_of

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow]

_RULES = """\
RULES = {}
KINDS = {}


def rule(f):
    RULES[f.__name__] = f
    return f


class Kind:
    def __init_subclass__(cls):
        KINDS[cls.__name__] = cls


def dispatch(name, *given):
    return RULES[name](*given)


def kinds():
    return sorted(KINDS)


def slug(text):
    words = text.lower().split()
    joined = "-".join(words)
    return joined


def initials(text):
    words = text.split()
    letters = [word[0] for word in words]
    return "".join(letters)


def longest(text):
    best = ""
    for word in text.split():
        if len(word) > len(best):
            best = word
    return best
"""
_HANDLERS = """\
from shop.rules import rule


@rule
def greet(name):
    return "hello " + name
"""
_TESTS = {
    "tests/test_imports.py": (
        "from shop import handlers\nfrom shop.rules import dispatch, slug\n\n\n"
        "def test_slug():\n    assert handlers.greet(slug('A b')) == 'hello a-b'\n\n\n"
        "def test_slug_of_one():\n    assert slug('Big') == 'big'\n\n\n"
        "def test_dispatch():\n    assert dispatch('greet', 'you') == 'hello you'\n"
    ),
    "tests/test_helpers.py": (
        "from shop.rules import dispatch, initials, rule\n\n\n"
        "@rule\ndef mine():\n    return 'm'\n\n\n"
        "def test_initials():\n    assert initials('My pet') == mine().upper() + 'p'\n\n\n"
        "def test_initials_of_one():\n    assert initials('big') == 'b'\n\n\n"
        "def test_dispatch():\n    assert dispatch('mine') == 'm'\n"
    ),
    "tests/test_classes.py": (
        "from shop.rules import Kind, kinds, longest\n\n\n"
        "class Mine(Kind):\n    text = 'a bcd ef'\n\n\n"
        "def test_longest():\n    assert longest(Mine.text) == 'bcd'\n\n\n"
        "def test_longest_of_equals():\n    assert longest('ab cd') == 'ab'\n\n\n"
        "def test_kinds():\n    assert 'Mine' in kinds()\n"
    ),
}
TREE = tree_of(
    {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
        "shop/__init__.py": "",
        "shop/rules.py": _RULES,
        "shop/handlers.py": _HANDLERS,
        **_TESTS,
    }
)


@pytest.fixture(scope="module")
def journey(bubblewrap_backend):
    return travel(TREE, bubblewrap_backend)


@pytest.mark.parametrize("name", ["slug", "initials", "longest"])
def test_what_tests_that_stay_register_is_still_registered(journey, name):
    (feature,) = (
        f
        for f in propose(journey.bench, journey.baseline, journey.coverage, journey.options)
        if f.seed.name == name
    )
    (verdict,) = journey.judge(feature)
    assert verdict.reason == Reason.EMITTED, verdict.detail
    assert journey.failing(verdict) == {}
