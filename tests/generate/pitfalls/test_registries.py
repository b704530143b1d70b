"""Code that something else learns of when the module is imported."""

import pytest

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
