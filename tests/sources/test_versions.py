"""Version files that only a build writes: every way to name one, and what is written."""

import runpy

import pytest

from codeenv.errors import SourceError
from codeenv.sources import checkout, fetch
from codeenv.sources.versions import VersionFile, declared_version, freeze_version, version_files
from codeenv.tree import Entry, Tree

FILE = "src/pkg/_version.py"
SCM = f'[tool.setuptools_scm]\nwrite_to = "{FILE}"\n'
WAYS = {
    "setuptools-scm": {"pyproject.toml": SCM},
    "setuptools-scm, new": {"pyproject.toml": SCM.replace("write_to", "version_file")},
    "setuptools-scm, of a larger repository": {
        "pyproject.toml": f'[tool.setuptools_scm]\nroot = "../.."\nwrite_to = "a/b/{FILE}"\n'
    },
    "hatch-vcs": {"pyproject.toml": f'[tool.hatch.build.hooks.vcs]\nversion-file = "{FILE}"\n'},
    "hatch-vcs, of the wheel": {
        "pyproject.toml": f'[tool.hatch.build.targets.wheel.hooks.vcs]\nversion-file = "{FILE}"\n'
    },
    "hatch": {"pyproject.toml": f'[tool.hatch.build.hooks.version]\npath = "./{FILE}"\n'},
    "versioningit": {"pyproject.toml": f'[tool.versioningit.write]\nfile = "{FILE}"\n'},
    "pdm": {"pyproject.toml": '[tool.pdm.version]\nsource = "scm"\nwrite_to = "pkg/_version.py"\n'},
    "setup.py": {"setup.py": f'setup(use_scm_version={{"write_to": "{FILE}"}})\n'},
    "setup.py, by keyword": {"setup.py": f"setup(use_scm_version=dict(version_file='{FILE}'))\n"},
}


def tree_of(files):
    made = {"src/pkg/__init__.py": "from ._version import version\n", **files}
    return Tree({path: Entry(text.encode()) for path, text in made.items()})


def written(pyproject, fallback="1.2"):
    """What is written to the one version file that a manifest names."""
    tree = tree_of({"pyproject.toml": pyproject})
    frozen, _ = freeze_version(tree, fallback)
    (path,) = frozen.diff(tree).delete
    return frozen[path].data.decode()


@pytest.fixture
def project(repository, git):
    """A git repository whose version file is written by builds."""
    (repository / "pyproject.toml").write_text(SCM)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "versions")
    return repository


@pytest.fixture
def folder(tmp_path):
    """The same as a plain folder."""
    root = tmp_path / "plain"
    root.mkdir()
    (root / "pyproject.toml").write_text(SCM)
    return root


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_name_a_version_file_is_known(way):
    assert version_files(tree_of(WAYS[way])) == (VersionFile(FILE),)


def test_what_is_written_has_every_name_that_packages_import(tmp_path):
    (tmp_path / "v.py").write_text(written(SCM, "1.2.0rc1.dev3+g0123abcd4"))
    names = runpy.run_path(str(tmp_path / "v.py"))
    assert names["version"] == names["__version__"] == "1.2.0rc1.dev3+g0123abcd4"
    expected = (1, 2, 0, "rc1", "dev3", "g0123abcd4")
    assert names["version_tuple"] == names["__version_tuple__"] == expected
    assert names["commit_id"] is names["__commit_id__"] is None


def test_a_file_that_is_not_python_holds_the_version_alone():
    assert written('[tool.setuptools_scm]\nversion_file = "src/pkg/VERSION"\n') == "1.2"


@pytest.mark.parametrize(
    ("manifest", "content"),
    [
        (f'{SCM}write_to_template = "v = {{version!r}}"\n', "v = '1.2'"),
        (f"{SCM}write_to_template = 't = {{version_tuple}}'\n", "t = (1, 2)"),
        (
            f"[tool.pdm.version]\nwrite_to = '{FILE}'\nwrite_template = \"v = '{{}}'\"\n"
            "[tool.pdm.build]\npackage-dir = ''\n",
            "v = '1.2'",
        ),
        (
            f"[tool.hatch.build.hooks.vcs]\nversion-file = '{FILE}'\n"
            "template = 'V = {version}'\n",
            "V = 1.2",
        ),
    ],
)
def test_a_template_of_the_manifest_is_used(manifest, content):
    assert written(manifest) == content


@pytest.mark.parametrize(
    "template",
    ["{scm_version}", "{version.__class__}", "{version:>99999999}", "{", "{version!x}", "{} {}"],
)
def test_a_template_that_asks_for_more_than_the_version_is_not_used(template):
    assert written(f"{SCM}write_to_template = '{template}'\n") == written(SCM)


@pytest.mark.parametrize("path", ["/etc/version.py", "../version.py", "src/../../v.py", "src/pkg"])
def test_a_path_that_has_no_place_in_the_tree_is_left_out_and_told(path):
    tree = tree_of({"pyproject.toml": f'[tool.setuptools_scm]\nversion_file = "{path}"\n'})
    assert version_files(tree)
    frozen, (note,) = freeze_version(tree, "1")
    assert frozen == tree
    assert "is left out" in note


def test_nothing_is_written_through_a_link_or_below_a_file():
    for inside in (Entry(b"src/pkg", "link"), Entry(b"")):
        tree = Tree({"pyproject.toml": Entry(SCM.replace("src/", "own/").encode()), "own": inside})
        assert freeze_version(tree, "1")[0] == tree


def test_a_version_file_that_is_there_stays_as_it_is():
    tree = tree_of({"pyproject.toml": SCM, FILE: "version = '7'\n"})
    assert freeze_version(tree, "1") == (tree, ())


@pytest.mark.parametrize("text", ["not [ toml", "tool = 3\n", "[tool]\nsetuptools_scm = []\n"])
def test_a_malformed_manifest_names_no_version_file(text):
    assert version_files(tree_of({"pyproject.toml": text, "setup.py": "def (:"})) == ()


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"PKG-INFO": "Name: a\nVersion: 7.1\n", "pyproject.toml": SCM}, "7.1"),
        ({"pyproject.toml": "[project]\nversion = '3.0'\n"}, "3.0"),
        ({"pyproject.toml": f"{SCM}fallback_version = '2.dev'\n"}, "2.dev0"),
        ({"pyproject.toml": "[tool.hatch.version]\nfallback-version = '4'\n"}, "4"),
        ({"pyproject.toml": "[tool.versioningit]\ndefault-version = '5'\n"}, "5"),
        ({".git_archival.txt": "node: 00\ndescribe-name: v1.4.2-3-g0123abc\n"}, "1.4.2"),
        ({".git_archival.txt": "describe-name: pkg-1.5\n"}, "1.5"),
        ({".git_archival.txt": "describe-name: $Format:%(describe:tags=true)$\n"}, ""),
        ({"pyproject.toml": f"{SCM}fallback_version = 'unknown'\n"}, ""),
        ({}, ""),
    ],
)
def test_a_version_that_the_files_state_is_taken(files, version):
    assert declared_version(tree_of(files)) == version


def test_a_checkout_of_git_has_the_version_of_its_commit(project, git):
    git(project, "tag", "v9.9")
    found = checkout(str(project))
    version = f"0.0.0+g{found.pin.version[:9]}"
    assert f"version = __version__ = '{version}'" in found.tree[FILE].data.decode()
    assert found.notes[1:] == (f"{FILE} is written with version {version}: builds make it",)
    assert checkout(project.as_uri()).tree == found.tree


def test_a_pin_gives_the_version_file_again_from_the_cache_and_from_the_source(
    project, git, monkeypatch, tmp_path
):
    found = checkout(str(project))
    assert found.pin.tree == found.tree.digest != found.pin.sha256
    git(project, "tag", "v9.9")
    assert fetch(found.pin) == found
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "other"))
    again = fetch(found.pin)
    assert again == found
    assert again.notes == found.notes[1:]


def test_a_plain_folder_has_a_version_of_its_own(folder):
    found = checkout(str(folder))
    assert b"'0.0.0+local'" in found.tree[FILE].data
    assert fetch(found.pin) == found
    assert not (folder / FILE).exists()


def test_the_version_file_of_a_subdir_is_below_it(project, git):
    (project / "part").mkdir()
    (project / "part" / "pyproject.toml").write_text(SCM)
    git(project, "add", ".")
    git(project, "commit", "-qm", "part")
    found = checkout(str(project), subdir="part")
    assert set(found.tree) == {"pyproject.toml", FILE}
    assert fetch(found.pin) == found


def test_a_pin_of_a_tree_without_its_version_file_still_gives_that_tree(project):
    found = checkout(str(project))
    bare = Tree({path: entry for path, entry in found.tree.items() if path != FILE})
    pin = found.pin.model_copy(update={"tree": bare.digest})
    assert fetch(pin).tree == bare


def test_a_pin_with_another_version_file_is_refused(project):
    found = checkout(str(project))
    other = Tree({**found.tree, FILE: Entry(b"version = '1'\n")})
    with pytest.raises(SourceError, match="bytes differ"):
        fetch(found.pin.model_copy(update={"tree": other.digest}))
