import hashlib
import json

import pytest

from codeenv.errors import SourceError
from codeenv.sources import checkout, fetch
from codeenv.sources.http import HttpClient
from codeenv.sources.index import IndexClient
from codeenv.sources.pip_settings import PipSettings, read_settings
from tests.sources.published import sdist


def client(*indexes, **settings):
    return IndexClient(HttpClient(PipSettings(indexes, retries=2, **settings), pause=0))


class TestLookingUp:
    def test_html_over_http(self, serve, index):
        port = serve(index).server_port
        found = client(f"http://127.0.0.1:{port}/simple").sdist("Thing", "1.0.0")
        assert found.filename == "thing-1.0.tar.gz"
        assert found.url == f"http://127.0.0.1:{port}/files/thing-1.0.tar.gz"

    def test_json_over_http(self, serve, index):
        page = index / "simple" / "thing" / "index.html"
        page.unlink()
        digest = hashlib.sha256(sdist()).hexdigest()
        files = [
            {
                "filename": "thing-1.0.tar.gz",
                "url": "/files/thing-1.0.tar.gz",
                "hashes": {"sha256": digest},
            }
        ]
        page.write_text(
            json.dumps({"meta": {"api-version": "1.1"}, "name": "thing", "files": files})
        )
        types = {".html": "application/vnd.pypi.simple.v1+json"}
        server = serve(index, types=types)
        archive = client(f"http://127.0.0.1:{server.server_port}/simple").sdist("thing", "1.0")
        assert archive.sha256 == digest
        assert "vnd.pypi.simple.v1+json" in server.seen[0][1]["Accept"]

    def test_a_folder_of_this_machine(self, index):
        assert client((index / "simple").as_uri()).sdist("thing", "1.0").version.release == (1, 0)

    def test_links_to_a_folder_of_archives(self, index):
        found = client(find_links=(str(index / "files"),)).sdist("thing", "1.0")
        assert found.filename == "thing-1.0.tar.gz"

    def test_a_second_index_is_asked_when_the_first_has_nothing(self, index, tmp_path):
        (tmp_path / "none").mkdir()
        where = ((tmp_path / "none").as_uri(), (index / "simple").as_uri())
        assert client(*where).sdist("thing", "1.0")

    def test_the_newest_wheel_is_neither_yanked_nor_a_prerelease(self, index):
        found = client((index / "simple").as_uri()).newest_wheel("thing")
        assert found.filename == "thing-2.0-py3-none-any.whl"

    def test_an_unknown_project(self, index):
        with pytest.raises(SourceError, match="no package index has a project 'nothing'"):
            client((index / "simple").as_uri()).sdist("nothing", "1")

    def test_an_unknown_version_names_the_newest(self, index):
        with pytest.raises(SourceError, match=r"thing has no version 7") as caught:
            client((index / "simple").as_uri()).sdist("thing", "7")
        assert caught.value.hint == "newest versions: 1.0"

    def test_wheels_only(self, index):
        with pytest.raises(SourceError, match="has wheels only") as caught:
            client((index / "simple").as_uri()).sdist("thing", "2.0")
        assert "git" in caught.value.hint


class TestGetting:
    def test_a_file_that_is_not_as_declared_is_refused(self, index, cache):
        (index / "files" / "thing-1.0.tar.gz").write_bytes(sdist() + b"x")
        found = client((index / "simple").as_uri())
        with pytest.raises(SourceError, match="not the file its index describes"):
            found.get(found.sdist("thing", "1.0"))
        assert not [p for p in (cache / "downloads").rglob("*") if p.is_file()]

    def test_a_transient_error_is_tried_again(self, serve, index):
        server = serve(index, {"/files/thing-1.0.tar.gz": [503, 502]})
        found = client(f"http://127.0.0.1:{server.server_port}/simple")
        assert found.get(found.sdist("thing", "1.0"))[0].read_bytes() == sdist()

    def test_a_server_that_stays_down_is_a_clear_error(self, serve, index):
        server = serve(index, {"/simple/thing/": [503] * 9})
        with pytest.raises(SourceError, match="cannot be reached: HTTP 503"):
            client(f"http://127.0.0.1:{server.server_port}/simple").sdist("thing", "1.0")
        assert len(server.seen) == 3

    def test_no_network_is_a_clear_error(self):
        with pytest.raises(SourceError, match="cannot be reached") as caught:
            client("http://127.0.0.1:1/simple").sdist("thing", "1.0")
        assert "proxy" in caught.value.hint

    @pytest.mark.parametrize("status", [401, 403])
    def test_refused_access_names_the_remedy(self, serve, index, status):
        server = serve(index, {"/simple/thing/": [status]})
        with pytest.raises(SourceError, match="refuses access") as caught:
            client(f"http://127.0.0.1:{server.server_port}/simple").sdist("thing", "1.0")
        assert "netrc" in caught.value.hint

    def test_credentials_of_the_address_are_sent_and_not_shown(self, serve, index):
        server = serve(index)
        where = f"http://me:s%40cret@127.0.0.1:{server.server_port}/simple"
        client(where).sdist("thing", "1.0")
        assert server.seen[0][1]["Authorization"] == "Basic bWU6c0BjcmV0"
        with pytest.raises(SourceError) as caught:
            client("http://me:s%40cret@127.0.0.1:1/simple").sdist("thing", "1.0")
        assert "cret" not in str(caught.value)

    def test_credentials_of_netrc_are_sent(self, serve, index, tmp_path, monkeypatch):
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password pw\n")
        (tmp_path / "netrc").chmod(0o600)
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        server = serve(index)
        client(f"http://127.0.0.1:{server.server_port}/simple").sdist("thing", "1.0")
        assert server.seen[0][1]["Authorization"] == "Basic bWU6cHc="

    def test_a_page_that_is_not_json_is_a_clear_error(self, serve, index):
        server = serve(index, types={".html": "application/vnd.pypi.simple.v1+json"})
        with pytest.raises(SourceError, match="cannot be read"):
            client(f"http://127.0.0.1:{server.server_port}/simple").sdist("thing", "1.0")


class TestSettings:
    @pytest.fixture
    def environment(self, tmp_path, monkeypatch):
        config = tmp_path / "pip.conf"
        config.write_text(
            "[global]\nindex-url = https://a.example/simple/\ntimeout = 7\n"
            "extra-index-url =\n  https://b.example/simple\n  file:///srv/simple\n"
            "[download]\ntrusted-host = b.example\n[install]\nindex-url = https://not.example\n"
        )
        kept = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path)}
        return {**kept, "PIP_CONFIG_FILE": str(config)}

    def test_files_are_read_as_pip_reads_them(self, environment):
        found = read_settings(environment)
        assert found.indexes[:1] == ("https://a.example/simple",)
        assert found.indexes[1:] == ("https://b.example/simple", "file:///srv/simple")
        assert found.timeout == 7
        assert found.trusted_hosts == ("b.example",)

    def test_variables_win_over_files(self, environment):
        found = read_settings(
            {
                **environment,
                "PIP_INDEX_URL": "https://c.example/simple",
                "PIP_EXTRA_INDEX_URL": "https://d.example",
                "PIP_CERT": "/ca.pem",
            }
        )
        assert found.indexes == ("https://c.example/simple", "https://d.example")
        assert found.cert == "/ca.pem"

    def test_no_index(self, environment):
        assert read_settings({**environment, "PIP_NO_INDEX": "1"}).indexes == ()

    def test_the_default_index_is_pips_own(self):
        found = read_settings({"PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": "/dev/null"})
        assert len(found.indexes) == 1
        assert found.indexes[0].endswith("/simple")

    def test_a_build_gets_the_indexes_but_no_folder_of_this_machine(self, environment):
        given = read_settings({**environment, "PIP_FIND_LINKS": "/opt/wheels https://l.example/"})
        assert given.build_variables({"https_proxy": "http://p.example:3128"}) == {
            "PIP_INDEX_URL": "https://a.example/simple",
            "PIP_EXTRA_INDEX_URL": "https://b.example/simple",
            "PIP_FIND_LINKS": "https://l.example/",
            "PIP_TRUSTED_HOST": "b.example",
            "PIP_TIMEOUT": "7",
            "PIP_RETRIES": "3",
            "https_proxy": "http://p.example:3128",
        }


@pytest.mark.network
def test_a_real_release_is_fetched_through_this_machines_configuration():
    found = checkout("pypi:itsdangerous==2.2.0")
    assert "src/itsdangerous/signer.py" in found.tree
    assert found.pin.licence == "BSD-3-Clause"
    assert fetch(found.pin) == found
