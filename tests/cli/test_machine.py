"""Commands about this machine; whatever it has, they answer."""

import json
import os
import shutil
import subprocess
import tempfile

import pytest

from codeenv.cli import doctor, main
from codeenv.sandbox.local import FOLDER_PREFIX, OWNER_FILE
from codeenv.sandbox.owner import owner


def test_doctor_says_in_json_what_works(capsys):
    status = main(["doctor", "--json"])

    told = json.loads(capsys.readouterr().out)
    names = [check["name"] for check in told["checks"]]
    assert {"docker", "bubblewrap", "sandbox", "package index", "disk"} <= set(names)
    assert status == (0 if told["ok"] else 1)


def test_doctor_tells_how_to_get_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    checks = {check.name: check for check in doctor.examine()}

    assert checks["bubblewrap"].status == "missing"
    assert checks["bubblewrap"].hint
    assert checks["git"].hint == "needed for git repositories only: apt-get install git"


def test_doctor_examines_the_rest_where_the_cache_cannot_be_written(monkeypatch):
    monkeypatch.setenv("CODEENV_CACHE", "/dev/null/cache")
    checks = {check.name: check for check in doctor.examine()}

    assert checks["disk"].status == "failed"
    assert "CODEENV_CACHE" in checks["disk"].hint


def test_doctor_says_when_no_index_answers(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")

    assert doctor.package_index().status == "missing"


@pytest.mark.parametrize("json_wanted", [True, False])
def test_gc_removes_what_a_dead_process_left_and_says_what(capsys, json_wanted):
    with subprocess.Popen(["true"]) as process:
        dead = owner(process.pid)
    folder = tempfile.mkdtemp(prefix=FOLDER_PREFIX)
    with open(os.path.join(folder, OWNER_FILE), "w") as file:
        file.write(dead)
    try:
        assert main(["gc", *(["--json"] if json_wanted else [])]) == 0

        out = capsys.readouterr().out
        assert folder in out
        assert not os.path.exists(folder)
        assert not json_wanted or folder in str(json.loads(out)["removed"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
