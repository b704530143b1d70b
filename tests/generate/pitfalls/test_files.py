"""Sources whose bytes are unusual: what is not deleted stays as it was, byte for byte."""

import re

import pytest

from codeenv.materialise.operations import apply_operations

NEWLINES = ["\n", "\r\n", "\r"]
SOURCE = (
    "# About all.{n}import os{n}import re{n}{n}{n}# About it.{n}def f(x):{n}    y = os{n}"
    "    return y{n}    # The end.{n}{n}{n}def g():{n}    return re{n}"
)


@pytest.mark.parametrize("newline", NEWLINES)
def test_newlines_stay_as_they_are(package, delete, newline):
    text = SOURCE.format(n=newline)
    left = delete(package(text.encode()), "f")["pkg/code.py"].data.decode()
    before, after = text.split(f"import os{newline}"), text.partition("def g")
    assert left == f"{before[0]}import re{newline * 3}def g{after[2]}"


@pytest.mark.parametrize("newline", NEWLINES)
def test_a_stub_ends_its_line_as_the_file_does(package, delete, newline):
    text = SOURCE.format(n=newline)
    left = delete(package(text.encode()), "f", "stub")["pkg/code.py"].data.decode()
    assert f"def f(x):{newline}    raise NotImplementedError{newline * 3}def g" in left
    assert set(re.findall("\r\n|\r|\n", left)) == {newline}


def test_newlines_of_two_kinds_stay_as_they_are(package, delete):
    text = "first = 1\r\n\n\ndef f():\r\n    y = 1\n    return y\r\n\n\nlast = 1\n"
    assert delete(package(text.encode()), "f")["pkg/code.py"].data == b"first = 1\r\n\n\nlast = 1\n"


ENCODINGS = {
    "latin-1": "Grüße",
    "cp1252": "„Grüße“ – €",
    "koi8-r": "привет",
    "shift_jis": "表ソ能",
    "euc-kr": "안녕",
    "utf-8": "日本🙂",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("line", ["# coding: {}", "#!/usr/bin/python\n# -*- coding: {} -*-"])
def test_a_declared_encoding_shifts_no_byte(package, delete, encoding, line):
    word = ENCODINGS[encoding]
    head = f"{line.format(encoding)}\nfirst = '{word}'\n\n\n"
    tail = f"last = '{word}'  # {word}\n"
    data = f"{head}def f():\n    y = '{word}'\n    return y\n\n\n{tail}".encode(encoding)
    assert delete(package(data), "f")["pkg/code.py"].data == (head + tail).encode(encoding)


def test_the_declaration_of_an_encoding_is_not_a_comment_of_the_first_function(package, delete):
    text = "# -*- coding: latin-1 -*-\ndef f():\n    return 'ü'\n\n\nlast = 'ü'\n"
    left = delete(package(text.encode("latin-1")), "f")["pkg/code.py"].data
    assert left == "# -*- coding: latin-1 -*-\nlast = 'ü'\n".encode("latin-1")


@pytest.mark.parametrize("data", [b"\xff\xfex = 1", b"# coding: no-such\nx = 1\n", b"x = '\xe9'\n"])
def test_a_file_that_cannot_be_read_is_left_alone(python, package, delete, data):
    tree = package("def f():\n    return 1\n", {"pkg/odd.py": data})
    assert not [u for u in python.units(tree, python.layout(tree)) if u.path == "pkg/odd.py"]
    assert delete(tree, "f")["pkg/odd.py"].data == data


def test_a_file_that_cannot_be_read_may_use_what_it_names(package, delete):
    tree = package("def greet():\n    return 1\n", {"pkg/odd.py": b"# \xff\ngreet()\n"})
    with pytest.raises(ValueError, match="cannot be read"):
        delete(tree, "greet")


def test_form_feeds_between_definitions_stay(removed):
    text = "first = 1\n\x0c\ndef g():\n    return 1\n\x0c\n\ndef f():\n    y = 1\n    return y\n"
    assert removed(text, "f") == "first = 1\n\x0c\ndef g():\n    return 1\n"


def test_a_form_feed_before_a_method_is_no_indentation(removed):
    text = (
        "class A:\n    size = 1\n\x0c\n    def f(self):\n        y = 1\n        return y\n"
        "\x0c    def g(self):\n        return 1\n"
    )
    left = removed(text, "A.f")
    assert left == "class A:\n    size = 1\n\x0c\n\x0c    def g(self):\n        return 1\n"


def test_tabs_and_spaces_in_one_class_stay(removed, stubbed):
    text = (
        "class A:\n\tsize = 1\n\tdef f(self):\n\t\tif 1:\n\t\t    return 1\n\t\treturn 2\n\n"
        "\tdef g(self):\n\t        return 1\n"
    )
    rest = "\n\tdef g(self):\n\t        return 1\n"
    assert removed(text, "A.f") == f"class A:\n\tsize = 1\n{rest}"
    stub = "\tdef f(self):\n\t\traise NotImplementedError\n"
    assert stubbed(text, "A.f") == f"class A:\n\tsize = 1\n{stub}{rest}"


def test_a_file_without_a_newline_at_its_end_has_none_afterwards(removed, stubbed):
    text = "first = 1\n\n\ndef f():\n    y = 1\n    return y"
    assert removed(text, "f") == "first = 1\n"
    assert stubbed(text, "f") == "first = 1\n\n\ndef f():\n    raise NotImplementedError"


def test_text_that_looks_like_code_is_text(removed):
    text = (
        '\'\'\'\ndef f():\n    """\n\'\'\'\n\n\ndef f():\n    """Say."""\n    y = 1\n    return y\n'
    )
    assert removed(text, "f") == "'''\ndef f():\n    \"\"\"\n'''\n"


def test_a_linked_source_is_read_once_and_stays_a_link(python, tree_of, package):
    tree = package("def f():\n    return 1\n")
    entry = type(tree["pkg/code.py"])
    linked = type(tree)({**tree, "pkg/twin.py": entry(b"code.py", "link")})
    layout = python.layout(linked)
    units = [u for u in python.units(linked, layout) if u.name == "f"]
    assert [u.path for u in units] == ["pkg/code.py"]
    left = apply_operations(linked, python.delete(linked, layout, units, "remove"))
    assert left["pkg/twin.py"] == entry(b"code.py", "link")


def test_files_whose_names_differ_in_case_only_are_two_files(python, package, delete):
    tree = package(
        "def f():\n    return 1\n",
        {
            "pkg/Code.py": "def f():\n    return 2\n",
            "pkg/other.py": "from .Code import f\n\nx = f\n",
        },
    )
    found = [u.path for u in python.units(tree, python.layout(tree)) if u.name == "f"]
    assert found == ["pkg/Code.py", "pkg/code.py"]
    left = delete(tree, "f")
    assert left["pkg/code.py"].data == b""
    assert {p: left[p] for p in ("pkg/Code.py", "pkg/other.py")} == {
        p: tree[p] for p in ("pkg/Code.py", "pkg/other.py")
    }


TESTS = (
    "# coding: latin-1\r\nimport os\r\n\r\nFIRST = 'é'\r\n\r\n\r\n"
    "def test_a():\r\n    assert os.name != 'ü'\r\n\r\n\r\n"
    "class TestB:\r\n\tdef test_b(self):\r\n\t\tassert FIRST != 'ß'\r\n"
)


def test_hiding_a_test_is_as_exact(python, package):
    tree = package("", {"tests/test_it.py": TESTS.encode("latin-1")})
    ids = ("tests/test_it.py::test_a", "tests/test_it.py::TestB::test_b")
    left = apply_operations(tree, python.hide(tree, ids[:1], ids))["tests/test_it.py"].data
    head, _, rest = TESTS.partition("import os\r\n")
    constant, _, rest = rest.partition("def test_a")
    assert left.decode("latin-1") == head + constant.lstrip() + rest[rest.index("class") :]


def test_an_edited_file_says_which_bytes_went(python, package):
    data = "\ufefffirst = '日'\n\n\ndef f():\n    return '本'\n\n\nlast = '語'\n".encode()
    tree = package(data)
    layout = python.layout(tree)
    units = [u for u in python.units(tree, layout) if u.name == "f"]
    (operation,) = python.delete(tree, layout, units, "remove")
    assert data[operation.start : operation.end].startswith(b"def f():")
    assert (
        data[: operation.start] + data[operation.end :]
        == "\ufefffirst = '日'\n\n\nlast = '語'\n".encode()
    )
