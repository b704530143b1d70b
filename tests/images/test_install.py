import json

import pytest

from codeenv.errors import BuildError
from codeenv.images.install import (
    Installed,
    Installer,
    InstallFailed,
    culprits,
    read_report,
    without,
)
from codeenv.sandbox.image import InstallResult
from codeenv.tasks.models import LockedPackage
from codeenv.tree import Entry, Tree
from tests.images.fakes import FakeBackend, environment_tree

REPORT = json.dumps(
    {
        "install": [
            {
                "metadata": {"name": "Zope.Interface", "version": "7.0"},
                "download_info": {"archive_info": {"hashes": {"sha256": "a" * 64}}},
            },
            {"metadata": {"name": "attrs", "version": "25.1"}, "download_info": {"vcs_info": {}}},
        ]
    }
).encode()


def test_the_lock_holds_what_pip_reports():
    assert read_report(REPORT) == (
        LockedPackage(name="attrs", version="25.1"),
        LockedPackage(name="zope-interface", version="7.0", sha256="a" * 64),
    )


def test_an_installation_gets_pip_and_requirements_as_files(index, base):
    tree = Tree({**environment_tree(("thing", "1.0")), ".codeenv-report.json": Entry(REPORT)})
    backend = FakeBackend(lambda job: tree)
    installed = Installer(base, backend).install(["pytest<9", "attrs"])
    job = backend.jobs[0]
    assert set(job.inputs) == {"pip-25.0-py3-none-any.whl", "requirements.txt"}
    assert job.inputs["requirements.txt"].data == b"pytest<9\nattrs\n"
    assert job.output == "/opt/env"
    assert ".codeenv-report.json" not in installed.tree
    assert [package.name for package in installed.packages] == ["attrs", "zope-interface"]


def test_certificates_are_offered_and_named(index, base, monkeypatch, tmp_path):
    (tmp_path / "ca.pem").write_bytes(b"certificates")
    monkeypatch.setenv("PIP_CERT", str(tmp_path / "ca.pem"))
    backend = FakeBackend(lambda job: environment_tree(("thing", "1.0")))
    Installer(base, backend).install(["thing"])
    assert backend.jobs[0].ca_bundle == b"certificates"
    assert backend.jobs[0].env["PIP_CERT"] == "/run/codeenv/ca.pem"


def test_a_restoration_names_every_hash_and_resolves_nothing(index, base):
    backend = FakeBackend(lambda job: environment_tree(("thing", "1.0")))
    Installer(base, backend).restore([LockedPackage(name="a", version="1", sha256="b" * 64)])
    job = backend.jobs[0]
    assert job.inputs["requirements.txt"].data == f"a==1 --hash=sha256:{'b' * 64}\n".encode()
    assert "--require-hashes --no-deps" in job.script


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            InstallResult(1, "x\nERROR: No matching distribution found for a\n", Tree({})),
            "No matching",
        ),
        (InstallResult(124, "Collecting a", Tree({})), "did not finish in time"),
        (InstallResult(1, "", Tree({})), "no output"),
    ],
)
def test_a_failure_tells_why(index, base, result, message):
    with pytest.raises(InstallFailed, match=message) as caught:
        Installer(base, FakeBackend(lambda job: result)).install(["a"])
    assert caught.value.exit_code == 2


def test_a_box_without_a_network_says_so(index, base):
    log = (
        "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) "
        "after connection broken by 'NameResolutionError(\"Failed to resolve\")': /simple/a/\n"
        "ERROR: Could not find a version that satisfies the requirement a\n"
        "ERROR: No matching distribution found for a\n"
    )
    with pytest.raises(BuildError, match="cannot reach the package index") as caught:
        Installer(base, FakeBackend(lambda job: InstallResult(1, log, Tree({})))).install(["a"])
    assert not isinstance(caught.value, InstallFailed), "nothing is wrong with the repository"
    assert "No matching distribution" in caught.value.hint


@pytest.mark.parametrize(
    ("log", "names"),
    [
        ("ERROR: No matching distribution found for Foo_Bar==9\n", {"foo-bar==9"}),
        ("ERROR: Failed to build 'numpy' when getting requirements\n", {"numpy<2"}),
        ("ERROR: Cannot install foo-bar==9 and numpy<2 because\n", {"foo-bar==9", "numpy<2"}),
        ("Collecting numpy\nERROR: something else\n", set()),
        ("ERROR: No matching distribution found for numpy-extra\n", set()),
    ],
)
def test_the_requirement_that_is_to_blame_is_found(log, names):
    assert culprits(log, ["foo-bar==9", "numpy<2", "six"]) == names


def test_the_project_itself_never_stays_in_its_environment():
    packages = tuple(LockedPackage(name=name, version="1.0") for name in ("helper", "thing"))
    tree = environment_tree(("helper", "1.0"), ("thing", "1.0"))
    left = without(Installed(tree, packages), {"thing", "absent"})
    assert [package.name for package in left.packages] == ["helper"]
    assert "lib/python3.13/site-packages/thing/__init__.py" not in left.tree
