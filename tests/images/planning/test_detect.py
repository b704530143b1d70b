import textwrap

import pytest

from codeenv.images.planning.detect import detect
from codeenv.tree import Entry, Tree


def found(path, text, **more):
    files = {path: text, **more}
    tree = Tree({p: Entry(textwrap.dedent(t).encode()) for p, t in files.items()})
    return [(f.kind, f.value, f.place.line) for f in detect(tree)]


def test_a_workflow_tells_packages_variables_services_versions_and_tests():
    facts = found(
        ".github/workflows/ci.yml",
        """\
        env:
          SHOP_MODE: test
          TOKEN: ${{ secrets.TOKEN }}
        jobs:
          test:
            strategy:
              matrix:
                python-version: ["3.11", 3.12, pypy3.10]
            services:
              db:
                image: postgres:16
            steps:
              - uses: actions/checkout@v4
              - run: sudo apt-get install -y libffi-dev
              - name: Test
                env: {SHOP_LEVEL: 3}
                run: |
                  pip install trio
                  pytest tests -m "not slow"
        """,
    )

    assert facts == [
        ("variable", "SHOP_MODE=test", 2),
        ("python", "3.11", 8),
        ("python", "3.12", 8),
        ("service", "postgres:16", 10),
        ("apt", "libffi-dev", 14),
        ("variable", "SHOP_LEVEL=3", 16),
        ("requirement", "trio", 18),
        ("test", "pytest tests -m 'not slow'", 19),
    ]


@pytest.mark.parametrize(
    ("path", "text", "facts"),
    [
        (
            ".gitlab-ci.yml",
            """\
            image: python:3.12
            services: [redis:7]
            test:
              script:
                - pytest
            """,
            [("python", "3.12", 1), ("service", "redis:7", 2), ("test", "pytest", 5)],
        ),
        (
            ".travis.yml",
            """\
            services: redis-server
            addons: {apt: {packages: [libenchant-dev]}}
            script: python -m pytest
            """,
            [
                ("apt", "libenchant-dev", 2),
                ("test", "python -m pytest", 3),
            ],
        ),
        (
            ".circleci/config.yml",
            """\
            jobs:
              build:
                steps:
                  - run: {name: Test, command: pytest shop}
            """,
            [("test", "pytest shop", 4)],
        ),
        (
            "docker-compose.yml",
            """\
            services:
              cache:
                image: redis
            """,
            [("service", "redis", 2)],
        ),
        (
            "tox.ini",
            """\
            [testenv]
            setenv =
                SHOP_MODE = test
                HOME = {envtmpdir}
            commands =
                cov: coverage run -m pytest {posargs}
                !cov: pytest {posargs}
            [testenv:docs]
            commands = pytest docs
            """,
            [
                ("variable", "SHOP_MODE=test", 3),
                ("test", "python -m pytest", 6),
                ("test", "pytest", 7),
            ],
        ),
        (
            "noxfile.py",
            """\
            import nox
            @nox.session
            def tests(session):
                session.install("trio", "-e", ".")
                session.run("pytest", *session.posargs, env={"SHOP_MODE": "test"})
            @nox.session
            def lint(session):
                session.run("pytest", "--flake8")
            """,
            [
                ("requirement", "trio", 4),
                ("test", "pytest", 5),
                ("variable", "SHOP_MODE=test", 5),
            ],
        ),
        (
            "pyproject.toml",
            """\
            [tool.hatch.envs.test.scripts]
            all = "pytest tests {args}"
            [tool.tox.env_run_base]
            commands = [["pytest", "-q", "tests"]]
            [tool.black]
            scripts = 3
            """,
            [("test", "pytest tests", 2), ("test", "pytest -q tests", 2)],
        ),
        (
            "Makefile",
            """\
            PYTHON ?= python3
            TESTS = tests/unit
            check: lint
            \t@$(PYTHON) -m pytest $(TESTS)
            """,
            [("test", "python3 -m pytest tests/unit", 4)],
        ),
        (
            "Dockerfile",
            """\
            FROM python:3.12-slim
            ENV SHOP_MODE=test SHOP_LEVEL=3
            RUN --mount=type=cache,target=/root apt-get update \\
             && apt-get install -y libpq-dev
            """,
            [
                ("python", "3.12", 1),
                ("variable", "SHOP_MODE=test", 2),
                ("variable", "SHOP_LEVEL=3", 2),
                ("apt", "libpq-dev", 3),
            ],
        ),
        (
            "environment.yml",
            """\
            dependencies:
              - python=3.12
              - conda-forge::numpy>=1.2
              - pip:
                - trio==0.3
            """,
            [("requirement", "numpy", 3), ("requirement", "trio==0.3", 5)],
        ),
        (
            "README.md",
            """\
            Say `pytest`.
            ```console
            $ pip install trio
            $ pytest tests
            ```
            ```python
            pytest.main()
            ```
            """,
            [("requirement", "trio", 3), ("test", "pytest tests", 4)],
        ),
        (
            "CONTRIBUTING.rst",
            """\
            Run::

                pytest tests

            .. code-block:: python

                pytest tests/other

            .. code-block:: bash

                pytest tests/last
            """,
            [("test", "pytest tests", 3), ("test", "pytest tests/last", 11)],
        ),
    ],
)
def test_every_kind_of_file_is_read(path, text, facts):
    assert found(path, text) == facts


def test_shell_scripts_that_a_command_names_are_read():
    more = {
        "ci/test.sh": "set -e\n. ci/env.sh\npytest -q\n",
        "ci/env.sh": "export SHOP_MODE=test\n",
    }
    text = "script: bash ./ci/test.sh\n"

    assert found(".travis.yml", text, **more) == [
        ("variable", "SHOP_MODE=test", 1),
        ("test", "pytest -q", 3),
    ]


def test_a_script_that_calls_itself_comes_to_an_end():
    assert found(".travis.yml", "script: ./a.sh\n", **{"a.sh": "./a.sh\npytest\n"}) == [
        ("test", "pytest", 2)
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".github/workflows/ci.yml", "a: [1, 2\nb: }"),
        (".github/workflows/ci.yml", "a: &a [*a, *a]\nb: *a\n"),
        (".github/workflows/ci.yml", "- !!python/object/apply:os.system [pytest]\n"),
        ("environment.yml", "- a\n- b\n"),
        ("pyproject.toml", "[tool"),
        ("noxfile.py", "def tests(session:\n"),
        ("tox.ini", "]\n= a\n"),
        ("Makefile", "\tpytest\n"),
        ("Dockerfile", "RUN \\"),
    ],
)
def test_what_cannot_be_read_says_nothing(path, text):
    assert found(path, text) == []


def test_aliases_do_not_multiply_the_work():
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))

    assert found(".github/workflows/ci.yml", f"a0: &a0 [pytest]\n{levels}") == []
