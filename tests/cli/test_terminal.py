import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from codeenv.cli.terminal import Terminal, plain, printable, table
from codeenv.tasks.models import LockedPackage


@dataclass(frozen=True)
class Pair:
    left: object
    right: object


@pytest.mark.parametrize(
    "hostile", ["\x1b[2Jgone", "a\rb", "\x9b31m", "a\u202eb", "\x07", "bad \udc80 byte"]
)
def test_program_output_cannot_steer_the_terminal(hostile):
    shown = printable(hostile)

    assert shown.encode()
    assert not set("\x1b\r\x9b\u202e\x07\udc80") & set(shown)


def test_lines_tabs_and_other_scripts_are_shown_as_they_are():
    assert printable("a\tb\nüß 漢字 🙂") == "a\tb\nüß 漢字 🙂"


def test_json_says_models_dataclasses_paths_and_sets():
    package = LockedPackage(name="a", version="1")

    said = plain(Pair({Path("x"): package}, [frozenset({"b", "a"}), (1, None), b"\xff"]))

    assert json.loads(json.dumps(said)) == {
        "left": {"x": {"name": "a", "version": "1", "sha256": ""}},
        "right": [["a", "b"], [1, None], "\ufffd"],
    }


def test_with_json_standard_output_carries_json_only(capsys):
    terminal = Terminal(json_wanted=True)
    terminal.show(Text("for people"))
    terminal.tell(Text("an episode"))
    terminal.note("a note")
    terminal.data({"value": 1})

    out, err = capsys.readouterr()
    assert json.loads(out) == {"value": 1}
    assert err == "an episode\na note\n"


def test_without_json_data_for_people_goes_to_standard_output(capsys):
    terminal = Terminal()
    terminal.show(Text("for people"))
    terminal.data({"value": 1})
    terminal.note("a note")

    assert capsys.readouterr() == ("for people\n", "a note\n")


def test_markup_in_data_is_data(capsys):
    Terminal().show(table(("name",), [("[red]x[/red] :smile:",)]))

    assert "[red]x[/red] :smile:" in capsys.readouterr().out


def test_a_table_in_a_pipe_is_not_cut(capsys):
    Terminal().show(table(("id", "n"), [("x" * 300, 1)]))

    assert "x" * 300 in capsys.readouterr().out


def test_lines_in_a_pipe_carry_no_padding(capsys):
    Terminal().show(table(("id", "n"), [("x" * 30, 1), ("y", 2)]))

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_name_to_copy_stays_in_one_piece_however_narrow_the_terminal():
    narrow = Console(file=io.StringIO(), width=80)
    name = "toy-ledger-ledger.balance-3e1376da"
    narrow.print(
        table(("task", "source", "level"), [(name, "pypi:itsdangerous==2.2.0 " * 3, "L3")])
    )

    assert name in narrow.file.getvalue()


def test_progress_is_plain_lines_where_nobody_looks(capsys):
    with Terminal().progress("working", total=2) as steps:
        steps.doing("first")
        steps.advance("first is done")
        steps.advance()

    assert capsys.readouterr().err == "first is done\n"
