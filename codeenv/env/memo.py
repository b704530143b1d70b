"""Values that are made once per key, by whichever thread comes first."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(Generic[K, V]):
    """Keeps the most recently used values; different keys are made at the same time."""

    def __init__(self, size: int) -> None:
        """Keep at most ``size`` values."""
        self._size = size
        self._lock = threading.Lock()
        self._making: dict[K, threading.Lock] = {}
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, made by ``make`` if there is none; a failure is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            value = make()
            self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Keep a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            self._making.pop(key, None)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
