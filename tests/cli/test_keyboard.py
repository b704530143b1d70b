import io
import signal
import sys

import pytest

from codeenv.cli.keyboard import Completer, read_anything, read_plain
from codeenv.cli.signals import on_interrupt

PATHS = {"src/a.py", "src/b/c.py", "setup.py", ".gitignore", "bad\x1b[2J.py", "a b.py", "süß.py"}


def completions(line):
    """What Tab offers at the end of a line."""
    complete = Completer(PATHS)
    text = line.rsplit(" ", 1)[-1].rsplit("=", 1)[-1]
    found = []
    while (one := complete(line, text, len(found))) is not None:
        found.append(one)
    return found


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rea", ["read ", "read_file "]),
        ("run", ["run ", "run_command "]),
        ("zzz", []),
        ("help di", ["diff"]),
        ("read s", ["setup.py ", "src/", "süß.py "]),
        ("read src/", ["src/a.py ", "src/b/"]),
        ("read src/b/c", ["src/b/c.py "]),
        ("read .", [".gitignore "]),
        ("read bad", []),
        ("read_file pa", ["path="]),
        ("read_file path=se", ["setup.py "]),
        ("cat se", ["setup.py "]),
    ],
)
def test_tab_offers_commands_tools_paths_and_names_of_arguments(line, offered):
    assert completions(line) == offered


def test_every_path_is_offered_at_the_start_but_hidden_and_odd_ones():
    assert completions("read ") == ["setup.py ", "src/", "süß.py "]


def test_ctrl_c_does_something_else_inside_and_the_old_thing_after():
    before = signal.getsignal(signal.SIGINT)
    pressed = []
    with on_interrupt(lambda: pressed.append(True)):
        signal.raise_signal(signal.SIGINT)

    assert pressed == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_bytes_that_are_no_text_are_a_line_like_others(monkeypatch):
    typed = io.TextIOWrapper(io.BytesIO(b"read \xff.py\nsteps\n"), "utf-8", "strict")
    monkeypatch.setattr(sys, "stdin", typed)
    read_anything()

    assert [read_plain(""), read_plain(""), read_plain("")] == ["read \ufffd.py", "steps", None]
