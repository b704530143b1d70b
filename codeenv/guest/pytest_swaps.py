"""Try lazy and slightly wrong versions of functions in a process that has collected the suite.

Runs inside a sandbox.  For every try the process forks; the child swaps the code of the functions
and runs tests, so that nothing is imported or collected again.
"""

import gc
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

import pytest

from codeenv.guest.pytest_children import Children, Limit, Silent
from codeenv.guest.pytest_leftovers import Lost
from codeenv.guest.pytest_plugin import Plugin, limits_of
from codeenv.guest.pytest_report import Channel

RAISES = "raise NotImplementedError"
# What code that only seems to work returns; ``values`` are a call's positional arguments.
LAZY = (
    *("None", "True", "False", "0", "''", "[]", "{}"),
    "values[-1] if values else None",
)
_PATIENCE, _SHORT, _WAIT = 10, 0.2, 2.0
"""With other code than the true one a test may take ten times as long, and at least so many seconds
of processor time, and by the clock: many loop or wait for ever then."""
_MOST_TESTS = 48
"""Of one feature that all versions are tried on: some have hundreds.  Of more, if all are weak."""
Functions = dict[tuple[str, str], list[FunctionType]]


class Swapper:
    """Runs the tries of a request instead of the session's tests."""

    def __init__(self, request: dict[str, Any], channel: Channel, plugin: Plugin) -> None:
        """Keep the request; ``plugin`` reports the outcomes of a child's tests."""
        self._swaps = request["swaps"]
        self._limit_of = limits_of(request)
        self._channel = channel
        self._plugin = plugin
        self._folder = os.getcwd()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Make every try, and report what came of it."""
        items = {item.nodeid: item for item in session.items}
        functions = functions_in(self._folder)
        gc.collect()
        gc.freeze()  # children share what is there already; functions were looked for before
        children = Children(self._plugin, self._folder)
        self._channel.send({"ready": len(items)})
        for number, swap in enumerate(self._swaps):
            try:
                found = self._try(swap, items, functions, children)
            except (Lost, Silent) as error:
                found = {"problem": str(error)}
            self._channel.send({"swap": number, **found})
        return True

    def _try(
        self,
        swap: dict[str, Any],
        items: dict[str, pytest.Item],
        functions: Functions,
        children: Children,
    ) -> dict[str, Any]:
        wanted = [(path, name) for path, name in swap["symbols"]]
        lost = [name for path, name in wanted if (path, name) not in functions]
        if lost or not wanted:
            return {"problem": f"not in memory: {', '.join(lost[:3])}"}
        targets = [function for key in wanted for function in functions[key]]
        asked = frozenset(swap["tests"])
        known = [item for test, item in items.items() if test in asked]
        true = children.run(known, _nothing, self._limit_of)
        steady = [item for item in known if item.nodeid in true.passed]

        def limit_of(test: str) -> Limit:
            wall, cpu = true.spent[test]
            return _WAIT + _PATIENCE * wall, _SHORT + _PATIENCE * cpu

        raising = children.run(steady, _lazy(targets, RAISES), limit_of)
        failing = [item for item in steady if item.nodeid not in raising.passed]
        unsteady = len(known) - len(steady)
        if unsteady and not failing:
            return {"problem": f"{unsteady} tests do not pass on their own here"}
        weak, tried = dict[str, str](), list[pytest.Item]()
        for some in _most_telling_first(failing, swap["tests"]):
            tried += some
            if swap["lazy"]:
                weak |= _passed_by_constants(some, targets, children, limit_of)
            if len(weak) < len(tried):
                break
        strong = [item for item in tried if item.nodeid not in weak]
        survivors, changes = self._survivors(swap, strong, functions, children, limit_of)
        return {
            "failing": [item.nodeid for item in failing],
            "weak": weak,
            "untried": [item.nodeid for item in failing if item not in tried],
            "survivors": survivors,
            "mutants": changes,
            "waits": bool(raising.slow),
            "problem": "",
        }

    def _survivors(
        self,
        swap: dict[str, Any],
        items: Sequence[pytest.Item],
        functions: Functions,
        children: Children,
        limit_of: Callable[[str], Limit],
    ) -> tuple[list[str], int]:
        """Return the small changes that no test notices, and how many were tried."""
        survivors, tried = [], 0
        for mutant in swap["mutants"] if items else ():
            swapped = _mutated(mutant, functions, self._folder)
            if swapped:
                found = children.run(items, _exchanged(swapped), limit_of, until_failure=True)
                tried += 1
                if len(found.passed) == len(items):
                    survivors.append(mutant["told"])
        return survivors, tried


def _most_telling_first(items: list[pytest.Item], ranked: list[str]) -> Iterator[list[pytest.Item]]:
    """Yield tests by their place in a ranking, not too many at a time."""
    names = {item.nodeid for item in items}
    left = [test for test in ranked if test in names]
    for start in range(0, len(left), _MOST_TESTS):
        chosen = frozenset(left[start : start + _MOST_TESTS])
        yield [item for item in items if item.nodeid in chosen]


def _passed_by_constants(
    items: Sequence[pytest.Item],
    targets: Sequence[FunctionType],
    children: Children,
    limit_of: Callable[[str], Limit],
) -> dict[str, str]:
    """Return the tests that pass while the functions return a constant, and which."""
    weak: dict[str, str] = {}
    left = list(items)
    for value in LAZY:
        found = children.run(left, _lazy(targets, f"return {value}"), limit_of)
        weak.update(dict.fromkeys(found.passed, value))
        # What ran out of time with one constant would loop with another, most likely.
        left = [i for i in left if i.nodeid not in found.passed | found.slow]
    return weak


def functions_in(folder: str) -> Functions:
    """Return the Python functions in memory that were written in a folder, by path and name."""
    root = os.path.realpath(folder) + os.sep
    places: dict[str, str] = {}
    found: Functions = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            code = thing.__code__
            if code.co_filename not in places:
                places[code.co_filename] = os.path.realpath(code.co_filename)
            path = places[code.co_filename]
            if path.startswith(root):
                found.setdefault((path[len(root) :], code.co_qualname), []).append(thing)
    return found


def swap_code(function: FunctionType, body: str) -> None:
    """Give a function another body, whatever arguments it is called with."""
    old = function.__code__
    waits = bool(old.co_flags & 0x80)  # CO_COROUTINE
    function.__code__ = _template(body, waits).replace(
        co_name=old.co_name,
        co_qualname=old.co_qualname,
        co_filename=old.co_filename,
        co_firstlineno=old.co_firstlineno,
        co_freevars=old.co_freevars,
    )


def _template(body: str, waits: bool) -> CodeType:
    space: dict[str, Any] = {}
    source = f"{'async ' if waits else ''}def lazy(*values, **more):\n    {body}\n"
    exec(compile(source, "<lazy>", "exec"), space)
    return space["lazy"].__code__  # type: ignore[no-any-return]


def _lazy(targets: Sequence[FunctionType], body: str) -> Callable[[], None]:
    def change() -> None:
        for target in targets:
            swap_code(target, body)

    return change


def _exchanged(swapped: Sequence[tuple[FunctionType, CodeType]]) -> Callable[[], None]:
    def change() -> None:
        for function, code in swapped:
            function.__code__ = code

    return change


def _mutated(
    mutant: dict[str, Any], functions: Functions, folder: str
) -> list[tuple[FunctionType, CodeType]]:
    """Return the functions with the code that a small edit of their file gives them.

    None, where the file or what is in memory is not what the edit was made for.
    """
    targets = functions[mutant["path"], mutant["symbol"]]
    with open(os.path.join(folder, mutant["path"]), "rb") as file:
        data = file.read()
    if data[mutant["start"] : mutant["end"]] != mutant["old"].encode():
        return []
    text = data[: mutant["start"]] + mutant["new"].encode() + data[mutant["end"] :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a suite may have made errors of them
        whole = compile(text, targets[0].__code__.co_filename, "exec", dont_inherit=True)
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(whole)}
    found = [(f, codes.get((f.__code__.co_qualname, f.__code__.co_firstlineno))) for f in targets]
    return [
        (function, code)
        for function, code in found
        if code is not None and code.co_freevars == function.__code__.co_freevars
    ]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _nothing() -> None:
    """Change nothing."""
