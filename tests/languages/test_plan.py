import pytest
from packaging.requirements import Requirement

from codeenv.languages.python.poetry import poetry_specifier
from codeenv.sources.versions import freeze_version

TEST = {"pkg/__init__.py": "", "tests/test_a.py": "def test_it():\n    assert True\n"}


@pytest.fixture
def plan(python, tree_of):
    def make(**files: str):
        names = {"pyproject": "pyproject.toml", "setup_cfg": "setup.cfg", "setup_py": "setup.py"}
        names |= {"tox": "tox.ini", "info": "PKG-INFO", "init": "pkg/__init__.py"}
        tree = tree_of({**TEST, **{names.get(k, k): v for k, v in files.items()}})
        made = python.plan(tree, python.layout(tree))
        for line in made.requirements:
            assert str(Requirement(line)) == line
        assert set(made.reasons) == set(made.requirements)
        return made

    return make


def test_standard_metadata_gives_run_time_and_test_requirements(plan):
    made = plan(
        pyproject="""
[project]
name = "My.Pkg"
version = "1.2"
requires-python = ">=3.8"
dependencies = ["six>=1.0", "colorama; sys_platform == 'win32'"]
[project.optional-dependencies]
test = ["pytest>=7", "flake8", "my-pkg[extra]", "thing @ https://example.org/thing.zip"]
extra = ["lxml"]
docs = ["sphinx", "furo"]
[dependency-groups]
tests = ["freezegun", {include-group = "base"}, {include-group = "docs"}]
base = ["mock"]
docs = ["mkdocs"]
"""
    )
    assert (made.name, made.version, made.requires_python) == ("My.Pkg", "1.2", ">=3.8")
    assert made.requirements == (
        'colorama; sys_platform == "win32"',
        "freezegun",
        "lxml",
        "mock",
        "pytest>=7",
        "six>=1.0",
    )
    assert made.reasons["freezegun"] == "pyproject.toml [dependency-groups]"


def test_poetry_groups_become_standard_requirements(plan):
    made = plan(
        pyproject="""
[tool.poetry]
name = "pkg"
version = "0.3"
[tool.poetry.dependencies]
python = "^3.8"
attrs = "^22.1"
tomli = {version = "^2.0", python = "<3.11"}
extra = {version = "*", optional = true}
local = {path = "../local"}
[tool.poetry.group.dev.dependencies]
pytest = "~7.2"
black = "*"
"""
    )
    assert made.requirements == (
        "attrs<23,>=22.1",
        "pytest<7.3,>=7.2",
        'tomli<3,>=2.0; python_version < "3.11"',
    )


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("~=1.4", "~=1.4"),
        ("1.2.3", "==1.2.3"),
        ("*", ""),
        (">=1,<2", ">=1,<2"),
        ("^1 || ^2", ""),
    ],
)
def test_poetry_constraints_mean_the_same_in_pep_440(version, expected):
    assert poetry_specifier(version) == expected


def test_setup_py_is_read_as_literals_and_never_run(plan):
    made = plan(
        setup_py="""
import os
raise SystemExit("never run")
REQUIRES = ["six"] + ["attrs>=20"]
TESTS = {"test": ["pytest", "mock"]}
setup(name="pkg", version="3.1", install_requires=REQUIRES, extras_require=TESTS,
      package_dir={"": "."}, entry_points={"console_scripts": ["pkg = pkg:main"]},
      long_description=open("README").read())
"""
    )
    assert (made.name, made.version) == ("pkg", "3.1")
    assert made.requirements == ("attrs>=20", "mock", "pytest", "six")
    assert made.metadata["entry_points.txt"] == b"[console_scripts]\npkg = pkg:main\n"


def test_setup_cfg_and_tox_are_read(plan):
    made = plan(
        setup_cfg="""
[metadata]
name = pkg
version = attr: pkg.__version__
[options]
install_requires =
    six
[options.extras_require]
testing =
    pytest
    hypothesis
[options.entry_points]
console_scripts =
    pkg = pkg:main
""",
        tox="[testenv]\ndeps =\n    py38: mock\n    {[base]deps}\n    -r more.txt\n",
        init="__version__ = '4.5'\n",
        **{"more.txt": "freezegun==1.0 --hash=sha256:aa\n"},
    )
    assert made.version == "4.5"
    assert made.requirements == ("freezegun==1.0", "hypothesis", "mock", "pytest", "six")


def test_requirement_files_include_each_other_and_lose_their_options(plan):
    made = plan(
        **{
            "requirements/tests.txt": (
                "-r base.txt\n-c limits.txt\npytest==8.3.4 \\\n    --hash=sha256:aa\n"
                "# comment\n-e .\n./local\ngit+https://example.org/x.git\nmock # why\n"
            ),
            "requirements/base.txt": "six==1.16.0\n-r tests.txt\n",
            "requirements/docs.txt": "sphinx\nalabaster\n",
            "requirements-dev.txt": "ruff\nresponses\n",
        }
    )
    assert made.requirements == ("mock", "pytest==8.3.4", "responses", "six==1.16.0")


def test_a_pin_of_a_requirements_file_does_not_replace_the_metadata(plan):
    made = plan(
        pyproject='[project]\nname = "pkg"\ndependencies = ["six>=1.10"]\n',
        **{"requirements.txt": "six==1.9\n"},
    )
    assert made.requirements == ("six>=1.10",)


def test_metadata_of_a_source_distribution_gives_version_and_extras(plan):
    made = plan(
        info=(
            "Metadata-Version: 2.1\nName: pkg\nVersion: 7.0.1\nRequires-Python: >=3.9\n"
            "License: MIT\nRequires-Dist: six\nRequires-Dist: pytest; extra == 'test'\n"
            "Requires-Dist: mock>=1; (python_version > '3.6') and extra == 'test'\n"
            "Requires-Dist: sphinx; extra == 'docs'\n\nLong\n"
        )
    )
    assert (made.version, made.requires_python) == ("7.0.1", ">=3.9")
    assert made.requirements == ('mock>=1; python_version > "3.6"', "pytest", "six")
    text = made.metadata["METADATA"].decode()
    assert text.startswith("Metadata-Version: 2.1\nName: pkg\nVersion: 7.0.1\n")
    assert "Long" not in text


def test_a_project_without_a_version_is_version_zero(plan):
    made = plan(pyproject="not [ toml")
    assert (made.name, made.version, made.requirements) == ("pkg", "0", ())


SCM = '[project]\nname = "pkg"\ndynamic = ["version"]\n[tool.setuptools_scm]\nwrite_to = "{}"\n'


@pytest.mark.parametrize("path", ["pkg/_version.py", "pkg/made/by_scm.py", "pkg/VERSION"])
def test_a_version_of_version_control_is_the_one_in_the_version_file(python, tree_of, path):
    tree = tree_of({**TEST, "pyproject.toml": SCM.format(path)})
    frozen, _ = freeze_version(tree, "0.0.0+g0123abcd4")
    made = python.plan(frozen, python.layout(frozen))
    assert made.version == "0.0.0+g0123abcd4"
    assert b"Version: 0.0.0+g0123abcd4\n" in made.metadata["METADATA"]


def test_a_version_of_version_control_without_a_file_is_the_fallback_that_is_stated(plan):
    made = plan(pyproject=SCM.format("") + 'fallback_version = "1.4"\n')
    assert made.version == "1.4"


def test_what_any_extra_asks_for_is_optional(plan):
    made = plan(
        pyproject=(
            '[project]\nname = "pkg"\n[project.optional-dependencies]\n'
            'fast = ["a>1; os_name == \'posix\'", "nonsense;;"]\n'
        ),
        setup_cfg="[options.extras_require]\ndraw =\n  b\n  c==1\n",
        setup_py="from setuptools import setup\nsetup(extras_require={'x': ['d[e]']})\n",
        info=(
            "Metadata-Version: 2.1\nName: pkg\nRequires-Dist: f; extra == 'y'\nRequires-Dist: g\n"
        ),
    )
    assert made.optional == ("a>1", "b", "c==1", "d[e]", "f")
