"""A project of our own that must be compiled, and whose build is hostile, on both walls."""

from pathlib import Path

import pytest

from codeenv.images import build_environment
from codeenv.languages import detect_language
from codeenv.sources import checkout

SETUP = """\
import os, subprocess, sys
from setuptools import Extension, setup

def tries(what):
    try:
        what()
    except OSError as error:
        print("refused:", error)

tries(lambda: open("/etc/owned", "w"))
tries(lambda: open("/usr/lib/owned", "w"))
tries(lambda: os.kill(1, 9))
tries(lambda: os.setuid(0))
script = "import time\\nwhile True:\\n    time.sleep(1)\\n    open({mark!r}, 'a').write('x')\\n"
subprocess.Popen(
    [sys.executable, "-c", script], start_new_session=True,
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
sources = [Extension("shop._speed", ["src/shop/_speed.c"])]
setup(
    name="shop", version="1.0", package_dir={{"": "src"}}, packages=["shop"], ext_modules=sources
)
"""
SPEED = """\
#include <Python.h>
static PyObject* twice(PyObject* self, PyObject* arg) { return PyNumber_Add(arg, arg); }
static PyMethodDef methods[] = {{"twice", twice, METH_O, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_speed", "", -1, methods};
PyMODINIT_FUNC PyInit__speed(void) { return PyModule_Create(&module); }
"""
TESTS = "from shop import twice\n\ndef test_twice():\n    assert twice(2) == 4\n"


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize(
    "wall",
    [
        pytest.param("bubblewrap_backend", marks=pytest.mark.bubblewrap),
        pytest.param("docker_backend", marks=pytest.mark.docker),
    ],
)
def test_a_project_is_compiled_and_its_build_neither_reaches_out_nor_lives_on(
    request, debian_image, tmp_path, wall
):
    backend = request.getfixturevalue(wall)
    mark = tmp_path / "mark"
    tmp_path.chmod(0o777)
    files = {
        "setup.py": SETUP.format(mark=str(mark)),
        "src/shop/__init__.py": "from shop._speed import twice\n",
        "src/shop/_speed.c": SPEED,
        "tests/test_shop.py": TESTS,
        "wall.txt": wall,
    }
    for name, text in files.items():
        place = tmp_path / "repository" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    source = checkout(str(tmp_path / "repository"))
    language = detect_language(source.tree)
    layout = language.layout(source.tree)
    told = []

    built = build_environment(source.tree, language, layout, backend, log=told.append)

    assert "1 modules that a build makes, built here" in told
    assert told[-1] == "pytest: 1 passed"
    assert not mark.exists()
    assert not Path("/etc/owned").exists()
    assert not any(_runs(str(mark)))
    assert "build-essential" not in built.lock.base, "agents see no compiler"


def _runs(text):
    """Yield the processes of this machine that name a text."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in entry.read_bytes():
                yield entry
        except OSError:
            continue
