"""What is not deleted, and in which mode it still can be."""

import pytest

REFUSED = {
    "used at import": "def f():\n    return 1\n\n\nx = f\n",
    "used at import as a default": "def f():\n    return 1\n\n\ndef g(x=f):\n    return x\n",
    "used at import as an annotation": "class f:\n    y = 1\n\n\ndef g(x: f):\n    return x\n",
    "used at import as a base": "class f:\n    y = 1\n\n\nclass g(f):\n    pass\n",
    "bound again": (
        "try:\n    from x import f\nexcept ImportError:\n    def f():\n        return 1\n"
    ),
    "looked up by name": "def f():\n    return 1\n\n\ndef g(x):\n    return getattr(x, 'f')\n",
    "named in a string": "def f():\n    return 1\n\n\nP = 'pkg.code:f'\n",
    "imported lazily": (
        "def f():\n    return 1\n\n\nT = {'f': 1}\n\n\ndef __getattr__(n):\n    return T[n]\n"
    ),
    "registered by its base": (
        "class B:\n    def __init_subclass__(cls):\n        pass\n\n\nclass f(B):\n    y = 1\n"
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_removal_that_breaks_what_stays_is_refused(package, delete, reason):
    kind = reason.partition(" as ")[0]
    with pytest.raises(ValueError, match=kind):
        delete(package(REFUSED[reason]), "f")


def test_an_annotation_that_is_not_evaluated_does_not_refuse(package, delete):
    text = (
        "from __future__ import annotations\n\n\nclass f:\n"
        "    y = 1\n\n\ndef g(x: f):\n    return x\n"
    )
    assert b"class f" not in delete(package(text), "f")["pkg/code.py"].data


@pytest.mark.parametrize(
    "text",
    [
        "class B:\n    def m(self):\n        return 1\n\n\n"
        "class A(B):\n    def m(self):\n        return 2\n",
        "class A(dict):\n    def m(self):\n        return 2\n".replace("m(", "get("),
    ],
)
def test_an_override_cannot_be_removed_but_stubbed(package, delete, text):
    name = "A.get" if "dict" in text else "A.m"
    with pytest.raises(ValueError, match="overrides"):
        delete(package(text), name)
    assert b"raise NotImplementedError" in delete(package(text), name, "stub")["pkg/code.py"].data


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return 1\n\n\nx = f()\n",
        "def f(x):\n    return x\n\n\n@f\ndef g():\n    return 1\n",
        "class f(type):\n    def __new__(cls):\n        return 1\n\n"
        "\nclass g(metaclass=f):\n    pass\n",
    ],
)
def test_what_runs_at_import_is_not_stubbed(package, delete, text):
    with pytest.raises(ValueError, match="called at import"):
        delete(package(text), "f", "stub")


def test_an_entry_point_is_not_removed(package, delete):
    pyproject = '[project]\nname = "pkg"\n[project.scripts]\nrun = "pkg.code:f"\n'
    tree = package("def f():\n    return 1\n", {"pyproject.toml": pyproject})
    with pytest.raises(ValueError, match="entry point"):
        delete(tree, "f")


def test_a_protected_unit_is_refused(python, package):
    tree = package("class A:\n    def __eq__(self, o):\n        return 1\n")
    layout = python.layout(tree)
    unit = python.units(tree, layout)[-1]
    with pytest.raises(ValueError, match="protected"):
        python.delete(tree, layout, [unit], "stub")


def test_a_look_up_by_name_that_other_classes_answer_does_not_refuse(package, delete):
    text = (
        "class A:\n    def run(self):\n        return 1\n\n\nclass B:\n    def run(self):\n"
        "        return 2\n\n    def only(self):\n        return 3\n\n\ndef use(x):\n"
        "    return getattr(x, 'run')() + getattr(x, 'only')()\n"
    )
    tree = package(text)
    assert b"return 2" not in delete(tree, "B.run")["pkg/code.py"].data
    for names in ("B.only", ["A", "B.run"]):
        with pytest.raises(ValueError, match="looked up by name"):
            delete(tree, names)
