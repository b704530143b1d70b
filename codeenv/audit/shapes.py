"""Remembers the shapes of library files, in memory and in the cache: they do not change.

The same interpreter and packages are held against every task of a repository; parsing them again
each time would cost seconds a task.
"""

import hashlib
import json
import sys
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from codeenv._paths import cache_folder
from codeenv.audit import fingerprint
from codeenv.audit.fingerprint import functions_of
from codeenv.tasks.taskset import write_atomic

_MOST = 50_000
_lock = threading.Lock()
_fresh = 0


def shapes_of(data: bytes) -> Mapping[str, str]:
    """Return the shape of every function of a Python source, and one name each."""
    global _fresh
    key = hashlib.sha256(data).hexdigest()
    known = _remembered()
    if key not in known:
        found = {function.shape: function.name for function in functions_of(data)}
        with _lock:
            if len(known) >= _MOST:
                known.clear()
            known[key] = found
            _fresh += 1
    return known[key]


def keep_shapes() -> None:
    """Write what was learnt since the last time; a write that is lost costs only time."""
    global _fresh
    with _lock:
        if _fresh:
            write_atomic(_file(), json.dumps(_remembered()).encode())
            _fresh = 0


@cache
def _remembered() -> dict[str, Mapping[str, str]]:
    try:
        stored = json.loads(_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _file() -> Path:
    """Return where shapes are kept: apart by the code and the interpreter that make them."""
    code = Path(fingerprint.__file__).read_bytes() + sys.version.encode()
    return cache_folder("audit") / f"shapes-{hashlib.sha256(code).hexdigest()[:16]}.json"
