import pytest

from codeenv.images.planning.facts import Place, Script
from codeenv.images.planning.reading import facts_in
from codeenv.images.planning.shell import commands_of


def words(text, **kwargs):
    return [c.words for c in commands_of(Script(text, Place("ci.sh", 1), **kwargs))]


def facts(text):
    commands = commands_of(Script(text, Place("ci.sh", 1)))
    return [(f.kind, f.value) for command in commands for f in facts_in(command)]


def test_commands_are_told_apart_and_know_their_lines():
    text = "cd a && make b; c | d\n\n# nothing\ne \\\n  f 'g h' # why\ni"
    commands = list(commands_of(Script(text, Place("ci.sh", 10))))

    assert [(c.words, c.place.line) for c in commands] == [
        (("cd", "a"), 10),
        (("make", "b"), 10),
        (("c",), 10),
        (("d",), 10),
        (("e", "f", "g h"), 13),
        (("i",), 15),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "pytest -x tests",
        "sudo pytest -x tests",
        "uv run --group test pytest -x tests",
        "poetry run pytest -x tests",
        "hatch run pytest -x tests",
        "xvfb-run -a pytest -x tests",
        "${{ matrix.prefix }} pytest -x tests {posargs:{env:MORE}}",
    ],
)
def test_what_only_starts_a_command_is_left_out(text):
    assert words(text) == [("pytest", "-x", "tests")]


def test_coverage_runs_what_it_measures():
    assert words("coverage run --branch -m pytest tests") == [("python", "-m", "pytest", "tests")]


def test_variables_before_a_command_are_its_own():
    assert facts("TZ=UTC LEVEL=$OTHER pytest") == [("variable", "TZ=UTC"), ("test", "pytest")]
    assert facts("export A=1 B='two words' C=$D") == [
        ("variable", "A=1"),
        ("variable", "B=two words"),
    ]


def test_what_people_type_sets_no_variables_of_its_own():
    assert words("level = 3\nname=value", user=True) == [("level", "=", "3")]


def test_half_a_quote_is_no_command():
    assert words("it's not shell") == []


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("apt-get install -y libxml2-dev libxslt1-dev=1.1", ["libxml2-dev", "libxslt1-dev"]),
        ("sudo apt-get -qq install --no-install-recommends g++:amd64", ["g++"]),
        ("apt install python3 python3-dev git pip tzdata", ["tzdata"]),
        ("apt-get update", []),
        ("brew install libxml2", []),
        ("apt-get install ./local.deb $MORE", []),
    ],
)
def test_debian_packages_are_named_without_what_every_base_has(text, packages):
    assert facts(text) == [("apt", package) for package in packages]


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("pip install 'attrs>=20' -r more.txt -c limits.txt .", ["attrs>=20"]),
        ("python -m pip install --upgrade ./dist/a.whl freezegun[all]", ["freezegun[all]"]),
        ("uv pip install trio; pip3 install mock", ["trio", "mock"]),
        ("pip install -e .[test]", []),
        ("npm install left-pad", []),
    ],
)
def test_requirements_of_pip_are_found(text, requirements):
    assert facts(text) == [("requirement", name) for name in requirements]


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("py.test tests", True),
        (".venv/bin/pytest", True),
        ("python -W error -m pytest tests", True),
        ("python3.12 -m unittest discover", True),
        ("python setup.py test", True),
        ("python runtests.py --fast", True),
        ("python setup.py build", False),
        ("python -m build", False),
        ("echo pytest", False),
        ("tox -e py312", False),
    ],
)
def test_commands_that_run_tests_are_known(text, tests):
    assert [kind for kind, _ in facts(text)] == ["test"] * tests
