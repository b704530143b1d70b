"""The ways to say what tasks are to be made of: options, and runs on the bundled toy."""

import json

import pytest

from codeenv.cli import main
from codeenv.cli.generate_options import difficulty
from codeenv.sources import checkout
from codeenv.tasks.taskset import Taskset

TEXT = "pocketbook/text.py"


def said(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def error(capsys):
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("hint: ")
    return next(line for line in lines if line.startswith("error: "))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--repo is missing"),
        (("--repo", ""), "--repo is missing"),
        (("--repo", "x", "--repos", "y"), "--repo and --repos do not go together"),
        (("--repos", "x", "--harder", "toy"), "--repos and --harder do not go together"),
        (("--harder", "toy", "--level", "L1"), "--level does not go with --harder"),
        (("--harder", "toy", "--kinds", "class"), "--kinds does not go with --harder"),
        (("--repos", "x", "--subdir", "y"), "--subdir does not go with --repos"),
        (("--repos", "x", "--proposal", "y"), "--proposal does not go with --repos"),
        (("--repo", "x", "--id", "y"), "--id does not go with --repo"),
        (("--repo", "x", "--proposal", "y", "--kinds", "class"), "--kinds does not go with"),
        (("--harder", "toy"), f"holds {len(Taskset.load('toy').ids)} tasks"),
        (("--harder", "toy", "--id", "nothing"), "no task 'nothing'"),
        (("--harder", "nothing"), "no taskset 'nothing'"),
        (("--repos", "/nowhere"), "/nowhere: no such file"),
        (("--repo", "bundled:toy", "--proposal", "/nowhere"), "/nowhere: no such file"),
    ],
)
def test_what_does_not_go_together_is_told_in_one_line(words, told, tmp_path, capsys):
    out = ("--out", str(tmp_path / "out"), "--backend", "local")
    assert main(["generate", *words, *out]) == 2
    assert told in error(capsys)


@pytest.mark.parametrize(
    ("text", "found"),
    [("0.3:0.7", (0.3, 0.7)), ("0.3:", (0.3, 1)), (":0.7", (0, 0.7)), (":", (0, 1))],
)
def test_a_range_of_difficulty_may_have_open_ends(text, found):
    assert difficulty(text) == found


@pytest.mark.parametrize("text", ["", "0.5", "0.7:0.3", "-1:1", "0:2", "a:b", "nan:1", "1:2:3"])
def test_what_is_no_range_of_difficulty_is_refused_with_examples(text, capsys):
    assert main(["generate", "--repo", "x", f"--difficulty={text}"]) == 2
    assert "for example 0.3:0.7" in error(capsys)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hello", "no unified diff"),
        (f"--- {TEXT}\n+++ {TEXT}\n@@ -1 +0,0 @@\n-x\n", f"hunk 1 of {TEXT} does not fit"),
        (f"--- {TEXT}\n+++ {TEXT}\n@@ -3 +3 @@\n-import re\n+import os\n", "line 3: 'import os'"),
        (f"--- {TEXT}\n+++ {TEXT}\n@@ -3 +2,0 @@\n-import re\n", "takes no code from a function"),
        ("--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-x\n", "there is no file x"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n", "adds b/x: a proposal may only delete"),
    ],
)
def test_a_proposal_that_is_no_deletion_is_told_before_anything_runs(text, told, tmp_path, capsys):
    file = tmp_path / "p.diff"
    file.write_text(text)
    words = ["--repo", "bundled:toy", "--proposal", str(file), "--out", str(tmp_path / "out")]
    assert main(["generate", *words, "--backend", "local"]) == 2
    message = error(capsys)
    assert told in message
    assert str(file) in message


def proposal(folder):
    """A diff that takes the check of the width out of ``shorten``."""
    lines = checkout("bundled:toy").tree[TEXT].data.decode().splitlines()
    at = lines.index("    if room < 2:")
    gone = "".join(f"-{line}\n" for line in lines[at : at + 2])
    file = folder / "p.diff"
    file.write_text(f"--- a/{TEXT}\n+++ b/{TEXT}\n@@ -{at + 1},2 +{at},0 @@\n{gone}")
    return str(file)


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_a_proposal_becomes_a_task_that_has_harder_children(tmp_path, capsys):
    out, harder = str(tmp_path / "out"), str(tmp_path / "harder")
    box = ["--backend", "bubblewrap", "--json"]
    diff = proposal(tmp_path)
    words = ["--repo", "bundled:toy", "--proposal", diff, "--proposal", diff, "--out", out]
    assert main(["generate", *words, *box]) == 0
    (told,) = said(capsys)
    assert told["funnel"] == {"emitted": 1, "duplicate": 1}
    (recipe,) = Taskset.load(out).recipes
    assert recipe.provenance.kind == "proposal"
    assert {(o.symbol, o.mode, o.replacement) for o in recipe.deletions} == {
        ("shorten", "remove", "")
    }
    (funnel,) = (tmp_path / "out" / "funnels").iterdir()
    assert [c["proposal"] for c in json.loads(funnel.read_bytes())["candidates"]] == [diff, diff]
    assert main(["verify", out, *box]) == 0
    capsys.readouterr()

    assert main(["generate", "--harder", out, "--out", harder, *box]) == 0
    children = Taskset.load(harder).recipes
    assert {c.level for c in children} == {"L1", "L2"}
    assert {c.provenance.parent_id for c in children} == {recipe.id}
    assert recipe.id not in {c.id for c in children}
    assert {c.deletions for c in children} == {recipe.deletions}
    assert min(c.difficulty.prior for c in children) > recipe.difficulty.prior


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_a_list_gives_one_line_for_each_and_1_if_any_gave_nothing(tmp_path, capsys):
    file, out = tmp_path / "list", tmp_path / "out"
    file.write_text("/nowhere # not there\nbundled:toy\n")
    words = ["generate", "--repos", str(file), "--out", str(out), "--backend", "bubblewrap"]
    words += ["--limit", "1", "--difficulty", ":0.6", "--json"]
    assert main(words) == 1
    failed, made = said(capsys)
    assert "neither a folder here nor an address" in failed["error"]
    assert (made["source"], made["error"], len(made["tasks"])) == ("bundled:toy", "", 1)
    (recipe,) = Taskset.load(out / "toy").recipes
    assert recipe.difficulty.prior <= 0.6

    file.write_text("bundled:toy\n")
    assert main([*words, "--resume"]) == 0
    (again,) = said(capsys)
    assert (again["finished_before"], again["tasks"]) == (True, made["tasks"])
