import re
import subprocess
import textwrap

import pytest

from codeenv.images.planning.plan import make_environment_plan, service_of
from codeenv.languages import detect_language
from codeenv.tree import Entry, Tree

FILES = {
    "pyproject.toml": """\
        [project]
        name = "my-shop"
        version = "1.2"
        dependencies = ["attrs>=20"]
        [project.scripts]
        shop = "shop.cli:main"
        [dependency-groups]
        test = ["pytest", "freezegun"]
        """,
    "shop/__init__.py": "import os\nMODE = os.environ.get('SHOP_MODE')\n",
    "shop/cli.py": "def main(): ...\n",
    "shop/price.py": "def total(items): return sum(items)\n",
    "tests/test_price.py": """\
        import pytest
        from shop.price import total

        def test_total():
            assert total([1, 2]) == 3

        def test_files(tmp_path):
            assert tmp_path
        """,
    "tests/test_cli.py": """\
        import unittest
        from shop import cli

        class CliTest(unittest.TestCase):
            def test_main(self):
                assert cli.main
        """,
    ".github/workflows/ci.yml": """\
        env: {SHOP_MODE: test, OTHER_MODE: "3", CI: "1"}
        jobs: {test: {services: {db: {image: "postgres:16"}, web: {image: nginx}}}}
        script: pytest tests --cov=shop -n auto -m 'not slow'
        """,
}


def plan_of(files):
    tree = Tree({p: Entry(textwrap.dedent(t).encode()) for p, t in files.items()})
    language = detect_language(tree)
    return make_environment_plan(tree, language, language.layout(tree)), tree


def test_a_plan_has_ten_checks_each_with_the_line_it_came_from():
    plan, tree = plan_of(FILES)
    checks = {check.command: check for check in plan.checks}

    assert len(checks) >= 10
    for check in plan.checks:
        lines = tree[check.place.path].data.decode().splitlines()
        assert check.place.line <= len(lines)
    pytest_ = "python -m pytest -q -p no:cacheprovider -o addopts="
    places = {
        "python -c 'import shop'": "shop/__init__.py",
        "python -c 'from shop.price import total'": "tests/test_price.py:2",
        "python -c 'from shop.cli import main'": "pyproject.toml:6",
        f"{pytest_} tests -m 'not slow'": ".github/workflows/ci.yml:3",
        f"{pytest_} tests/test_price.py::test_total": "tests/test_price.py:4",
        f"{pytest_} tests/test_cli.py::CliTest::test_main": "tests/test_cli.py:5",
    }
    assert {command: str(checks[command].place) for command in places} == places


def test_some_checks_are_never_shown_to_who_builds_the_environment():
    plan, _ = plan_of(FILES)

    assert plan.held_out
    assert set(plan.held_out).isdisjoint(plan.shown)
    assert len(plan.held_out) + len(plan.shown) == len(plan.checks)


def test_only_variables_that_the_code_reads_count():
    plan, _ = plan_of(FILES)

    assert [fact.value for fact in plan.variables] == ["SHOP_MODE=test"]


def test_only_services_that_can_be_had_count():
    plan, _ = plan_of(FILES)

    assert [service_of(fact.value) for fact in plan.services] == ["postgresql"]


@pytest.mark.parametrize(
    ("image", "service"),
    [
        ("redis", "redis"),
        ("registry.example/library/redis:7-alpine", "redis"),
        ("postgis/postgis:16-3.4", "postgresql"),
        ("elasticsearch:8", ""),
    ],
)
def test_a_service_is_known_by_its_image(image, service):
    assert service_of(image) == service


def test_the_same_tree_has_the_same_plan():
    assert plan_of(FILES)[0] == plan_of(dict(reversed(FILES.items())))[0]


def test_what_a_check_expects_is_what_pytest_prints(tmp_path):
    """The patterns are about the output of the real thing."""
    plan, tree = plan_of(FILES)
    for path, entry in tree.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(entry.data)
    checks = [c for c in plan.checks if "pytest" in c.command]

    for check in checks:
        command = check.command.replace("-p no:cacheprovider", "-p no:cacheprovider --rootdir=.")
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode in check.expect.exit_codes, done.stdout
        assert re.search(check.expect.output, done.stdout), check
