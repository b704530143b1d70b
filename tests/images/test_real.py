"""Real repositories, with the real package index of this machine."""

import pytest

from codeenv.images import build_environment, restore_environment
from codeenv.languages import detect_language
from codeenv.sources import checkout

pytestmark = [pytest.mark.network, pytest.mark.slow]


@pytest.mark.parametrize(
    ("name", "tests"),
    [("itsdangerous==2.2.0", 297), ("simpleeval==1.0.3", 104)],
)
@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("bubblewrap_backend", marks=pytest.mark.bubblewrap),
        pytest.param("docker_backend", marks=pytest.mark.docker),
    ],
)
def test_an_environment_is_found_locked_and_restored(request, debian_image, name, tests, backend):
    wall = request.getfixturevalue(backend)
    source = checkout(f"pypi:{name}")
    language = detect_language(source.tree)
    layout = language.layout(source.tree)
    told = []
    built = build_environment(source.tree, language, layout, wall, log=told.append)
    assert all(package.sha256 for package in built.lock.packages)
    assert not {"pip", "setuptools", "wheel"} & {package.name for package in built.lock.packages}
    assert any(f"{tests} passed" in line for line in told) or not told  # cached: nothing is told
    restored = restore_environment(built.lock, wall, pin=source.pin)
    assert restored.image.digest == built.image.digest
