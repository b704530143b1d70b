import pytest

PATH = "tests/test_it.py"


@pytest.fixture(scope="session")
def facts(python, package):
    """Returns what the tests of a file speak of."""

    def read(text, *names):
        tree = package("", {PATH: text})
        return python.test_facts(tree, [f"{PATH}::{name}" for name in names])

    return read


def test_names_of_helpers_fixtures_and_set_up_are_told(facts):
    text = (
        "import pytest\nfrom pkg.code import load\n\n\ndef check(x):\n    assert load(x).deep\n\n\n"
        "@pytest.fixture\ndef thing():\n    return make(size=1)\n\n\n"
        "class TestIt:\n    def setUp(self):\n        self.box = Box()\n\n"
        "    def test_a(self, thing):\n        check(thing)\n\n    def test_b(self):\n"
        "        other()\n"
    )
    names = facts(text, "TestIt::test_a").names
    assert {"load", "deep", "make", "size", "Box"} <= names
    assert "other" not in names


def test_names_that_the_test_itself_or_python_defines_are_not_told(facts):
    text = (
        "import pkg\nfrom pkg import code as c\n\n\ndef test_a(fixture):\n"
        "    i = pkg.call(len([]))\n    for value in c.items:\n"
        "        assert [v for v in fixture] == i\n"
        "    with raises(ValueError):\n        pass\n"
    )
    names = facts(text, "test_a").names
    assert {"call", "items", "ValueError"} <= names
    assert names.isdisjoint({"i", "value", "v", "fixture", "len", "pkg"})


def test_names_that_an_inner_function_or_a_lambda_binds_are_not_told(facts):
    text = (
        "from pkg.code import load\n\n\ndef test_a():\n    def inner(deep):\n        own = deep\n"
        "        return own.field\n\n    assert sorted(load({}), key=lambda d: d.rank) == []\n"
    )
    names = facts(text, "test_a").names
    assert {"load", "field", "rank"} <= names
    assert names.isdisjoint({"inner", "deep", "own", "d", "sorted"})


def test_what_is_in_modules_of_python_itself_is_not_told(facts):
    text = (
        "import time\nfrom itertools import count\nfrom pkg import clock\n\n\ndef test_a():\n"
        "    assert clock.now(count()) < time.time() + time.tick.rate\n"
    )
    names = facts(text, "test_a").names
    assert "now" in names
    assert names.isdisjoint({"time", "count", "tick", "rate"})


@pytest.mark.parametrize(
    "check",
    [
        "self.assertEqual(str(caught.exception), 'bad x')",
        "self.assertIn('bad x', str(err))",
        "assert 'bad x' in str(caught.value)",
        "assert caught.value.args[0] == 'bad x'",
    ],
)
def test_texts_held_against_an_exception_are_messages(facts, check):
    text = f"class TestIt:\n    def test_a(self):\n        {check}\n"
    assert facts(text, "TestIt::test_a").messages == ("bad x",)


def test_keys_of_an_error_are_no_messages(facts):
    text = (
        "def test_a():\n    assert err.value.args[0]['name'] == ['bad x']\n"
        "    assert err.value.args[0] == {'other': ['bad y']}\n"
    )
    assert facts(text, "test_a").messages == ("bad x", "bad y")
    assert facts(text, "test_a").texts == ("name", "bad x", "other", "bad y")


NUMBERS = """\
import pytest

LIMIT = 101
FIRST = [pytest.param(-102, "one"), (103.5, "two")]
ROWS = [*FIRST, (LIMIT, "three")]
OTHER = 110


def check(x):
    return x == 105


@pytest.mark.parametrize("n, word", ROWS)
def test_a(n, word):
    \"\"\"Of 106.\"\"\"
    assert f(n, 0x6B) == -108j  # 109
    assert check(f(True))


def test_b():
    assert OTHER
"""


def test_numbers_of_tests_helpers_and_tables_are_told_as_they_are_written(facts):
    found = facts(NUMBERS, "test_a")
    assert sorted(found.numbers, key=repr) == sorted((-102, 101, 103.5, 105, 107, -108j), key=repr)
    assert facts(NUMBERS, "test_a").numbers == found.numbers
    assert {"one", "two", "three"} <= set(found.texts)
    assert facts(NUMBERS, "test_b").numbers == (110,)


def test_the_number_of_a_test_is_not_told(facts):
    text = "def test_02_dir_marks():\n    pass\n\n\ndef test_404():\n    pass\n"
    assert facts(text, "test_02_dir_marks", "test_404").behaviours == ("dir marks", "404")


def test_a_mark_alone_is_no_message(facts):
    text = "def test_a():\n    assert ':' in str(err.value)\n    assert 'a:' in str(err.value)\n"
    assert facts(text, "test_a").messages == ("a:",)


def test_a_single_word_is_told_with_the_name_of_its_class(facts):
    text = (
        "class HTMLParserTest(TestCase):\n    def test_basic(self):\n        pass\n\n"
        "    def test_two_words(self):\n        pass\n"
    )
    read = facts(text, "HTMLParserTest::test_basic", "HTMLParserTest::test_two_words")
    assert read.behaviours == ("htmlparser basic", "two words")


ASSERTED = (
    "import pytest\nfrom pkg import code\nfrom pkg.code import f\n\n"
    "FIRST = [(1, 'one'), (2, 'two')]\nLAST = [(3, 'three'), (4, 'four')]\n\n\n"
    "@pytest.mark.parametrize('number, word', FIRST + LAST)\ndef test_rows(number, word):\n"
    "    assert f(number) == word\n\n\n"
    "def test_one():\n    text = 'x'\n    assert code.g(text, end=1) == ['x', 1]\n\n\n"
    "def test_context(thing):\n    made = Box()\n    assert f(thing) == 1\n"
    "    assert made.f(1) == 1\n    assert f(open('x')) == 1\n\n\n"
    "class TestIt:\n    def test_a(self):\n        self.assertEqual({'k': None}, f('k'))\n"
)
EVERY = {
    *(f"f({n}) == '{word}'" for n, word in enumerate(("one", "two", "three", "four"), 1)),
    "code.g('x', end=1) == ['x', 1]",
    "f('k') == {'k': None}",
}
TESTS = ("test_rows[a]", "test_one", "test_context", "TestIt::test_a")


def test_examples_are_asserted_calls_with_literals_only(facts):
    assert set(facts(ASSERTED, *TESTS).examples) <= EVERY


def test_most_examples_are_kept_back_and_the_same_ones_every_time(facts):
    examples = facts(ASSERTED, *TESTS).examples
    assert len(examples) == (len(EVERY) + 1) // 3
    assert facts(ASSERTED, *TESTS).examples == examples


def test_examples_come_from_as_many_tests_as_possible(facts):
    rows = "".join(f"    assert f({n}) == {n}\n" for n in range(9))
    text = f"def test_a():\n{rows}\n\ndef test_b():\n    assert g(1) == 2\n"
    examples = facts(text, "test_a", "test_b").examples
    assert len(examples) == 3
    assert "g(1) == 2" in examples


def test_the_only_example_is_kept_back(facts):
    assert facts("def test_a():\n    assert f(1) == 2\n", "test_a").examples == ()


def test_a_helper_of_the_tests_is_in_no_example(facts):
    text = (
        "def strip(x):\n    return x\n\n\nclass Mine:\n    pass\n\n\ndef test_a():\n"
        "    assert strip(f(1)) == 2\n    assert f(strip(1)) == 2\n    assert f(2) == Mine()\n"
    )
    assert facts(text, "test_a").examples == ()


def test_a_value_bound_twice_is_no_example(facts):
    text = "def test_a():\n    x = 1\n    assert f(x) == 1\n    x = 2\n    assert f(x) == 3\n"
    assert facts(text, "test_a").examples == ()


@pytest.mark.parametrize(
    "body",
    [
        "    setup()\n",
        "    x = []\n    x.append(1)\n",
        "    x = Box()\n    assert x.pop() == 1\n",
        "    with mode(1):\n        pass\n",
    ],
)
def test_what_holds_only_after_something_was_done_is_no_example(facts, body):
    checks = "    assert f(x) == 1\n    assert f(x) == x.rest\n"
    more = "    assert f(1) == 1\n" * ("setup" in body or "with" in body)
    text = f"def test_a():\n{body}{checks}{more}\n\ndef test_b(thing):\n    assert f(1) == 1\n"
    assert facts(text, "test_a", "test_b").examples == ()


def test_a_look_at_a_result_is_an_example(facts):
    text = (
        "def test_a():\n    text = 'x'\n    r = parse(text)\n    assert r.fixed == (1,)\n"
        "    assert r['k'] == day(2)\n"
    )
    (example,) = facts(text, "test_a").examples
    assert example in ("parse('x').fixed == (1,)", "parse('x')['k'] == day(2)")


@pytest.mark.parametrize(
    "loop",
    [
        "    pairs = ((1, 'one'), (2, 'two'), (3, 'three'))\n    for n, word in pairs:\n"
        "        assert word == f(n)\n",
        "    for n, word in [(1, 'one'), (2, 'two'), (3, 'three')]:\n        made = f(n)\n"
        "        assert isinstance(made, str)\n        self.assertEqual(made, word)\n",
        "    for n, word in WORDS:\n        with self.subTest(n=n):\n"
        "            self.assertEqual(f(n), word)\n",
        "    for n, word in {1: 'one', 2: 'two', 3: 'three'}.items():\n"
        "        assert f(n) == word\n",
    ],
)
def test_a_loop_over_a_table_gives_an_example_for_a_row(facts, loop):
    text = f"WORDS = [(1, 'one'), (2, 'two'), (3, 'three')]\n\n\ndef test_a():\n{loop}"
    (example,) = facts(text, "test_a").examples
    assert example in ("f(1) == 'one'", "f(2) == 'two'", "f(3) == 'three'")


@pytest.mark.parametrize(
    "loop",
    [
        "    for n in (1, 2, 3):\n        box.add(n)\n        assert f(n) == n\n",
        "    for n in (1, 2, 3):\n        assert f(x) == n\n",
        "    for n in rows():\n        assert f(n) == n\n",
        "    for n in (1, 2, 3):\n        if n:\n            assert f(n) == n\n",
        "    for n in (1, 2, 3):\n        n = change(n)\n        assert f(n) == n\n",
    ],
)
def test_a_loop_that_does_more_than_to_compare_gives_no_example(facts, loop):
    more = "\n\ndef test_b():\n    assert f(9) == 9\n    assert f(8) == 8\n"
    examples = facts(f"def test_a():\n{loop}{more}", "test_a", "test_b").examples
    assert set(examples) <= {"f(9) == 9", "f(8) == 8"}
