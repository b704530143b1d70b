"""Names that repositories and planners give are never options, commands or ways around walls."""

from dataclasses import replace

import pytest

from codeenv.errors import BuildError
from codeenv.images.allowed import demand_packages, is_package, is_variable, packages_in
from codeenv.images.base import ensure_base, named_base
from codeenv.images.layers import Environment, compose
from codeenv.images.own import own_packages, system_copy
from codeenv.images.planning.detect import detect
from codeenv.images.recipe_files import write_recipe_files
from codeenv.languages.base import InstallPlan, Layout
from codeenv.tasks.models import EnvironmentLock
from codeenv.tree import Entry, Tree


@pytest.mark.parametrize("name", ["git", "g++", "libstdc++6", "libglib2.0-0t64", "7zip", "x-y-z"])
def test_names_of_packages_are_allowed(name):
    assert is_package(name)


@pytest.mark.parametrize(
    "name",
    ["", "-oDPkg::Pre-Invoke::=x", "git-", "a,b", "a b", "Git", "a;b", "a/b", "../a", "a\n", "$a"],
)
def test_options_removals_and_commands_are_no_packages(name, monkeypatch, tmp_path):
    assert not is_package(name)
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path))
    with pytest.raises(BuildError, match="not the name of a Debian package"):
        ensure_base("debian", [name])
    if name and "," not in name:
        with pytest.raises(BuildError, match="not the name of a Debian package"):
            named_base(f"debian:trixie+{name}")


def test_a_workflow_cannot_name_options_of_apt():
    travis = b'addons: {apt: {packages: ["-oDPkg::Pre-Invoke::=touch${IFS}/tmp/x", "zsh", "a-"]}}\n'
    facts = detect(Tree({".travis.yml": Entry(travis)}))
    assert [fact.value for fact in facts if fact.kind == "apt"] == ["zsh"]


def test_packages_are_sorted_and_named_once():
    assert demand_packages(["zsh", "git", "zsh"]) == ("git", "zsh")
    assert packages_in("debian:trixie+g++,zsh") == ("g++", "zsh")
    assert packages_in("debian:trixie") == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "x"),
        ("LD_PRELOAD", "x"),
        ("BASH_ENV", "x"),
        ("ENV", "x"),
        ("PYTHONPATH", "x"),
        ("PYTHONOPTIMIZE", "2"),
        ("PYTEST_ADDOPTS", "-x"),
        ("PIP_INDEX_URL", "x"),
        ("A-B", "x"),
        ("A", "x\nRUN y"),
        ("A", "x\0"),
        ("A", "\udc80"),
    ],
)
def test_variables_that_steer_the_machinery_are_refused_everywhere(name, value, base):
    assert not is_variable(name, value)
    with pytest.raises(BuildError, match="may not set"):
        compose(base, (), {name: value})


@pytest.mark.parametrize("name", ["LDAP_SERVER", "PIPELINE", "DATABASE_URL", "MY_PATH", "BASHFUL"])
def test_other_variables_are_allowed(name):
    assert is_variable(name, "a value with $, \" and '")


def test_a_dockerfile_says_nothing_that_a_name_or_value_brings_in(tmp_path, base):
    layer_folder = tmp_path / "layer" / "lib" / "python3.13" / "site-packages"
    layer_folder.mkdir(parents=True)
    lock = EnvironmentLock(
        base="debian:trixie",
        python="3.13.5",
        platform="x86_64",
        packages=(),
        metadata=("evil\nFROM evil==1.0",),
        variables={"MODE": 'a "quoted" $HOME \\'},
        services=("redis",),
    )
    image = compose(base, (), lock.variables, lock.services)
    layer = type("Layer", (), {"folder": tmp_path / "layer"})
    write_recipe_files(tmp_path / "out", Environment(lock, replace(image, layers=(layer,))))
    lines = (tmp_path / "out" / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("FROM")] == [
        "FROM ${IMAGE} AS build",
        "FROM ${IMAGE}",
    ]
    assert any('MODE="a \\"quoted\\" \\$HOME \\\\"' in line for line in lines)
    assert "redis-server" in (tmp_path / "out" / "startup.sh").read_text()
    assert any("useradd" in line for line in lines), "servers refuse a user without a name"


def test_a_debian_package_of_the_project_itself_is_never_asked_for():
    metadata = {"entry_points.txt": b"[console_scripts]\nblackd = blackd:main\n"}
    plan = InstallPlan("Black_Thing", "1.0", "", (), metadata)
    own = own_packages(plan, Layout(("src",), ("black", "blib2to3"), (), ()))
    assert {"black-thing", "python3-black-thing", "black", "python3-black", "blackd"} <= own


def test_a_base_that_holds_the_project_is_noticed(tmp_path, base):
    folder = tmp_path / "usr" / "lib" / "python3" / "dist-packages" / "black"
    folder.mkdir(parents=True)
    found = system_copy(replace(base, rootfs=tmp_path), ("other", "black"))
    assert found == "usr/lib/python3/dist-packages/black"
    assert system_copy(replace(base, rootfs=tmp_path), ("other",)) == ""
