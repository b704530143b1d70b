"""``codeenv view``."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from urllib.request import ProxyHandler, build_opener

import pytest

from codeenv.cli import main
from tests.harness.report.made import played


@contextmanager
def viewing(*words):
    """Run the command until it has said where the page is."""
    program = [sys.executable, "-m", "codeenv", "view", *map(str, words)]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read(url):
    with build_opener(ProxyHandler({})).open(url, timeout=30) as answer:
        return answer.read().decode()


def test_it_says_where_the_page_is_and_ends_with_ctrl_c(tmp_path):
    with viewing(played(tmp_path / "run", "oracle")) as process:
        url = process.stdout.readline().strip()
        assert "<title>codeenv view</title>" in read(url)
        assert len(json.loads(read(url + "api/runs"))["runs"][0]["rollouts"]) == 2

        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, rest) == (130, "")
    assert errors.splitlines() == ["Ctrl-C ends it", "interrupted"]


def test_json_is_one_document_with_the_address(tmp_path):
    with viewing(played(tmp_path / "run", "oracle"), "--json", "--port", "0") as process:
        document = json.loads(process.stdout.readline())
        assert document["runs"] == ["run"]
        assert "viewer.js" in read(document["url"])

        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60)[0] == ""
    assert process.returncode == 130


def test_open_shows_it_in_a_browser(tmp_path, monkeypatch):
    program = tmp_path / "browser"
    program.write_text(
        '#!/bin/sh\nprintf %s "$1" >"$0.opened.part" && mv "$0.opened.part" "$0.opened"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))

    with viewing(played(tmp_path / "run", "oracle"), "--open") as process:
        url = process.stdout.readline().strip()
        read(url)
        assert (tmp_path / "browser.opened").read_text() == url


def test_tasks_that_are_none_are_told(tmp_path, capsys):
    assert main(["view", str(played(tmp_path / "run", "oracle")), "--tasks", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_what_is_no_run_is_told(tmp_path, capsys):
    (tmp_path / "empty").mkdir()

    for folder in (tmp_path / "gone", tmp_path / "empty"):
        assert main(["view", str(folder)]) == 2
        assert "hint: give the folder that codeenv run --out wrote" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["x", "-1", "65536", "٣"])
def test_what_is_no_port_is_told(tmp_path, capsys, port):
    assert main(["view", str(tmp_path), f"--port={port}"]) == 2
    assert "must be from 0 to 65535" in capsys.readouterr().err
