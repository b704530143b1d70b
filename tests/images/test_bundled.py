import marshal
from dataclasses import replace

import pytest

from codeenv.errors import BuildError
from codeenv.images import bundled_environment, restore_environment
from codeenv.images.bundled import is_bundled
from codeenv.images.layers import Environment, compose
from codeenv.images.tools import coverage_layer
from codeenv.images.wheels import installed_closure, installed_files, wheel_for, with_bytecode
from codeenv.languages import detect_language
from codeenv.languages.base import TestRequest
from codeenv.sources import checkout
from codeenv.sources.index import IndexClient
from codeenv.tasks.models import EnvironmentLock
from codeenv.tree import Entry, Tree
from tests.images.fakes import read_layer


@pytest.fixture
def no_network(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def passed(backend, environment, **options):
    tree = checkout("bundled:toy").tree
    with backend.open(environment.image, tree, role="build", **options) as box:
        return detect_language(tree).run_tests(box, environment.image, TestRequest())


def test_the_toy_passes_its_tests_without_isolation_and_network(no_network, local_backend):
    run = passed(local_backend, bundled_environment(local_backend))
    assert run.complete
    assert set(run.collected) == run.passed
    assert len(run.passed) == 80


@pytest.mark.bubblewrap
def test_the_toy_passes_its_tests_behind_bubblewrap_on_the_host_base(
    no_network, bubblewrap_backend
):
    environment = bundled_environment(bubblewrap_backend)
    assert environment.lock.base == "host"
    assert len(passed(bubblewrap_backend, environment).passed) == 80


@pytest.mark.docker
def test_the_toy_passes_its_tests_in_docker(docker_backend, debian_image):
    environment = bundled_environment(docker_backend)
    assert environment.lock.base.startswith(("debian", "registry"))
    assert len(passed(docker_backend, environment).passed) == 80


def test_it_is_the_same_every_time(cache, local_backend):
    assert bundled_environment(local_backend) == bundled_environment(local_backend)


def test_its_lock_can_be_restored_with_no_network(cache, no_network, local_backend):
    made = bundled_environment(local_backend)
    assert is_bundled(made.lock)
    assert restore_environment(made.lock, local_backend) == made


def test_it_holds_the_runner_and_no_installer(cache, local_backend):
    tree = read_layer(bundled_environment(local_backend).image.layers[0])
    names = {path.split("/")[3] for path in tree if path.count("/") > 3 and path.startswith("lib/")}
    assert {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"} <= names
    assert not names & {"pip", "setuptools", "wheel", "pydantic", "codeenv"}
    assert not [path for path in tree if path.endswith(("RECORD", "direct_url.json"))]


def test_a_distribution_that_is_not_installed_is_a_clear_error():
    with pytest.raises(BuildError, match="no-such-thing is not installed beside codeenv"):
        installed_closure("no-such-thing")


def test_compiled_distributions_are_not_copied_as_pure():
    (found,) = [d for d in installed_closure("pydantic-core") if d.name == "pydantic_core"]
    with pytest.raises(BuildError, match="not pure Python"):
        installed_files(found)


def test_bytecode_depends_on_source_and_place_only():
    made = with_bytecode(Tree({"a.py": Entry(b"x = 1\n"), "bad.py": Entry(b"x = (\n")}), "/opt/env")
    (path,) = [p for p in made if p.endswith(".pyc")]
    assert path.startswith("__pycache__/a.")
    data = made[path].data
    assert data[4:8] == b"\x01\0\0\0"
    assert marshal.loads(data[16:]).co_filename == "/opt/env/a.py"


def test_coverage_fits_the_environments_python(local_backend):
    mount = coverage_layer(bundled_environment(local_backend), local_backend)
    assert mount.target == "/opt/tools"
    assert "coverage/__init__.py" in mount.tree


def test_without_network_a_python_with_no_c_tracer_is_traced_in_python(
    no_network, local_backend, base
):
    lock = EnvironmentLock(base="debian:test", python="3.99.0", platform="any", packages=())
    tree = coverage_layer(Environment(lock, compose(base, (), {})), local_backend).tree
    assert "coverage/pytracer.py" in tree
    assert not [path for path in tree if path.endswith(".so")]


@pytest.mark.bubblewrap
def test_the_slow_tracer_sees_what_the_fast_one_sees(no_network, bubblewrap_backend):
    backend, tree = bubblewrap_backend, checkout("bundled:toy").tree
    environment = bundled_environment(backend)
    fast = coverage_layer(environment, backend)
    files = {path: entry for path, entry in fast.tree.items() if not path.endswith(".so")}
    maps = []
    for mount in (fast, replace(fast, tree=Tree(files))):
        with backend.open(environment.image, tree, role="build", mounts=(mount,)) as box:
            request = TestRequest(coverage=True)
            maps.append(detect_language(tree).run_tests(box, environment.image, request).coverage)
    assert maps[0] == maps[1] is not None


def test_the_newest_fitting_wheel_is_chosen(index):
    for filename in (
        "tool-1.0-py3-none-any.whl",
        "tool-2.0-py3-none-any.whl",
        "tool-2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux_2_17_aarch64.whl",
        "tool-2.0-cp312-cp312-manylinux_2_17_x86_64.whl",
        "tool-3.0-cp312-cp312-win_amd64.whl",
        "tool-4.0rc1-py3-none-any.whl",
    ):
        index(filename, {"tool.py": ""})
    found = wheel_for(IndexClient(), "tool", "3.13.5")
    assert found.filename.startswith("tool-2.0-cp313")
    assert wheel_for(IndexClient(), "tool", "3.11.2").filename == "tool-2.0-py3-none-any.whl"
