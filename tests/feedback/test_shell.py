import pytest

from codeenv.feedback.shell import only_reads, runs_tests


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "python -m pytest -q tests/test_a.py 2>&1 | tail -5",
        "cd sub && timeout 60 python3 -m pytest -x",
        "timeout -k 5 1m pytest",
        "PYTHONPATH=src env A=1 uv run pytest",
        "python -m unittest discover",
        "tox -e py312",
        "nox -s tests",
        "make test",
        "coverage run -m pytest && coverage report",
        "bash -c 'pytest -q'",
        "python tests/test_a.py",
        "ls;pytest>out.txt",
        "for i in 1 2; do pytest; done",
        "echo one # two\npytest",
        "pytest 'an open quote",
        "python -m coverage run --source src -m pytest",
        "uv run --with hypothesis pytest",
        "uv run --extra test python -m pytest -q",
        "hatch run test",
        "hatch run dev:test",
        "bash -lc 'cd src && pytest -q'",
        "nice -n 10 pytest",
        "sudo -u agent env -u X pytest",
        "find tests -name '*.py' | xargs -n 1 python -m pytest",
        "python manage.py test",
        "python tests/runtests.py",
        "./run_tests.sh",
        "sh run-tests.sh",
        "python -Wd -m doctest calc.py",
        "python -c 'import pytest; pytest.main()'",
        'python3 -c \'import sys, pytest as p; sys.exit(p.main(["-q", "tests"]))\'',
        "python -c 'from unittest import main; main(\"tests.test_a\")'",
        "python -c 'import doctest, calc; doctest.testmod(calc)'",
        'python -c \'import subprocess; subprocess.run(["pytest", "-q"])\'',
        "python -c 'import os; os.system(\"cd src && pytest\")'",
    ],
)
def test_a_run_of_tests_is_recognised(command):
    assert runs_tests(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ls tests",
        "cat tests/test_a.py",
        "echo pytest",
        "grep -rn pytest .",
        "pip show pytest",
        "pytest --version",
        "pytest --collect-only -q",
        "make docs",
        "python a.py test",
        "true # pytest",
        "python -c 'import pytest; print(pytest.__version__)'",
        "python -c 'import pytest; pytest.main([\"--version\"])'",
        "python -c 'import calc; calc.main(\"pytest\")'",
        "python -c 'pytest.main('",
        "python -c 'import os; os.system(\"echo pytest\")'",
        f"python -c '{'(' * 3000}test{')' * 3000}'",
        "cat > a.py <<'EOF'\npytest\nEOF",
        "git checkout test",
        "tox -l",
        "tox list",
        "python -m nox -l",
        "make -n test",
        "python -m pytest --version",
        "pytest tests --fixtures-per-test",
        "command -v pytest",
        "echo 'a; pytest'",
        "test -f a.py",
        "python make.py -m pytest",
    ],
)
def test_what_only_speaks_of_tests_is_no_run(command):
    assert not runs_tests(command)


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat a.py | head -5",
        "grep -n 'def ' a.py && wc -l a.py",
        "sed -n '1,20p' a.py",
        "git diff HEAD",
        "git status --short; git log -3",
        "find . -name '*.py' 2>/dev/null | sort",
        "ls 2>&1",
        "cd src\nls # rm a.py",
        "grep '>' a.py; grep \"a;b\" b.py",
        "find . -name '*.py' | xargs cat",
        "bash -c 'ls | head'",
        "diff a.py <(cat b.py) 2>&1",
    ],
)
def test_looking_around_changes_nothing(command):
    assert only_reads(command)


@pytest.mark.parametrize(
    "command",
    [
        "rm a.py",
        "cat a.py > b.py",
        "cat a.py >> b.py",
        "cat a.py &> b.py",
        "ls; touch a",
        "ls\nrm a.py",
        "sed -i s/a/b/ a.py",
        "sed -n 'w b.py' a.py",
        "find . -delete",
        "find . -exec rm {} +",
        "git checkout a.py",
        "git diff --output=a.py",
        "git branch new",
        "sort -o a.py a.py",
        "echo $(rm a.py)",
        'echo "$(rm a.py)"',
        "echo `rm a.py`",
        "cat it's; rm a.py",
        "rg --pre sh x",
        "tee a.py",
        "python a.py",
        "pytest",
        "cat <<EOF > a.py\nx\nEOF",
        "cat a.py | tee >(cat) b.py",
        "ls " * 5000,
        "diff <(rm a.py) b.py",
        "bash -c 'rm a.py'",
        "ls | xargs rm",
        "hatch run test",
    ],
)
def test_what_may_change_a_file_is_not_called_reading(command):
    assert not only_reads(command)
