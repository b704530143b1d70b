"""Code that something else learns of when the module is imported."""

from dataclasses import replace

import pytest

from codeenv.generate.models import KINDS, Feature, Reason
from codeenv.generate.pipeline import propose
from tests.generate.pitfalls.journey import travel

PATH = "tests/test_it.py"
DECORATED = {
    "a command group": (
        "class App:\n    def command(self, *names):\n        return lambda f: f\n\n\napp = App()\n",
        "@app.command('run')\n",
        "def greet(x):\n",
    ),
    "a route": (
        "class App:\n    def route(self, path):\n        return lambda f: f\n\n\napp = App()\n",
        "@app.route('/greet')\n",
        "def greet(x):\n",
    ),
    "a single dispatch": (
        "from functools import singledispatch\n\n\n@singledispatch\ndef show(x):\n    return x\n",
        "@show.register\n",
        "def greet(x: int):\n",
    ),
    "a registry of our own": (
        "TABLE = {}\n\n\ndef rule(f):\n    TABLE[f.__name__] = f\n    return f\n",
        "@rule\n",
        "def greet(x):\n",
    ),
    "a registry with arguments": (
        "TABLE = {}\n\n\ndef rule(name):\n    return lambda f: TABLE.setdefault(name, f)\n",
        "@rule('hello')\n",
        "def greet(x):\n",
    ),
}


def _module(kind):
    head, decorator, header = DECORATED[kind]
    return f"{head}\n\n{decorator}{header}    y = x\n    return y\n"


@pytest.mark.parametrize("kind", DECORATED)
def test_a_registered_function_goes_with_its_registration_or_stays(gone_or_refused, kind):
    gone_or_refused(_module(kind), "greet")


@pytest.mark.parametrize("kind", DECORATED)
def test_a_stub_stays_registered(stubbed, kind):
    text = _module(kind)
    assert stubbed(text, "greet") == text.replace(
        "    y = x\n    return y\n", "    raise NotImplementedError\n"
    )


@pytest.mark.parametrize(
    "entry",
    [
        "TABLE['g'] = greet\n",
        "TABLE.update(g=greet)\n",
        "TABLE |= {\n    'g': greet,\n}\n",
        "import codecs\n\ncodecs.register(greet)\n",
        "import atexit\n\natexit.register(greet)\natexit.unregister(greet)\n",
    ],
)
def test_a_function_entered_into_a_table_goes_with_its_entry_or_stays(gone_or_refused, entry):
    text = f"TABLE = {{}}\n\n\ndef greet(x):\n    y = x\n    return None\n\n\n{entry}"
    gone_or_refused(text, "greet")


def test_a_dispatcher_stays_while_other_functions_are_registered_with_it(package, delete):
    text = (
        "from functools import singledispatch\n\n\n@singledispatch\ndef show(x):\n"
        "    y = x\n    return y\n\n\n@show.register\ndef show_int(x: int):\n    return x\n"
    )
    with pytest.raises(ValueError, match="used at import"):
        delete(package(text), "show")


def test_a_method_of_a_dispatcher_goes_with_its_registration_or_stays(gone_or_refused):
    text = (
        "from functools import singledispatchmethod\n\n\nclass Show:\n    @singledispatchmethod\n"
        "    def show(self, x):\n        return x\n\n    @show.register\n"
        "    def only_int(self, x: int):\n        y = x\n        return y\n"
    )
    gone_or_refused(text, "Show.only_int")


MAKERS = {
    "__init_subclass__": (
        "class Base:\n    kinds = {}\n\n    def __init_subclass__(cls):\n"
        "        Base.kinds[cls.__name__] = cls\n\n\nclass Greeter(Base):\n"
    ),
    "__init_subclass__ of a grandparent": (
        "class Base:\n    kinds = {}\n\n    def __init_subclass__(cls):\n"
        "        Base.kinds[cls.__name__] = cls\n\n\nclass Middle(Base):\n    pass\n\n\n"
        "class Greeter(Middle):\n"
    ),
    "a metaclass of its base": (
        "class Meta(type):\n    kinds = []\n\n    def __init__(cls, *_):\n"
        "        Meta.kinds.append(cls)\n\n\nclass Base(metaclass=Meta):\n    pass\n\n\n"
        "class Greeter(Base):\n"
    ),
    "its own metaclass": (
        "class Meta(type):\n    kinds = []\n\n    def __init__(cls, *_):\n"
        "        Meta.kinds.append(cls)\n\n\nclass Greeter(metaclass=Meta):\n"
    ),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_class_that_its_maker_knows_is_not_removed_unseen(package, delete, maker):
    text = f"{MAKERS[maker]}    def greet(self):\n        y = 1\n        return y\n"
    with pytest.raises(ValueError, match="registered by its base class"):
        delete(package(text), "Greeter")


@pytest.mark.parametrize("maker", MAKERS)
def test_a_stubbed_class_is_still_made(stubbed, maker):
    text = f"{MAKERS[maker]}    def greet(self):\n        y = 1\n        return y\n"
    assert stubbed(text, "Greeter") == text.replace(
        "        y = 1\n        return y\n", "        raise NotImplementedError\n"
    )


def test_an_abstract_base_is_no_registry(removed):
    text = (
        "from abc import ABCMeta\n\n\nclass Greeter(metaclass=ABCMeta):\n    def greet(self):\n"
        "        y = 1\n        return y\n\n\nlast = 1\n"
    )
    assert removed(text, "Greeter") == "last = 1\n"


HOOKS = """\
import pytest


def pytest_addoption(parser):
    group = parser.getgroup("greet")
    words = ["--greet", "--greeting"]
    group.addoption(*words, default="hello")


@pytest.hookimpl(trylast=True)
def pytest_report_header(config):
    told = config.getoption("greet")
    words = ["greets", "with", told]
    return " ".join(words)
"""
HOOKED = {
    "pyproject.toml": (
        '[project]\nname = "pkg"\nversion = "1"\n'
        '[project.entry-points.pytest11]\ngreet = "pkg.code"\n'
    ),
    "pytest.ini": "[pytest]\naddopts = --greet=hey\n",
    "pkg/other.py": "def other():\n    return 1\n",
    PATH: """\
from pkg.code import pytest_addoption, pytest_report_header


class Parser:
    def getgroup(self, name):
        return self

    def addoption(self, *names, default):
        self.added = names, default


def test_option():
    parser = Parser()
    pytest_addoption(parser)
    assert parser.added == (("--greet", "--greeting"), "hello")


def test_header(pytestconfig):
    assert pytest_report_header(pytestconfig) == "greets with hey"


def test_other(pytestconfig):
    assert pytestconfig.getoption("greet") == "hey"
""",
}


def test_a_module_that_an_entry_point_names_does_not_go(python, package):
    tree = package(HOOKS, HOOKED)
    assert [unit.name for unit in python.modules(tree, python.layout(tree))] == ["pkg.other"]


@pytest.fixture(scope="module")
def hooked(package, bubblewrap_backend):
    """A plug-in that the repository's own tests load."""
    journey = travel(package(HOOKS, HOOKED), bubblewrap_backend)
    assert len(journey.baseline.stable) == 3, journey.baseline.quarantined
    return journey


@pytest.mark.bubblewrap
@pytest.mark.slow
def test_hooks_that_pytest_calls_in_every_run_are_not_proposed(hooked):
    options = replace(hooked.options, kinds=KINDS)
    found = propose(hooked.bench, hooked.baseline, hooked.coverage, options)
    assert not [feature for feature in found if "pytest_" in feature.seed.name]


@pytest.mark.bubblewrap
@pytest.mark.slow
def test_a_hook_that_every_run_needs_makes_no_task_if_it_is_tried(hooked):
    bench = hooked.bench
    units = {u.name: u for u in bench.language.units(bench.pristine, bench.layout)}
    unit = units["pytest_addoption"]
    tests = (f"{PATH}::test_option",)
    (verdict,) = hooked.judge(Feature(unit, (unit,), tests, len(unit.lines), "function"))
    assert (verdict.reason, verdict.recipe) == (Reason.BREAKS_COLLECTION, None), verdict.detail
