"""Surgery on small sources of our own, each with one trait that deletions stumble over."""

import pytest

from tests.languages.conftest import (  # noqa: F401
    delete,
    host_python,
    package,
    python,
    run,
    tree_of,
)


@pytest.fixture(scope="session")
def units_of(python, package):  # noqa: F811 - fixtures are asked for by their names
    """Reads the units of one module that can be deleted, by name."""

    def read(text, others=None):
        tree = package(text, others)
        found = python.units(tree, python.layout(tree))
        return {u.name: u for u in found if u.path == "pkg/code.py" and not u.protected}

    return read


@pytest.fixture(scope="session")
def removed(package, delete):  # noqa: F811
    """Removes units of one module, runs what is left of it, and returns the text."""

    def go(text, names, others=None):
        left = delete(package(text, others), names)["pkg/code.py"].data
        _run(left)
        return left.decode()

    return go


@pytest.fixture(scope="session")
def stubbed(package, delete):  # noqa: F811
    """Stubs units of one module, runs what is left of it, and returns the text."""

    def go(text, names, others=None):
        left = delete(package(text, others), names, "stub")["pkg/code.py"].data
        _run(left)
        return left.decode()

    return go


@pytest.fixture(scope="session")
def gone_or_refused(package, delete):  # noqa: F811
    """Demands that a removal is refused, or leaves no mention in any file of the package."""

    def go(text, name, others=None):
        tree = package(text, others)
        try:
            left = delete(tree, name)
        except ValueError:
            return
        _run(left["pkg/code.py"].data)
        last = name.rpartition(".")[2].encode()
        assert not [p for p in left if p.startswith("pkg/") and last in left[p].data]

    return go


@pytest.fixture(scope="session")
def dangling(python, package):  # noqa: F811
    """Names what of the code that stays would miss the units."""

    def go(text, names, others=None):
        wanted = [names] if isinstance(names, str) else names
        tree = package(text, others)
        layout = python.layout(tree)
        units = [u for u in python.units(tree, layout) if u.name in wanted and not u.protected]
        assert {u.name for u in units} == set(wanted)
        return python.dangling(tree, layout, units)

    return go


def _run(data):
    exec(compile(data, "pkg/code.py", "exec"), {"__name__": "pkg.code"})
