"""A run of pytest without tests, to learn which of its modules every run loads."""

import json
import os
import sys
from collections.abc import Iterator

import pytest

_ARGUMENTS = ("-p", "no:cacheprovider", "--capture=no")  # a wall has no folder to write to


def loaded_by_every_run(folder: str) -> list[str]:
    """Return the names of pytest's and standard modules that a run in an empty folder loads.

    It takes place in a forked process.  Plug-ins are none of them: pytest changes their code while
    it loads them, and wants to be the first.
    """
    source, sink = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            names = list(_loaded_by_run(folder))
            os.write(sink, json.dumps(names).encode())
        finally:
            os._exit(0)
    os.close(sink)
    with open(source, "rb") as file:
        told = file.read()
    os.waitpid(pid, 0)
    return [str(name) for name in json.loads(told or b"[]")]


def _loaded_by_run(folder: str) -> Iterator[str]:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    before = set(sys.modules)
    pytest.main([*_ARGUMENTS, f"--rootdir={folder}", folder])
    for name in sorted(set(sys.modules) - before):
        top = name.partition(".")[0]
        if top == "_pytest" or top in sys.stdlib_module_names:
            yield name
