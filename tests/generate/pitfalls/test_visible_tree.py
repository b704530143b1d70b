"""What an agent gets works: the tests that stay in its tree pass there."""

from dataclasses import replace

import pytest

from codeenv.generate.models import Reason
from codeenv.generate.pipeline import propose
from codeenv.languages.base import TestRequest
from codeenv.materialise.git import without_git
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


def mirror(text):
    letters = list(text)
    letters.reverse()
    return "".join(letters)
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
    "tests/test_mirror.py": (
        "import json\nfrom pathlib import Path\n\nfrom shop.rules import mirror\n\n\n"
        "def test_mirror():\n    assert mirror('ab') == 'ba'\n\n\n"
        "def test_mirror_of_three():\n    assert mirror('abc') == 'cba'\n\n\n"
        "def test_mirrors():\n"
        "    text = (Path(__file__).parent / 'data' / 'mirrors.json').read_text()\n"
        "    assert {mirror(a): a for a in json.loads(text)} == json.loads(text)\n"
    ),
    "tests/data/mirrors.json": '{"ab": "ba", "ba": "ab"}',
    "tests/data/other.json": "{}",
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


def judge(journey, name):
    found = propose(journey.bench, journey.baseline, journey.coverage, journey.options)
    (verdict,) = journey.judge(*(feature for feature in found if feature.seed.name == name))
    assert verdict.reason == Reason.EMITTED, verdict.detail
    return verdict


@pytest.mark.parametrize("name", ["slug", "initials", "longest"])
def test_what_tests_that_stay_register_is_still_registered(journey, name):
    assert journey.failing(judge(journey, name)) == {}


def test_a_data_file_of_hidden_tests_is_for_grading_only(journey):
    task = journey.task(judge(journey, "mirror"))
    assert "tests/data/mirrors.json" not in task.workspace
    assert "tests/data/mirrors.json" in task.grading_tree
    assert "tests/data/other.json" in task.workspace


def test_visible_tests_of_the_feature_pass_once_it_is_back(journey):
    split = replace(journey, options=replace(journey.options, tests="split"))
    verdict = judge(split, "mirror")
    (hidden,) = verdict.recipe.held_out
    task = journey.task(verdict)
    visible = tuple(t for t in verdict.recipe.fail_to_pass if t != hidden)
    assert len(visible) == 2
    for tree, outcomes in (
        (task.workspace, set()),
        (task.workspace.apply(task.oracle), {"passed"}),
    ):
        run = journey.bench.run(TestRequest(visible), without_git(tree))
        assert {result.outcome for result in run.results.values()} - {"missing"} == outcomes
