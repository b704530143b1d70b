import hashlib
import os
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.sources.published import sdist


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for every test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CODEENV_CACHE", str(folder))
    return folder


@pytest.fixture
def serve(tmp_path):
    """Serve a folder on loopback; ``answers`` maps a path to a list of statuses given first."""
    servers = []

    def start(folder, answers=None, types=None):
        class Handler(SimpleHTTPRequestHandler):
            extensions_map = {**SimpleHTTPRequestHandler.extensions_map, **(types or {})}  # noqa: RUF012

            def do_GET(self):
                waiting = (answers or {}).get(self.path)
                self.server.seen.append((self.path, dict(self.headers)))
                if waiting:
                    self.send_error(waiting.pop(0))
                else:
                    super().do_GET()

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        server.seen = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def git(tmp_path):
    """Run git in a folder with an identity and no configuration of the machine."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": "t@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }

    def run(folder, *arguments):
        done = subprocess.run(
            ("git", "-C", str(folder), *arguments), env=environment, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    return run


@pytest.fixture
def repository(tmp_path, git):
    """A git repository with one commit on ``main``."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_bytes(b"x = '\xe9'\r\n")
    (folder / "run.sh").write_bytes(b"#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "sub").mkdir()
    (folder / "sub" / "link.py").symlink_to("../a.py")
    (folder / "sub" / "b.py").write_bytes(b"")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


@pytest.fixture
def index(tmp_path):
    """A folder that is a package index: ``thing`` with a sdist, wheels, and odd files."""
    root = tmp_path / "index"
    (root / "simple" / "thing").mkdir(parents=True)
    (root / "files").mkdir()
    data = sdist()
    (root / "files" / "thing-1.0.tar.gz").write_bytes(data)
    (root / "files" / "thing-2.0-py3-none-any.whl").write_bytes(b"wheel")
    digest = hashlib.sha256(data).hexdigest()
    (root / "simple" / "thing" / "index.html").write_text(
        f'<a href="../../files/thing-1.0.tar.gz#sha256={digest}">x</a>'
        '<a href="../../files/thing-2.0-py3-none-any.whl">x</a>'
        '<a href="../../files/thing-2.1rc1-py3-none-any.whl">x</a>'
        '<a data-yanked="broken" href="../../files/thing-3.0-py3-none-any.whl">x</a>'
        '<a href="../../files/other-9.0.tar.gz">x</a><a href="readme.txt">x</a>'
    )
    return root
