"""The real pip in real build boxes, against an index on this machine: no other network."""

import ensurepip
import hashlib
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from codeenv.images.base import ensure_base
from codeenv.images.install import Installer, InstallFailed

BACKENDS = [
    pytest.param("bubblewrap_backend", marks=pytest.mark.bubblewrap),
    pytest.param("docker_backend", marks=pytest.mark.docker),
]


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Serve an index with ``thing`` (needs ``helper``), and Python's own pip."""
    simple = tmp_path / "simple"
    _put_pip(simple)
    _put_wheel(simple, "helper", "2.0")
    _put_wheel(simple, "thing", "1.0", "Requires-Dist: helper\n")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        yield simple
        server.shutdown()
        thread.join()


def _put_pip(simple):
    wheels = sorted((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    if not wheels:
        pytest.skip("this Python carries no pip")
    _publish(simple, "pip", wheels[-1].name, wheels[-1].read_bytes())


def _put_wheel(simple, name, version, needs=""):
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = simple.parent / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(member, text)
    _publish(simple, name, path.name, path.read_bytes())


def _publish(simple, name, filename, data):
    folder = simple / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / filename).write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    with (folder / "index.html").open("a") as page:
        page.write(f'<!DOCTYPE html><a href="{filename}#sha256={digest}">{filename}</a>\n')


@pytest.mark.parametrize("backend", BACKENDS)
def test_requirements_are_installed_locked_and_restored(request, debian_image, packages, backend):
    installer = Installer(ensure_base(), request.getfixturevalue(backend))
    installed = installer.install(["thing"])
    assert [(p.name, p.version) for p in installed.packages] == [
        ("helper", "2.0"),
        ("thing", "1.0"),
    ]
    site = "lib/python3.13/site-packages"
    assert installed.tree[f"{site}/helper/__init__.py"].data == b"version = '2.0'\n"
    assert f"{site}/thing/__pycache__/__init__.cpython-313.pyc" in installed.tree
    assert not [path for path in installed.tree if "/pip" in path or "/setuptools" in path]
    assert installer.restore(installed.packages) == installed


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_archive_that_changed_is_not_restored(request, debian_image, packages, backend):
    installer = Installer(ensure_base(), request.getfixturevalue(backend))
    installed = installer.install(["helper"])
    (packages / "helper" / "index.html").unlink()
    _put_wheel(packages, "helper", "2.0", "Summary: changed\n")
    with pytest.raises(InstallFailed, match="DO NOT MATCH THE HASHES"):
        installer.restore(installed.packages)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_the_index_does_not_have_is_a_clear_error(request, debian_image, packages, backend):
    installer = Installer(ensure_base(), request.getfixturevalue(backend))
    with pytest.raises(InstallFailed, match="No matching distribution found for absent"):
        installer.install(["absent"])
