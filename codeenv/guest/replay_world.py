"""Another world for code that is imported after it: it tells who asks the clock, or chance."""

import datetime
import os
import random
import secrets
import time
import uuid
from typing import Any

_DATE, _DATETIME = datetime.date, datetime.datetime
_UTC = datetime.timezone(datetime.timedelta())


class _Like(type):
    """The class of classes that only make objects of another one."""

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: ANN401 - any object
        return isinstance(instance, cls.__bases__[0])

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.__bases__[0])


def shift_clock(seconds: float) -> None:
    """Let this process believe that it is later."""
    real, local, universal = time.time, time.localtime, time.gmtime
    by = datetime.timedelta(seconds=seconds)

    class Date(datetime.date, metaclass=_Like):
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return _DATE(*args, **kwargs)

        @classmethod
        def today(cls) -> Any:  # noqa: ANN401 - a date
            return (_DATETIME.now() + by).date()

    class Datetime(datetime.datetime, metaclass=_Like):
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return _DATETIME(*args, **kwargs)

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:  # noqa: ANN401 - a datetime
            return _DATETIME.now(tz) + by

        @classmethod
        def today(cls) -> Any:  # noqa: ANN401 - a datetime
            return _DATETIME.now() + by

        @classmethod
        def utcnow(cls) -> Any:  # noqa: ANN401 - a datetime
            return _DATETIME.now(_UTC).replace(tzinfo=None) + by

    changed: Any = datetime
    changed.date, changed.datetime = Date, Datetime
    changed = time
    changed.time = lambda: real() + seconds
    changed.localtime = lambda at=None: local(real() + seconds if at is None else at)
    changed.gmtime = lambda at=None: universal(real() + seconds if at is None else at)


class Chance:
    """Refuses, from some time on, to leave anything in this process to chance."""

    def __init__(self) -> None:
        """Allow it for now: modules may need it while they are imported."""
        self.forbidden = False
        self._watch(random.Random, ("random", "getrandbits"))
        for module, names in _OF_CHANCE:
            self._watch(module, names)

    def _watch(self, owner: Any, names: tuple[str, ...]) -> None:  # noqa: ANN401 - module or class
        for name in names:
            setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, function: Any) -> Any:  # noqa: ANN401 - any function
        def draw(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            if self.forbidden:
                raise RuntimeError("nothing is left to chance here")
            return function(*args, **kwargs)

        return draw


_OF_CHANCE: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (random, ("random", "getrandbits", "choice", "shuffle", "sample", "randint")),
    (random, ("uniform", "_urandom")),
    (secrets, ("token_bytes", "token_hex", "token_urlsafe", "randbelow", "choice")),
    (uuid, ("uuid1", "uuid4")),
    (os, ("urandom",)),
)
