"""What happens to plug-ins that a repository's options load by name."""

import importlib
import sys

import pytest

from codeenv.guest import pytest_runner


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder with a plug-in that counts as installed."""
    package = tmp_path / "pytest_cov"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text("def pytest_addoption(parser):\n    raise ValueError\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("pytest_cov", "pytest_cov.plugin"):
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    return tmp_path


def test_a_coverage_plug_in_that_is_loaded_by_name_does_nothing(installed, tmp_path, monkeypatch):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    pytest_runner._empty("pytest_cov")
    assert not hasattr(importlib.import_module("pytest_cov.plugin"), "pytest_addoption")


def test_a_repository_that_is_the_plug_in_keeps_it(installed, monkeypatch):
    monkeypatch.chdir(installed)
    pytest_runner._empty("pytest_cov")
    assert hasattr(importlib.import_module("pytest_cov.plugin"), "pytest_addoption")


def test_a_plug_in_that_is_not_installed_is_no_problem(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    pytest_runner._empty("no_such_package")
    assert "no_such_package.plugin" not in sys.modules
