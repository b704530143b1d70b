"""A plug-in goes with its place in the registry, and the statement tells that place."""

import pytest

UNIT = "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\n"
KEPT = "def g():\n    return 2\n\n\n"
CLEANED = {
    "an entry of a dict": ('T = {"f": f, "g": g}\n', 'T = {"g": g}\n', '"f": f'),
    "the last entry of a dict": ('T = {"g": g, "f": f}\n', 'T = {"g": g}\n', '"f": f'),
    "a line of a dict with its comment": (
        'T = {\n    "g": g,\n    "f": f,  # first\n}\n',
        'T = {\n    "g": g,\n}\n',
        '"f": f',
    ),
    "a line of a list with its comment": (
        "T = [\n    # First.\n    # Really.\n    f,\n    # Then.\n    g,\n]\n",
        "T = [\n    # Then.\n    g,\n]\n",
        "f",
    ),
    "the first of those that a comment is about": (
        "T = [\n    # These.\n    f,\n    g,\n]\n",
        "T = [\n    # These.\n    g,\n]\n",
        "f",
    ),
    "an element in parentheses": ("T = [(g), (f)]\n", "T = [(g)]\n", "f"),
    "the first of elements in parentheses": ("T = [(f), (g)]\n", "T = [(g)]\n", "f"),
    "the only entry of a dict": ('T = {"f": f}\n', "T = {}\n", '"f": f'),
    "an entry after an unpacked dict": (
        'U = {}\nT = {**U, "f": f}\n',
        "U = {}\nT = {**U}\n",
        '"f": f',
    ),
    "an entry before an unpacked dict": (
        'U = {}\nT = {"f": f, **U}\n',
        "U = {}\nT = {**U}\n",
        '"f": f',
    ),
    "a key of a dict": ('T = {f: "x", g: "y"}\n', 'T = {g: "y"}\n', 'f: "x"'),
    "an element of a list": ("T = [f, g]\n", "T = [g]\n", "f"),
    "the only element of a list": ("T = [f]\n", "T = []\n", "f"),
    "an element of a tuple of two": ("T = (f, g)\n", "T = (g,)\n", "f"),
    "an element of a set": ("T = {f, g}\n", "T = {g}\n", "f"),
    "what a list is extended by": ("T = []\nT.extend([f, g])\n", "T = []\nT.extend([g])\n", "f"),
    "what a dict is updated with": (
        'T = {}\nT.update({"f": f, "g": g})\n',
        'T = {}\nT.update({"g": g})\n',
        '"f": f',
    ),
    "an element of what a set is made from": (
        "T = frozenset([f, g])\n",
        "T = frozenset([g])\n",
        "f",
    ),
    "what is added to a list": ("T = [g] + [f]\n", "T = [g] + []\n", "f"),
    "a row of a table": ('T = [("f", f), ("g", g)]\n', 'T = [("g", g)]\n', '("f", f)'),
    "a row that is a call": ("T = [str(f), str(g)]\n", "T = [str(g)]\n", "str(f)"),
    "an entry that is a row": ('T = {"f": (f, 1), "g": (g, 2)}\n', None, '"f": (f, 1)'),
    "an element of a group": ('T = {"all": [f, g]}\n', 'T = {"all": [g]}\n', "f"),
    "a call that registers": ('T = R()\nT.register("f", f)\nT.register("g", g)\n', None, None),
    "a call that adds": ("T = R()\nT.add_command(f)\nT.add_command(g)\n", None, None),
    "an entry that is set": ('T = {}\nT["f"] = f\nT["g"] = g\n', 'T = {}\nT["g"] = g\n', None),
}
BEFORE = "class R(dict):\n    register = add_command = dict.get\n\n\n"


@pytest.mark.parametrize("place", CLEANED)
def test_what_registers_a_unit_goes_with_it(package, delete, place):
    registry, cleaned, _ = CLEANED[place]
    lines = [line for line in registry.splitlines(keepends=True) if "f)\n" not in line]
    if place == "an entry that is a row":
        cleaned = 'T = {"g": (g, 2)}\n'
    cleaned = "".join(lines) if cleaned is None else cleaned

    damaged = delete(package(BEFORE + UNIT + registry), "f")

    assert damaged["pkg/code.py"].data.decode() == BEFORE + KEPT + cleaned


KEPT_BACK = {
    "one argument of several": "T = R()\nT.register(f, g)\n",
    "an argument of another call": "T = str(f)\n",
    "a part of a record": 'T = {"a": {"call": f, "help": "x"}}\n',
    "another name": "T = f\n",
    "a registration with another use in its line": "T = [f, *str(f.__name__)]\n",
}


@pytest.mark.parametrize("place", KEPT_BACK)
def test_what_is_more_than_a_registration_keeps_a_unit(package, delete, place):
    with pytest.raises(ValueError, match="used at import: f"):
        delete(package(BEFORE + UNIT + KEPT_BACK[place]), "f")


def test_the_last_element_of_a_set_keeps_a_unit(package, delete):
    with pytest.raises(ValueError, match="nothing would be left in T"):
        delete(package(UNIT + "T = {f}\n"), "f")


def test_a_registration_in_another_file_goes_with_its_import(package, delete):
    table = "from pkg.code import f, g\n\nT = {\n    'f': f,\n    'g': g,\n}\n"
    damaged = delete(package(UNIT, {"pkg/table.py": table}), "f")
    expected = "from pkg.code import g\n\nT = {\n    'g': g,\n}\n"
    assert damaged["pkg/table.py"].data.decode() == expected


def test_an_import_that_only_the_registration_used_goes_too(package, delete):
    table = "from re import I, M\n\nfrom pkg.code import f, g\n\nT = {\n    I: f,\n    M: g,\n}\n"
    damaged = delete(package(UNIT, {"pkg/table.py": table}), "f")
    expected = "from re import M\n\nfrom pkg.code import g\n\nT = {\n    M: g,\n}\n"
    assert damaged["pkg/table.py"].data.decode() == expected


def test_a_registration_through_a_module_is_found(package, delete):
    table = "from pkg import code\n\nT = [code.f, code.g]\n"
    damaged = delete(package(UNIT, {"pkg/table.py": table}), "f")
    assert damaged["pkg/table.py"].data == b"from pkg import code\n\nT = [code.g]\n"


@pytest.mark.parametrize("decorator", ["app.route('/')", "command()", "show.register"])
def test_a_unit_that_its_decorator_registers_goes_with_it(package, delete, decorator):
    text = f"app = command = show = object()\n\n\n@{decorator}\ndef f():\n    return 1\n"
    expected = b"app = command = show = object()\n"
    assert delete(package(text), "f")["pkg/code.py"].data == expected


def test_a_registration_does_not_dangle(python, package):
    tree = package(UNIT + 'T = {"f": f}\n\n\ndef use():\n    return T["f"]()\n')
    layout = python.layout(tree)
    units = [u for u in python.units(tree, layout) if u.name == "f"]
    assert python.dangling(tree, layout, units) == ""


@pytest.mark.parametrize("place", [p for p in CLEANED if CLEANED[p][2]])
def test_an_entry_is_told_as_it_was_written(python, package, place):
    registry, _, entry = CLEANED[place]
    assert _told(python, package(BEFORE + UNIT + registry)) == [entry.replace('"', "'")]


def test_a_registering_statement_is_told_whole(python, package):
    text = BEFORE + UNIT + 'T = R()\nT.register(\n    "f", f\n)\n'
    assert _told(python, package(text)) == ["T.register('f', f)"]


@pytest.mark.parametrize(
    ("registry", "told"),
    [
        ('T = {"a  b": f}\n', ["'a  b': f"]),
        ("T = [f, f, g]\n", ["f, f"]),
        ("T = []\nT.append(f)\nT.append(f)\n", ["T.append(f); T.append(f)"]),
    ],
)
def test_entries_are_told_without_what_is_not_in_the_code(python, package, registry, told):
    assert _told(python, package(UNIT + registry)) == told


def test_an_import_and_an_export_are_no_registrations(python, package):
    init = "from pkg.code import f\n\n__all__ = ['f']\n"
    assert _told(python, package(UNIT, {"pkg/__init__.py": init})) == []


def test_units_that_are_only_registered_are_found(python, package):
    text = (
        "app = object()\n\n\n@app.route('/')\ndef a():\n    return 1\n\n\n"
        "def b():\n    return 1\n\n\ndef c():\n    return 1\n\n\n"
        "def d():\n    return 1\n\n\nT = {'b': b, 'd': d}\n\n\ndef use():\n    return d()\n"
    )
    more = "from pkg.code import c as other\n\nT = [other]\n"
    assert _registered(python, package(text, {"pkg/more.py": more})) == ["a", "b", "c"]
    assert _registered(python, package(text)) == ["a", "b"]


def test_the_elements_of_a_set_are_found(python, package):
    assert _registered(python, package(UNIT + "T = {f, g}\n")) == ["f", "g"]


def _registered(python, tree):
    return [u.name for u in python.registered(tree, python.layout(tree))]


def _told(python, tree):
    layout = python.layout(tree)
    units = [u for u in python.units(tree, layout) if u.name == "f"]
    operations = python.delete(tree, layout, units, "remove")
    return [entry for o in operations if (entry := python.registration(tree, o))]
