import pytest

from codeenv.languages.base import Unit
from codeenv.languages.python.describe import summary_of

SOURCE = '''\
import typing


class Store(dict, metaclass=type):
    """Keep things. Really.

    More.
    """

    def __init__(self, size: int = 3, *, name="x") -> None:
        self.size = size

    @property
    def full(self) -> bool:
        return True

    def _inner(self):
        return 1


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@typing.overload
def load(text: str) -> int: ...
@typing.overload
def load(text: bytes) -> str: ...
async def load(text, *rest, strict=False, **options):
    """Load a text, e.g. one line: quickly.

    Raises an error."""
    if strict:
        raise ValueError(f"bad {text}")
    try:
        return 1
    except OSError as error:
        raise typing.Error from error
    raise error
'''


@pytest.fixture
def described(python, package):
    tree = package(SOURCE)
    units = python.units(tree, python.layout(tree))
    return {u.name: python.describe(tree, u) for u in units if not u.protected}


def test_a_class_is_described_by_its_header(described):
    doc = described["Store"]
    assert doc.signature == "class Store(dict, metaclass=type)"
    assert doc.summary == "Keep things."
    assert doc.bases == ("dict",)


def test_a_function_is_described_with_its_overloads_and_errors(described):
    doc = described["load"]
    assert doc.signature == (
        "def load(text: str) -> int\n"
        "def load(text: bytes) -> str\n"
        "async def load(text, *rest, strict=False, **options)"
    )
    assert doc.summary == "Load a text, e.g. one line: quickly."
    assert doc.docstring.endswith("Raises an error.")
    assert doc.raises == ("ValueError", "typing.Error")


def test_fields_that_make_a_constructor_are_told(described):
    assert described["Point"].signature == "class Point:\n    x: int\n    y: int = 0"


def test_decorators_are_told(described):
    assert described["Store.full"].decorators == ("@property",)


def test_identifiers_are_all_names_of_a_source(python):
    names = python.identifiers(b"import a.b as c\nfrom d import e\ndef f(g, *h): return i.j(k=l)\n")
    assert names == set("abcdefghijkl")
    assert python.identifiers(b"not ( python") == frozenset()


def test_tests_tell_names_messages_and_behaviours(python, package):
    text = (
        "import pytest\nfrom pkg.code import load\n\n\n"
        "def test_loads_a_text():\n    assert load('x') == 1\n\n\n"
        'def test_refuses():\n    """Refuses what is bad."""\n'
        "    with pytest.raises(ValueError, match='bad x') as caught:\n        load.strictly('x')\n"
        "    assert str(caught.value) == 'bad x, really'\n\n\n"
        "class TestMore:\n    def test_camelCase(self):\n"
        "        with self.assertRaisesRegex(E, 'no.*'):\n"
        "            pass\n\n    def test_unused(self):\n        other()\n"
    )
    tree = package("", {"tests/test_it.py": text})
    ids = [
        f"tests/test_it.py::{n}"
        for n in ("test_loads_a_text", "test_refuses[1]", "TestMore::test_camelCase")
    ]
    facts = python.test_facts(tree, ids)
    assert {"load", "strictly", "ValueError"} <= facts.names
    assert "other" not in facts.names
    assert set(facts.messages) == {"bad x", "bad x, really", "no.*"}
    assert facts.behaviours == ("loads a text", "refuses: Refuses what is bad", "camel case")


def test_the_texts_of_a_function_are_told_without_docstring_and_what_is_filled_in(python, package):
    code = (
        "def f(x):\n    '''Say it.'''\n    if x:\n        return f'no such {x} key: ' + 'ab'\n"
        "    return '%s is too long, %(n)d' % x, '{} left {0!r}'.format(x)\n"
    )
    tree = package(code)
    (unit,) = python.units(tree, python.layout(tree))
    assert python.describe(tree, unit).texts == ("no such", "key:", "is too long,", "left")


def test_bytes_of_a_function_and_of_its_tests_are_texts_as_well(python, package):
    code = "def f(x):\n    return x + b'Bad Gateway' + b'\\xff\\xfetext'\n"
    test = "from pkg.code import f\n\n\ndef test_f():\n    assert f(b'') == b'502 Bad Gateway'\n"
    tree = package(code, {"tests/test_it.py": test})
    (unit,) = python.units(tree, python.layout(tree))
    assert python.describe(tree, unit).texts == ("Bad Gateway",)
    assert "502 Bad Gateway" in python.test_facts(tree, ["tests/test_it.py::test_f"]).texts


def test_the_numbers_of_a_function_are_told_as_they_are(python, package):
    code = "def f(x=-4731):\n    '''Of 5.'''\n    return x[:0x10] + 2.5 - 3j if x else True\n"
    tree = package(code)
    (unit,) = python.units(tree, python.layout(tree))
    assert python.describe(tree, unit).numbers == (-4731, 16, 2.5, 3j)


def test_texts_and_numbers_of_a_file_are_those_of_its_tables_too(python, package):
    tree = package("'''Of 5 things.'''\nTABLE = {4731: 'no way'}\n\n\ndef f():\n    return 17\n")
    doc = python.describe(tree, Unit("pkg/code.py", "pkg.code", "module", 1, 1, 1, ()))
    assert (doc.texts, doc.numbers) == (("no way",), (4731, 17))


def test_the_constants_of_a_class_are_told_with_it(python, package):
    code = "class Rule:\n    message = 'no way'\n    _own = 1\n    made = int('1')\n    x: int\n"
    tree = package(code)
    (unit,) = python.units(tree, python.layout(tree))
    told = python.describe(tree, unit).signature
    assert told.splitlines() == ["class Rule:", "    message = 'no way'", "    made = ..."]


@pytest.mark.parametrize(
    ("docstring", "summary"),
    [
        ("Say it.  And more.", "Say it."),
        ("Apply all:\n\n* the one\n* the other\n\nArgs:", "Apply all: * the one * the other"),
        ("For example:\n\n>>> f(1)\n2\n\nMore.", "For example:"),
        ("Convert it - or not", "Convert it - or not"),
        ("Convert a text.\n- it works for\n\nrest", "Convert a text."),
        ("", ""),
    ],
)
def test_a_summary_is_a_whole_sentence(docstring, summary):
    assert summary_of(docstring) == summary
