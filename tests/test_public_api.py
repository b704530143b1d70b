import os
import subprocess
import sys
from pathlib import Path

import pytest

import codeenv

README = Path(__file__).resolve().parent.parent / "README.md"


def test_every_public_name_can_be_had():
    for name in codeenv.__all__:
        assert getattr(codeenv, name) is not None


def test_public_names_are_sorted_and_named_once():
    assert sorted(set(codeenv.__all__)) == codeenv.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = codeenv.no_such_name


def test_importing_codeenv_loads_neither_docker_nor_rich_nor_the_harness():
    program = (
        "import sys, codeenv\n"
        "sys.exit(', '.join(sorted({'docker', 'rich', 'pytest', 'codeenv_harness'}"
        " & set(sys.modules))) or 0)\n"
    )

    assert _python(program).stderr == ""


def test_importing_codeenv_leaves_no_trace(tmp_path):
    done = _python("import codeenv", cwd=tmp_path, home=tmp_path)

    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_the_distributions():
    program = (
        "import codeenv, importlib.metadata as m, sys\n"
        "sys.exit(0 if codeenv.__version__ == m.version('codeenv-gym') else 'they differ')\n"
    )

    assert _python(program).stderr == ""


@pytest.mark.bubblewrap
def test_the_trainers_lines_in_the_readme_run():
    blocks = README.read_text("utf-8").split("```python\n")[1:]

    for block in blocks:
        done = _python(block.split("```")[0])

        assert done.returncode == 0, done.stderr


def _python(program, cwd=None, home=None):
    environment = {**os.environ, **({"HOME": str(home)} if home else {})}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=cwd,
        env=environment,
    )
