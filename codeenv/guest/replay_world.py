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


def forbid_chance() -> None:
    """Let nothing in this process be left to chance."""
    changed: Any = random.Random
    for name in ("random", "getrandbits", "seed"):
        setattr(changed, name, _refuse)
    for module, names in _OF_CHANCE:
        for name in names:
            setattr(module, name, _refuse)


def _refuse(*_: Any, **__: Any) -> Any:  # noqa: ANN401 - never returns
    raise RuntimeError("nothing is left to chance here")


_OF_CHANCE: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (random, ("random", "getrandbits", "seed", "choice", "shuffle", "sample", "randint")),
    (secrets, ("token_bytes", "token_hex", "token_urlsafe", "randbelow", "choice")),
    (uuid, ("uuid1", "uuid4")),
    (os, ("urandom",)),
)
