"""Environments of projects with compiled modules: from the wheel of the very version."""

import io
import platform
import zipfile

import pytest

from codeenv.errors import BuildError, SourceError
from codeenv.images import build as build_module
from codeenv.images import build_environment, restore_environment
from codeenv.languages import detect_language
from codeenv.languages.base import TestResult, TestRun
from codeenv.languages.python.language import PythonLanguage
from codeenv.sandbox.image import InstallResult
from codeenv.sources import checkout
from codeenv.tree import Entry, Tree
from tests.images.fakes import FakeBackend, environment_tree, install, read_layer

WHEEL = f"shop-1.0-cp313-cp313-manylinux_2_17_{platform.machine()}.whl"
SDIST = {
    "shop-1.0/pyproject.toml": "[build-system]\nrequires = ['meson-python']\n[project]\n"
    "name = 'shop'\nversion = '1.0'\n",
    "shop-1.0/shop/__init__.py": "from shop._speed import fast\n",
    "shop-1.0/tests/test_shop.py": "import shop\n\ndef test_shop():\n    assert shop.fast\n",
}
SPEED = "shop/_speed.cpython-313-linux.so"


class Passing(PythonLanguage):
    """Runs nothing: all tests pass."""

    def run_tests(self, sandbox, image, request):
        return TestRun(("a",), {"a": TestResult("passed")}, True, 0)


@pytest.fixture(autouse=True)
def prepared_base(base, monkeypatch):
    monkeypatch.setattr(build_module, "ensure_base", lambda kind="auto": base)
    monkeypatch.setattr("codeenv.images.restore.named_base", lambda name: base)


@pytest.fixture
def project(index):
    index("shop-1.0.zip", SDIST)
    return checkout("pypi:shop==1.0")


def build(source, backend):
    layout = detect_language(source.tree).layout(source.tree)
    return build_environment(source.tree, Passing(), layout, backend, pin=source.pin)


def backend():
    return FakeBackend(lambda job: environment_tree(("pytest", "9.0")))


def test_compiled_modules_come_from_the_wheel_and_the_lock_names_it(index, project):
    digest = index(WHEEL, {SPEED: "machine code", "shop/__init__.py": "other code"})

    built = build(project, backend())

    layer = read_layer(built.image.layers[0])
    site = "lib/python3.13/site-packages"
    assert layer[f"{site}/_codeenv_built/{SPEED}"].data == b"machine code"
    assert f"{site}/_codeenv_built.pth" in layer
    assert not any(path.startswith(f"{site}/shop/") for path in layer)
    own = next(package for package in built.lock.packages if package.name == "shop")
    assert (own.version, own.sha256) == ("1.0", digest)


def test_a_lock_gives_the_compiled_modules_again(index, project, cache):
    index(WHEEL, {SPEED: "machine code"})
    built = build(project, backend())
    for file in (cache / "environments").iterdir():
        file.unlink()

    again = restore_environment(built.lock, backend(), pin=project.pin)

    assert again.image == built.image
    assert again.digest == built.digest


def wheel_of(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return buffer.getvalue()


def building(files, log=""):
    """A backend in which the project's own build makes a wheel of some files, or fails."""

    def answer(job):
        if "pip wheel" not in job.script:
            return install(job)
        made = Tree({WHEEL: Entry(wheel_of(files))}) if files else Tree({})
        return InstallResult(0 if files else 1, log, made)

    return FakeBackend(answer)


def test_without_a_wheel_for_this_machine_the_project_is_built(index, project):
    index("shop-1.0-cp313-cp313-win_amd64.whl", {SPEED: "machine code"})
    backend = building({SPEED: "built here", "shop/__init__.py": "other code"})

    built = build(project, backend)

    layer = read_layer(built.image.layers[0])
    assert layer[f"lib/python3.13/site-packages/_codeenv_built/{SPEED}"].data == b"built here"
    own = next(package for package in built.lock.packages if package.name == "shop")
    assert (own.version, own.sha256) == ("1.0", "")
    job = next(job for job in backend.jobs if "pip wheel" in job.script)
    assert "src/pyproject.toml" in job.inputs
    assert "SETUPTOOLS_SCM_PRETEND_VERSION=1.0" in job.script


def test_a_lock_of_a_built_project_builds_it_again(index, project, cache):
    index("shop-1.0-cp313-cp313-win_amd64.whl", {SPEED: "machine code"})
    built = build(project, building({SPEED: "built here"}))
    for file in (cache / "environments").iterdir():
        file.unlink()

    again = restore_environment(built.lock, building({SPEED: "built here"}), pin=project.pin)

    assert (again.image, again.digest) == (built.image, built.digest)


def test_a_wheel_of_another_version_is_not_taken(index, project):
    index(WHEEL.replace("1.0", "1.1"), {SPEED: "machine code"})

    with pytest.raises(
        BuildError, match=r"must be compiled \(meson-python\).*its build fails"
    ) as told:
        build(project, building({}, "ERROR: meson found no dependency"))
    assert "meson found no dependency" in told.value.message
    assert "name a published version" in told.value.hint


def test_extensions_that_cannot_be_built_are_left_out_where_the_project_may_do_without(
    index, cache
):
    files = {
        "shop-1.0/setup.py": "from setuptools import Extension, setup\nsetup(name='shop', "
        "version='1.0', ext_modules=[Extension('shop._speed', ['shop/_speed.c'])])\n",
        "shop-1.0/shop/_speed.c": "int x;\n",
        "shop-1.0/shop/__init__.py": "",
        "shop-1.0/tests/test_shop.py": "import shop\n\ndef test_shop():\n    assert shop\n",
    }
    index("shop-1.0.zip", files)
    source = checkout("pypi:shop==1.0")

    built = build(source, building({SPEED: "built here"}))
    assert "shop" in [package.name for package in built.lock.packages]

    for file in (cache / "environments").iterdir():
        file.unlink()
    without = build(source, building({}, "ERROR: no compiler"))
    assert "shop" not in [package.name for package in without.lock.packages]


def test_a_wheel_that_is_another_one_by_now_is_refused(index, project, cache):
    index(WHEEL, {SPEED: "machine code"})
    built = build(project, backend())
    for file in (cache / "environments").iterdir():
        file.unlink()
    page = cache.parent / "index" / "simple" / "shop" / "index.html"
    page.write_text(page.read_text().splitlines()[0])
    index(WHEEL, {SPEED: "other code"})

    with pytest.raises(BuildError, match="not the locked one any more"):
        restore_environment(built.lock, backend(), pin=project.pin)


def test_a_failed_download_is_no_reason_to_go_on_without(index, project, cache):
    index(WHEEL, {SPEED: "machine code"})
    (cache.parent / "index" / "simple" / "shop" / WHEEL).unlink()
    silent = FakeBackend(lambda job: InstallResult(1, "", environment_tree()))

    with pytest.raises(SourceError, match=r"shop-1\.0"):
        build(project, silent)
