"""What is in the wheel, and that the lock files hold everywhere."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from codeenv_harness.viewer.server import STATIC

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("agents", "runtime", "test", "dev", "training", "torch", "torch-cpu")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        yield archive


def test_the_wheel_installs_two_packages_and_nothing_else(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"codeenv", "codeenv_harness"}


def test_shipped_data_holds_no_python_files(wheel):
    assert not [n for n in wheel.namelist() if "/_data/" in n and n.endswith((".py", ".pyc"))]


def test_the_shipped_suite_and_type_markers_are_in_the_wheel(wheel):
    names = wheel.namelist()

    assert "codeenv/py.typed" in names
    assert "codeenv_harness/py.typed" in names
    assert [n for n in names if n.startswith("codeenv/_data/tasks/toy/") and n.endswith(".json")]


def test_the_smoke_benchmark_and_its_baseline_are_in_the_wheel(wheel):
    assert {"codeenv/_data/suites/smoke.toml", "codeenv/_data/baselines/smoke.json"} <= {
        *wheel.namelist()
    }


def test_what_the_page_of_a_report_is_made_of_is_in_the_wheel(wheel):
    assert {f"codeenv_harness/report/page.{kind}" for kind in ("css", "js")} <= {*wheel.namelist()}


def test_all_that_the_viewer_serves_is_in_the_wheel(wheel):
    served = {f"codeenv_harness/{folder}/{name}" for folder, name, _ in STATIC.values()}

    assert len(served) == 7
    assert served <= {*wheel.namelist()}


def test_no_bytecode_and_no_caches_are_in_the_wheel(wheel):
    assert not [n for n in wheel.namelist() if "__pycache__" in n or n.endswith(".pyc")]


def test_the_only_command_is_codeenv(wheel):
    (name,) = [n for n in wheel.namelist() if n.endswith("entry_points.txt")]

    assert wheel.read(name).decode().split() == [
        "[console_scripts]",
        "codeenv",
        "=",
        "codeenv.cli:main",
    ]


def test_the_licence_travels_with_the_wheel(wheel):
    assert [n for n in wheel.namelist() if n.endswith("/licenses/LICENSE")]


def _locked(name):
    """Return requirement line -> its hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {line.split("--hash")[0].strip(): re.findall("--hash=(\\S+)", line) for line in lines}


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_is_pinned_and_hashed(name):
    for requirement, hashes in _locked(name).items():
        assert "==" in requirement
        assert hashes
        assert all(value.startswith("sha256:") for value in hashes)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_index(name):
    text = (ROOT / "requirements" / f"{name}.txt").read_text()

    assert "://" not in text
    assert not re.search("^-", text, re.MULTILINE)


def test_the_locks_agree():
    dev = _locked("dev")

    for name in ("runtime", "test"):
        assert _locked(name).items() <= dev.items()


def _versions(name):
    """Return requirement -> its pinned versions (one per kind of Python)."""
    pins = {}
    for line in _locked(name):
        pin = Requirement(line)
        (version,) = pin.specifier
        pins.setdefault(canonicalize_name(pin.name), set()).add(version.version)
    return pins


@pytest.mark.parametrize("name", ["dev", "torch"])
def test_the_training_lock_changes_no_version_of_the_others(name):
    training, other = _versions("training"), _versions(name)

    shared = training.keys() & other.keys()

    assert shared
    assert {pin: training[pin] for pin in shared} == {pin: other[pin] for pin in shared}


def test_torch_without_cuda_is_the_same_release():
    (release,) = _versions("torch")["torch"]

    assert _versions("torch-cpu") == {"torch": {f"{release}+cpu"}}


def test_torch_and_its_cuda_libraries_are_in_no_lock_but_their_own():
    heavy = {pin for pin in _versions("torch") if pin.startswith(("cuda-", "nvidia-"))}

    assert heavy
    for name in ("runtime", "test", "dev", "training"):
        assert not _versions(name).keys() & {*heavy, "torch", "triton"}


def test_what_torch_needs_without_cuda_is_in_the_training_lock():
    cuda = ("cuda-", "nvidia-", "triton")
    needs = {pin for pin in _versions("torch") if pin != "torch" and not pin.startswith(cuda)}

    assert needs <= _versions("training").keys()


def _declared(*groups):
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    listed = [*project["project"]["dependencies"]]
    for group in groups:
        listed += project["dependency-groups"][group]
    return {canonicalize_name(Requirement(text).name): Requirement(text) for text in listed}


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("runtime", ["build"]),
        ("test", ["build", "test"]),
        ("dev", ["build", "test", "lint"]),
        ("training", ["training"]),
    ],
)
def test_the_locks_are_of_what_the_project_declares(name, groups):
    beside = _locked("torch") if name == "training" else {}
    locked = [Requirement(line) for line in (*_locked(name), *beside)]
    for wanted, declared in _declared(*groups).items():
        pins = [r for r in locked if canonicalize_name(r.name) == wanted]
        versions = [next(iter(pin.specifier)).version for pin in pins]

        assert versions, f"{wanted} is not locked: make lock"
        assert all(declared.specifier.contains(version) for version in versions)
