"""Backends are chosen by name, and what is missing is said."""

from contextlib import closing

import pytest

from codeenv.errors import BackendUnavailable, BuildError, UsageError
from codeenv.sandbox.docker import DockerBackend
from codeenv.sandbox.image import Image
from codeenv.sandbox.select import open_backend, probe
from codeenv.tree import Tree


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")


def test_an_unknown_backend_is_a_usage_error():
    with pytest.raises(UsageError, match="chroot") as caught:
        open_backend("chroot")
    assert "docker" in caught.value.hint


def test_an_unknown_option_is_a_usage_error():
    with pytest.raises(UsageError, match="isolation"):
        open_backend("local", isolation="container")


def test_without_any_wall_auto_says_what_to_install(nothing_installed):
    with pytest.raises(BackendUnavailable) as caught:
        open_backend()
    assert "bubblewrap" in caught.value.hint


@pytest.mark.parametrize("name", ["docker", "bubblewrap"])
def test_a_missing_wall_is_named_with_a_hint(nothing_installed, name):
    with pytest.raises(BackendUnavailable) as caught:
        open_backend(name)
    found = probe(name)

    assert caught.value.hint
    assert (found.ok, bool(found.hint)) == (False, True)


@pytest.mark.docker
def test_a_runtime_that_the_engine_has_is_used_and_another_is_named(debian_image):
    with closing(open_backend("auto", runtime="runc")) as backend:
        with backend.open(debian_image, Tree({})) as box:
            assert box.exec("echo alive").text == "alive\n"
        details = backend.client().containers.list(filters={"label": "codeenv.owner"})
        assert {each.attrs["HostConfig"]["Runtime"] for each in details} == {"runc"}
    with pytest.raises(BackendUnavailable, match="no runtime nonsuch") as caught:
        open_backend("docker", runtime="nonsuch")
    assert "runc" in caught.value.hint


def test_options_of_docker_are_not_dropped_where_docker_is_missing(nothing_installed):
    with pytest.raises(BackendUnavailable, match="Docker"):
        open_backend("auto", runtime="runc")


@pytest.mark.bubblewrap
def test_bubblewrap_is_taken_where_no_engine_answers(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    backend = open_backend("auto")

    assert backend.name == "bubblewrap"
    backend.close()


@pytest.mark.docker
def test_docker_is_taken_where_it_answers():
    backend = open_backend("auto")

    assert backend.name == "docker"
    backend.close()


@pytest.mark.parametrize(
    "name",
    [
        "local",
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    ],
)
def test_a_backend_that_works_probes_well(name):
    found = probe(name)

    assert found.ok
    assert found.detail


@pytest.mark.docker
def test_docker_cannot_use_this_machine_s_own_system_as_a_base(docker_backend, host_image):
    with pytest.raises(BuildError, match="base") as caught:
        docker_backend.open(host_image, Tree({}))
    assert "bubblewrap" in caught.value.hint


@pytest.mark.bubblewrap
def test_bubblewrap_cannot_use_a_base_that_is_not_here(bubblewrap_backend, tmp_path):
    image = Image("d", "gone", tmp_path / "gone", ())

    with pytest.raises(BuildError, match="no folder"):
        bubblewrap_backend.open(image, Tree({}))


@pytest.mark.docker
def test_a_closed_docker_backend_can_be_closed_again():
    backend = DockerBackend()
    backend.close()
    backend.close()
