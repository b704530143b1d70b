"""``pypi:NAME==VERSION``: pinned, and had again without its index."""

import hashlib

import pytest

from codeenv.errors import SourceError
from codeenv.sources import checkout, fetch
from tests.sources.published import sdist


class TestCheckout:
    @pytest.fixture(autouse=True)
    def only_this_index(self, index, monkeypatch):
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", (index / "simple").as_uri())

    def test_an_sdist_is_pinned_by_hash(self):
        found = checkout("pypi:thing==1.0")
        assert found.tree["thing.py"].data == b"x = 1\r\n"
        assert found.pin.sha256 == hashlib.sha256(sdist()).hexdigest()
        assert (found.pin.kind, found.pin.location, found.pin.version) == ("pypi", "thing", "1.0")
        assert found.pin.licence == "MIT"
        assert found.pin.tree == found.tree.digest

    def test_a_pin_is_fetched_without_the_index_once_it_is_cached(self, index):
        found = checkout("pypi:thing==1.0")
        for page in (index / "simple").rglob("*.html"):
            page.unlink()
        assert fetch(found.pin) == found

    def test_a_version_of_a_served_index_is_had_again_without_it(self, index, serve, monkeypatch):
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{serve(index).server_port}/simple")
        found = checkout("pypi:thing==1.0")
        for page in (index / "simple").rglob("*.html"):
            page.unlink()
        assert checkout("pypi:Thing==1.0").tree == found.tree
        with pytest.raises(SourceError):
            checkout("pypi:thing==2.0")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{serve(index).server_port}/simple")
        with pytest.raises(SourceError):  # another index may have another archive
            checkout("pypi:thing==1.0")

    def test_a_version_in_a_folder_of_links_is_looked_up_every_time(self, index, monkeypatch):
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(index / "files"))
        first = checkout("pypi:thing==1.0")
        (index / "files" / "thing-1.0.tar.gz").write_bytes(sdist(others={"new.py": b"z = 3\n"}))
        assert checkout("pypi:thing==1.0").tree != first.tree

    def test_a_version_of_a_local_folder_is_looked_up_every_time(self, publish):
        first = checkout("pypi:thing==1.0")
        publish({"more.py": b"y = 2\n"})
        assert checkout("pypi:thing==1.0").tree != first.tree

    def test_an_sdist_that_changed_on_the_index_is_refused(self, index, tmp_path, monkeypatch):
        found = checkout("pypi:thing==1.0")
        monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "other"))
        page = index / "simple" / "thing" / "index.html"
        page.write_text('<a href="../../files/thing-1.0.tar.gz">x</a>')
        (index / "files" / "thing-1.0.tar.gz").write_bytes(sdist("1.0.0"))
        with pytest.raises(SourceError, match="bytes differ"):
            fetch(found.pin)

    @pytest.fixture
    def publish(self, index):
        """Put an sdist with other files in the place of the one that is there."""

        def put(others):
            data = sdist(others=others)
            (index / "files" / "thing-1.0.tar.gz").write_bytes(data)
            page = '<a href="../../files/thing-1.0.tar.gz">x</a>'
            (index / "simple" / "thing" / "index.html").write_text(page)

        return put

    def test_lfs_pointers_are_refused_and_named(self, publish):
        publish({"data/model.bin": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n"})
        with pytest.raises(SourceError, match=r"Git LFS pointers.*data/model\.bin") as caught:
            checkout("pypi:thing==1.0")
        assert "clone its repository with git lfs" in caught.value.hint

    def test_a_version_file_that_the_sdist_lacks_has_the_version_of_the_release(self, publish):
        publish({"pyproject.toml": b'[tool.setuptools_scm]\nversion_file = "version.py"\n'})
        found = checkout("pypi:thing==1.0")
        assert b"'1.0'" in found.tree["version.py"].data
        assert fetch(found.pin) == found

    @pytest.mark.parametrize("spec", ["pypi:thing", "pypi:thing>=1", "pypi:thing==", "pypi:"])
    def test_one_version_must_be_named(self, spec):
        with pytest.raises(SourceError, match="does not name one version") as caught:
            checkout(spec)
        assert caught.value.hint == "write pypi:NAME==VERSION"

    def test_a_ref_makes_no_sense(self):
        with pytest.raises(SourceError, match="has no refs"):
            checkout("pypi:thing==1.0", ref="main")
