import errno
import os
import signal
import subprocess
import sys

import pytest

from codeenv.cli import main
from codeenv.cli.parser import COMMANDS
from codeenv.cli.signals import sigterm_as_interrupt
from codeenv.errors import MachineError


def codeenv(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "codeenv", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


class Ends:
    """A command that ends with an exception; a module of its own in ``sys.modules``."""

    def __init__(self, error):
        self.error = error

    def add(self, subparsers):
        subparsers.add_parser("gc").set_defaults(run=self.run)

    def run(self, args):
        raise self.error


@pytest.fixture
def ending(monkeypatch):
    """Put a command that raises in the place of ``gc``."""

    def put(error):
        monkeypatch.setitem(sys.modules, "codeenv.cli.gc", Ends(error))

    return put


def test_help_names_every_command():
    done = codeenv("--help")

    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


def test_help_loads_neither_rich_nor_docker_nor_the_harness():
    program = (
        "import sys\n"
        "from codeenv.cli.parser import build_parser\n"
        "build_parser(['--help']).format_help()\n"
        "heavy = {'rich', 'docker', 'codeenv_harness'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stderr == ""


def test_version_is_printed():
    done = codeenv("--version")

    assert done.returncode == 0
    assert done.stdout.startswith("codeenv 0.")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["no-such-command"],
        ["gc", "--no-such-option"],
        ["gc", "--js"],  # no abbreviations: they break scripts when options are added
        ["generate"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_one_error_one_hint_and_exit_2(words, capsys):
    status = main(words)

    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"]


def test_an_unknown_choice_is_answered_with_the_choices(capsys):
    status = main(["generate", "--repo", "x", "--backend", "chroot"])

    err = capsys.readouterr().err
    assert status == 2
    assert all(name in err for name in ("docker", "bubblewrap", "local"))


def test_ctrl_c_exits_130_without_a_traceback(ending, capsys):
    ending(KeyboardInterrupt())

    assert main(["gc"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_full_disk_is_an_error_with_a_hint(ending, capsys):
    ending(OSError(errno.ENOSPC, "No space left on device", "/data/x"))

    assert main(["gc"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: the disk is full at '/data/x'\nhint: ")


def test_a_file_that_cannot_be_used_is_an_error_that_names_it(ending, capsys):
    ending(PermissionError(errno.EACCES, "Permission denied", "/data/x"))

    assert main(["gc"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: /data/x: permission denied\nhint: ")


def test_other_operating_system_errors_are_bugs_and_are_not_hidden(ending):
    ending(OSError(errno.EIO, "Input/output error"))

    with pytest.raises(OSError, match="Input/output"):
        main(["gc"])


def test_sigterm_ends_a_command_like_ctrl_c():
    def wait_to_be_stopped():
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()

    with pytest.raises(KeyboardInterrupt), sigterm_as_interrupt():
        wait_to_be_stopped()


def test_the_handler_of_the_caller_is_put_back():
    before = signal.getsignal(signal.SIGTERM)

    with sigterm_as_interrupt():
        pass

    assert signal.getsignal(signal.SIGTERM) is before


def test_a_reader_that_leaves_early_is_no_error_message():
    # A pipe nobody reads from the start: the first write fails.
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "codeenv", "--help"],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)

    assert done.stderr == b""


def test_an_error_that_quotes_hostile_output_is_one_short_harmless_line(ending, capsys):
    ending(MachineError("no test passes", hint="\x1b[2J log\n" * 500))

    assert main(["gc"]) == 2

    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert len(err.splitlines()) == 2
    assert len(err) < 1000
