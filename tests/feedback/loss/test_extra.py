"""Torch is an extra: who does not ask for the loss does not pay for it."""

import subprocess
import sys

import pytest


def python(program):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("package", ["codeenv", "codeenv.feedback", "codeenv.cli"])
def test_importing_it_does_not_import_torch(package):
    done = python(f"import sys, {package}\nsys.exit('torch' in sys.modules)")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("module", ["", ".divergence", ".policy"])
def test_without_torch_the_error_says_what_to_install(module):
    done = python(
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from codeenv.errors import UsageError\n"
        "try:\n"
        f"    import codeenv.feedback.loss{module}\n"
        "except UsageError as error:\n"
        "    print(error, '|', error.hint)\n"
    )

    assert done.stdout == (
        "codeenv.feedback.loss needs torch | pip install 'codeenv-gym[torch]'\n"
    ), done.stderr
