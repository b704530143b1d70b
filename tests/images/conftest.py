import hashlib
import io
import zipfile

import pytest

from codeenv.images.base import Base


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of its own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CODEENV_CACHE", str(folder))
    return folder


@pytest.fixture
def index(tmp_path, monkeypatch, cache):
    """A package index in a folder, with a wheel that stands for pip; ``add`` puts more in."""
    simple = tmp_path / "index" / "simple"

    def add(filename, files):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        folder = simple / filename.split("-")[0].replace("_", "-").lower()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / filename).write_bytes(buffer.getvalue())
        digest = hashlib.sha256(buffer.getvalue()).hexdigest()
        with (folder / "index.html").open("a") as page:
            page.write(f'<a href="{filename}#sha256={digest}">x</a>\n')
        return digest

    add("pip-25.0-py3-none-any.whl", {"pip/__main__.py": "raise SystemExit('a stand-in')"})
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", simple.as_uri())
    return add


@pytest.fixture
def base(tmp_path):
    """A base that nothing is ever started from."""
    return Base("debian:test", "b" * 64, tmp_path / "rootfs", tmp_path / "rootfs.tar", "3.13.5")
