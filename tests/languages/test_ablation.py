import pytest

from codeenv.languages.python.ablation import ablate_tree
from codeenv.tree import Tree

STUB = "raise NotImplementedError"
BODY = "    return 1 + 1\n"


@pytest.fixture
def ablated(tree_of):
    """Returns the texts that lose something, by path."""

    def run(files: dict[str, str], *symbols: tuple[str, str]) -> dict[str, str]:
        tree: Tree = tree_of(files)
        found = ablate_tree(tree, symbols)
        assert not found.delete
        for path, entry in found.write.items():
            compile(entry.data, path, "exec")
        return {path: entry.data.decode() for path, entry in found.write.items()}

    return run


def evaluate(text: str, call: str) -> object:
    names: dict[str, object] = {}
    exec(text, names)
    return eval(call, names)


def test_a_function_loses_its_body_and_nothing_else(ablated):
    text = f"import os\n\nPATCH = 1\n\n\ndef f():\n{BODY}\n\ndef g():\n{BODY}"
    (found,) = ablated({"m.py": text}, ("m.py", "f")).values()
    assert found == text.replace("def f():\n" + BODY, f"def f():\n    {STUB}\n")


def test_a_method_and_a_whole_class_lose_theirs(ablated):
    text = f"class A:\n    X = 1\n\n    def f(self):\n    {BODY}\n    def g(self):\n    {BODY}"
    (one,) = ablated({"m.py": text}, ("m.py", "A.f")).values()
    assert one.count(STUB) == 1
    (both,) = ablated({"m.py": text}, ("m.py", "A")).values()
    assert both.count(STUB) == 2
    assert "X = 1" in both


def test_a_whole_file_loses_every_body(ablated):
    text = f"def f():\n{BODY}\n\nclass A:\n    def g(self):\n    {BODY}"
    (found,) = ablated({"m.py": text}, ("m.py", "")).values()
    assert found.count(STUB) == 2


def test_a_parameter_stands_for_its_function(ablated):
    (found,) = ablated({"m.py": f"def f(p=1):\n{BODY}"}, ("m.py", "f(p)")).values()
    assert STUB in found


@pytest.mark.parametrize("line", ["f = lambda: 2", "f = make(2)", "if True:\n    f = make(2)"])
def test_an_assigned_name_is_bound_to_what_raises(ablated, line):
    text = f"def make(n):\n    return lambda: n\n\n\n{line}\n"
    (found,) = ablated({"m.py": text}, ("m.py", "f")).values()
    with pytest.raises(NotImplementedError):
        evaluate(found, "f()")
    assert evaluate(found, "make(3)()") == 3


def test_what_is_imported_loses_its_body_at_home(ablated):
    files = {
        "pkg/__init__.py": "from pkg.text import f\n",
        "pkg/text.py": "from ._new import g as f\n",
        "pkg/_new.py": f"def g():\n{BODY}",
    }
    found = ablated(files, ("pkg/text.py", "f"))
    assert list(found) == ["pkg/_new.py"]
    assert STUB in found["pkg/_new.py"]


def test_imports_that_go_round_end(ablated):
    files = {"a.py": "from b import f\n", "b.py": "from a import f\n"}
    assert ablated(files, ("a.py", "f")) == {}


def test_a_module_that_became_a_package_is_found(ablated):
    files = {"pkg/text/__init__.py": f"def f():\n{BODY}"}
    assert STUB in ablated(files, ("pkg/text.py", "f"))["pkg/text/__init__.py"]


def test_a_class_without_bodies_refuses_to_be_made(ablated):
    text = "from dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    x: int = 1\n"
    (found,) = ablated({"m.py": text}, ("m.py", "A")).values()
    with pytest.raises(NotImplementedError):
        evaluate(found, "A()")


def test_members_of_an_enumeration_stay(ablated):
    text = "from enum import Enum\n\n\nclass A(Enum):\n    X = 1\n"
    assert ablated({"m.py": text}, ("m.py", "A")) == {}


def test_a_method_that_comes_from_elsewhere_raises(ablated):
    text = f"class Base:\n    def f(self):\n    {BODY}\n\nclass A(Base):\n    pass\n"
    (found,) = ablated({"m.py": text}, ("m.py", "A.f")).values()
    with pytest.raises(NotImplementedError):
        evaluate(found, "A().f()")
    assert evaluate(found, "Base().f()") == 2


@pytest.mark.parametrize("text", ["", "x = 1\n", "def f(:\n", "def f():\n    pass\n"])
def test_where_there_is_nothing_to_take_nothing_changes(ablated, text):
    assert ablated({"m.py": text}, ("m.py", "f"), ("gone.py", "f")) == {}
