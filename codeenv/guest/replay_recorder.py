"""Records what tests call of the code under test: with data, or with what such calls gave.

Runs in the repository's own pytest process beside the known-good solution.  A call counts where
code of the project is entered from elsewhere; what it calls itself does not.
"""

import functools
import inspect
import json
import os
import sys
import tempfile
import types
from collections.abc import Generator
from typing import Any

import pytest

from codeenv.guest.pytest_report import Channel
from codeenv.guest.pytest_runner import close_input, prepare_path, run
from codeenv.guest.replay_values import named, parts, with_parts
from codeenv.guest.split_wire import NAMES, Encoder, Wire, WireError

_COROUTINE, _GENERATOR, _MANY, _NAMED = 0x80 | 0x200, 0x20, 0x4, 0x8
_STEPS, _LENGTH, _EACH = 6, 600, 40
_LOST = -1
_PECULIAR = frozenset({"__hash__", "__reduce__", "__reduce_ex__", "__getstate__", "__sizeof__"})


class Recorder:
    """Watches tests call, and keeps scripts that call alike."""

    def __init__(self, sources: list[str]) -> None:
        """Watch what is in some files of this folder."""
        self._files = {os.path.realpath(path) for path in sources}
        self._ours: dict[types.CodeType, bool] = {}
        self._count: dict[str, int] = {}
        self._places = (os.getcwd() + os.sep, tempfile.gettempdir() + os.sep)
        self.scripts: dict[str, None] = {}
        self._forget()

    def _forget(self) -> None:
        self._steps: list[list[Wire]] = []
        self._needs: list[set[int]] = []
        self._made: dict[int, int] = {}
        self._touched: dict[int, list[int]] = {}
        self._alive: list[Any] = []
        self._resumed: set[int] = set()
        self._inside: types.FrameType | None = None
        self._pending: tuple[int, Any] | None = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, None]:
        """Watch one test."""
        self._forget()
        before = sys.getprofile()
        sys.setprofile(self._event)
        yield
        sys.setprofile(before)
        self._forget()

    def _event(self, frame: types.FrameType, event: str, given: Any) -> None:  # noqa: ANN401
        try:
            if event == "call" and self._inside is None and self._enters(frame):
                self._inside, self._pending = frame, None
                self._pending = self._noted(frame)
            elif event == "return" and frame is self._inside:
                self._inside = None
                if self._pending is not None:
                    self._keep(*self._pending, given)
        except Exception:  # noqa: BLE001 - a call that is not recorded changes no test
            self._pending = None

    def _enters(self, frame: types.FrameType) -> bool:
        if not self._is_ours(frame) or frame.f_code.co_name.startswith("<"):
            return False
        if frame.f_code.co_flags & _GENERATOR:
            if id(frame) in self._resumed:
                return False
            self._resumed.add(id(frame))
        return frame.f_back is None or not self._is_ours(frame.f_back)

    def _is_ours(self, frame: types.FrameType) -> bool:
        found = self._ours.get(frame.f_code)
        if found is None:
            module = sys.modules.get(frame.f_globals.get("__name__", ""))
            file = getattr(module, "__file__", None)
            found = bool(file) and os.path.realpath(str(file)) in self._files
            self._ours[frame.f_code] = found
        return found

    def _noted(self, frame: types.FrameType) -> tuple[int, Any] | None:
        """Return the number of the step that calls alike, and the object that it makes."""
        positional, keywords = _arguments(frame)
        needs: set[int] = set()
        try:
            step, made = self._step(frame, positional, keywords, needs)
        except WireError:
            for value in (*positional, *keywords.values()):
                if id(value) in self._made:
                    self._made[id(value)] = _LOST
            return None
        number = len(self._steps)
        self._steps.append(step)
        earlier = {n for origin in needs for n in self._touched[origin]}
        self._needs.append(earlier)
        for origin in needs:
            self._touched[origin].append(number)
        self._write(number)
        return number, made

    def _step(
        self,
        frame: types.FrameType,
        positional: list[Any],
        keywords: dict[str, Any],
        needs: set[int],
    ) -> tuple[list[Wire], Any]:
        code = frame.f_code
        if code.co_flags & _COROUTINE or code.co_name in _PECULIAR:
            raise WireError("what this gives is no answer")
        encode = Encoder(_Recorded(self._made, needs)).encode
        target, function, bound, made = _target(frame, positional)
        if made is None and bound and not isinstance(target, str):
            wire = encode(positional[0])
            if wire[:1] != ["step"]:
                raise WireError("it is not known where an object comes from")
            target = [wire[1], target[0]]
        if function is None:
            return [target], made
        left = positional[1:] if bound else positional
        left, rest = _without_defaults(function, code, left, keywords, bound)
        args, kwargs = [encode(v) for v in left], {n: encode(v) for n, v in rest.items()}
        return [target, args, kwargs] if kwargs else [target, args], made

    def _keep(self, number: int, made: Any, given: Any) -> None:  # noqa: ANN401 - any objects
        value = given if made is None else made
        if value is None or id(value) in self._made or type(value) in NAMES:
            return
        self._alive.append(value)
        self._made[id(value)] = number
        self._touched[number] = [number]

    def _write(self, number: int) -> None:
        wanted, todo = {number}, [number]
        while todo:
            new = self._needs[todo.pop()] - wanted
            wanted |= new
            todo += new
        if len(wanted) > _STEPS:
            return
        place = {old: new for new, old in enumerate(sorted(wanted))}
        steps = [_renumbered(self._steps[old], place) for old in sorted(wanted)]
        text = json.dumps(steps)
        last = json.dumps(self._steps[number][0])
        if any(place in text for place in self._places):
            return
        if len(text) <= _LENGTH and self._count.get(last, 0) < _EACH and text not in self.scripts:
            self._count[last] = self._count.get(last, 0) + 1
            self.scripts[text] = None


class _Recorded:
    """Says which step made an object, or where it can be found."""

    def __init__(self, made: dict[int, int], needs: set[int]) -> None:
        self._made, self._needs = made, needs

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        number = self._made.get(id(value))
        if number == _LOST:
            raise WireError("what happened to an object is not known")
        if number is not None:
            self._needs.add(number)
            return ["step", number]
        if isinstance(value, type) and value in NAMES:
            return ["standard", NAMES[value]]
        return ["named", _path(value)]

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        raise WireError("a record is only written")


def _arguments(frame: types.FrameType) -> tuple[list[Any], dict[str, Any]]:
    code, local = frame.f_code, frame.f_locals
    names, count = code.co_varnames, code.co_argcount
    positional = [local[name] for name in names[:count]]
    last = count + code.co_kwonlyargcount
    keywords = {name: local[name] for name in names[count:last]}
    if code.co_flags & _MANY:
        positional += local[names[last]]
        last += 1
    if code.co_flags & _NAMED:
        keywords |= local[names[last]]
    return positional, keywords


def _target(frame: types.FrameType, positional: list[Any]) -> tuple[Any, Any, bool, Any]:
    """Return what is called, its function, whether it is bound, and the object that it makes.

    Of a method the target is only its name; of a property there is no function.
    """
    code, name = frame.f_code, frame.f_code.co_name
    first = positional[0] if positional else None
    if name == "__init__" and positional:
        made: Any = type(first)
        return _path(made), made.__init__, True, first
    kind = first if isinstance(first, type) else type(first)
    entry = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if entry is not None and _code_of(entry) is code:
        if isinstance(entry, classmethod):
            return f"{_path(kind)}.{name}", entry.__func__, True, None
        if isinstance(entry, property | functools.cached_property):
            return [name], None, True, None
        if not isinstance(entry, staticmethod) and kind is not first:
            return [name], entry, True, None
    found = frame.f_globals.get(name)
    if _code_of(found) is not code:
        raise WireError("it is not known what is called")
    return f"{frame.f_globals['__name__']}:{name}", found, False, None


def _code_of(entry: Any) -> types.CodeType | None:  # noqa: ANN401 - anything
    for name in ("fget", "func", "__func__"):
        entry = getattr(entry, name, None) or entry
    return getattr(inspect.unwrap(entry), "__code__", None) if callable(entry) else None


def _without_defaults(
    function: Any,  # noqa: ANN401 - a function
    code: types.CodeType,
    positional: list[Any],
    keywords: dict[str, Any],
    bound: bool,
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments without those that are the defaults anyway."""
    plain = inspect.unwrap(function)
    defaults = plain.__defaults__ or ()
    declared = code.co_argcount - bound
    while (
        len(positional) <= declared
        and (place := len(positional) - 1 - declared + len(defaults)) >= 0
        and positional
        and positional[-1] is defaults[place]
    ):
        positional = positional[:-1]
    usual = plain.__kwdefaults__ or {}
    return positional, {n: v for n, v in keywords.items() if n not in usual or usual[n] is not v}


def _path(value: Any) -> str:  # noqa: ANN401 - a class or a function
    """Return the name under which a module holds something."""
    path = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '')}"
    try:
        found = named(path)
    except (ImportError, AttributeError, ValueError):
        found = None
    if found is not value or value is None:
        raise WireError("no module holds it")
    return path


def _renumbered(step: list[Wire], place: dict[int, int]) -> list[Wire]:
    target, *arguments = step
    if not isinstance(target, str):
        target = [place[target[0]], target[1]]
    if not arguments:
        return [target]
    args, *named_ones = arguments
    kwargs = [{n: _moved(v, place) for n, v in each.items()} for each in named_ones]
    return [target, [_moved(each, place) for each in args], *kwargs]


def _moved(wire: Wire, place: dict[int, int]) -> Wire:
    if isinstance(wire, list) and wire[0] == "step":
        return ["step", place[wire[1]]]
    return with_parts(wire, [_moved(part, place) for part in parts(wire)])


def main(request: dict[str, Any]) -> None:
    """Run tests, tell what they called, and end the process."""
    channel = Channel(3)
    close_input()
    prepare_path(os.getcwd())
    recorder = Recorder(request["sources"])
    status = run(request, channel, (recorder,))
    for script in recorder.scripts:
        channel.send({"script": script})
    channel.send({"end": status})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
