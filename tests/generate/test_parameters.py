"""Features of one parameter each: which are proposed, what proves them, what is told of them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.audit import audit_task
from codeenv.generate.baseline import measure_baseline
from codeenv.generate.candidate import Gates
from codeenv.generate.deletion import deletions, hollow_tree, swap_of
from codeenv.generate.models import GenerateOptions, Reason
from codeenv.generate.parameters import parameter_features
from codeenv.generate.pipeline import propose
from codeenv.generate.reach import map_reach
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader
from codeenv.images import bundled_environment
from codeenv.images.tools import coverage_layer
from codeenv.languages import detect_language
from codeenv.languages.base import CoverageMap
from codeenv.materialise import materialise
from codeenv.materialise.git import without_git
from codeenv.sources import Checkout
from codeenv.tasks.models import SourcePin
from codeenv.tree import Entry, Tree

CODE = b'''\
"""Labels for boxes."""


def label(words, *, border="", upper=False):
    """Return a label for a box.

    Args:
        words: What is in the box.
        border: Drawn on both sides
            of the label.
        upper: Whether to write in capitals.
    """
    text = " ".join(words)
    if border:
        widest = max(len(word) for word in words)
        inner = text.center(widest + len(text) // 2)
        text = f"{border}{inner.strip()}{border}"
    if upper:
        text = text.upper()
    return text


def count(words, *, known=None):
    """Return how many words there are."""
    total = len(words)
    if known is not None:
        total += 0
        total -= 0
    return total
'''
TESTS = b"""\
from boxes import count, label


def test_plain():
    assert label(["a", "b"]) == "a b"


def test_border():
    assert label(["a", "b"], border="|") == "|a b|"


def test_border_of_one_word():
    assert label(["abc"], border="*") == "*abc*"


def test_empty_border():
    assert label(["a"], border="") == "a"


def test_border_is_text():
    assert isinstance(label(["a"], border="-"), str)


def test_capitals():
    assert label(["a"], upper=True) == "A"


def test_count():
    assert count(["a"]) == 1


def test_count_known():
    assert count(["a"], known=["a"]) == 1
"""
TREE = Tree(
    {
        "boxes.py": Entry(CODE),
        "tests/test_boxes.py": Entry(TESTS),
        "pyproject.toml": Entry(b'[project]\nname = "boxes"\nversion = "1"\n'),
    }
)
PIN = SourcePin(kind="path", location="/boxes", sha256=TREE.digest, tree=TREE.digest)
OPTIONS = GenerateOptions(Path("unused"), kinds=("parameter",))
BORDER, UPPER, KNOWN = "label(border)", "label(upper)", "count(known)"


def ids(*names):
    return tuple(f"tests/test_boxes.py::test_{name}" for name in names)


def proposed(runs, *, stable="abcdefghij", imported=(), known=(), **options):
    """Propose parameters of boxes.py, from which tests run its lines."""
    language = detect_language(TREE)
    layout = language.layout(TREE)
    units = language.units(TREE, layout)
    tests = {n: frozenset(map(stable.index, runs[n])) for n in runs}
    coverage = CoverageMap(tuple(stable), {"boxes.py": tests}, {"boxes.py": frozenset(imported)})
    reach = map_reach(units, coverage, tuple(stable))
    reach = replace(reach, known=frozenset(u for u in units if u.name in known))
    parameters = language.parameters(TREE, layout)
    found = parameter_features(parameters, coverage, reach, replace(OPTIONS, **options))
    return {feature.seed.name: feature for feature in found}


ARM, ALL = (15, 16, 17), (13, 14, 18, 20)


def lines(arm, others):
    return dict.fromkeys(ALL, arm + others) | dict.fromkeys(ARM, arm)


def test_a_parameter_whose_arm_some_tests_of_its_function_run_is_a_feature():
    (found,) = proposed(lines("ab", "cd")).values()
    assert (found.kind, found.seed.name, found.members) == ("parameter", BORDER, (found.seed,))
    assert found.tests == ("a", "b", "c", "d"), "any of them may give it"
    assert found.line_count == 5
    assert {line for _, line in found.lines} == set(ARM)


@pytest.mark.parametrize(
    "facts",
    [
        {"runs": lines("ab", "")},
        {"runs": lines("", "ab")},
        {"runs": lines("abcd", "efgh")},
        {"runs": lines("ab", "cd"), "imported": ARM},
        {"runs": lines("ab", "cd"), "known": ("label",)},
        {"runs": lines("ab", "cd"), "min_lines": 6},
    ],
    ids=["all tests", "none", "most of the suite", "at import", "known code", "too small"],
)
def test_other_parameters_are_no_features(facts):
    assert proposed(**facts) == {}


@pytest.fixture(scope="module")
def bench(bubblewrap_backend):
    language = detect_language(TREE)
    environment = bundled_environment(bubblewrap_backend)
    return Workbench(TREE, language, language.layout(TREE), environment, bubblewrap_backend)


@pytest.fixture(scope="module")
def measured(bench):
    mount = coverage_layer(bench.environment, bench.backend)
    return measure_baseline(bench, PIN, jobs=2, coverage_mount=mount)


@pytest.fixture(scope="module")
def verdicts(bench, measured):
    """Judges every parameter of the repository as a run does, and returns the ends by name."""
    features = propose(bench, *measured, OPTIONS)
    grader = Grader(bench.backend, environments=lambda _: bench.environment.image)
    with ThreadPoolExecutor(2) as pool:
        gates = Gates(bench, Checkout(PIN, TREE), *measured, grader, OPTIONS, pool)
        return {v.feature.seed.name: v for v in gates.judge(features)}


@pytest.fixture(scope="module")
def task(bench, measured, verdicts):
    recipe = verdicts[BORDER].recipe
    lock = bench.environment.lock
    return materialise(recipe, measured[0], lock, checkout=Checkout(PIN, TREE))


@pytest.mark.bubblewrap
def test_a_parameter_becomes_a_task_that_scores_0_for_nothing_and_1_for_the_truth(verdicts):
    assert {n: v.reason for n, v in verdicts.items()} == {
        BORDER: Reason.EMITTED,
        UPPER: Reason.EMITTED,
        KNOWN: Reason.WEAK_TESTS,
    }
    recipe = verdicts[BORDER].recipe
    assert recipe.title == "Reimplement parameter `border` of `label`"
    assert recipe.provenance.kind == "parameter"
    assert {o.mode for o in recipe.deletions} == {"remove"}


@pytest.mark.bubblewrap
def test_a_test_that_only_needs_the_parameter_to_be_declared_is_no_reward(verdicts):
    recipe = verdicts[BORDER].recipe
    assert recipe.fail_to_pass == ids("border", "border_of_one_word")
    assert recipe.excluded == ids("border_is_text", "empty_border")


@pytest.mark.bubblewrap
def test_the_agent_gets_the_function_without_parameter_arm_documentation_and_tests(task):
    files = without_git(task.workspace)
    assert b"border" not in files["boxes.py"].data
    assert b"def label(words, *, upper=False):" in files["boxes.py"].data
    assert b"border" not in files["tests/test_boxes.py"].data
    assert b"test_plain" in files["tests/test_boxes.py"].data


@pytest.mark.bubblewrap
def test_the_statement_tells_the_signature_and_what_the_parameter_is_for(task):
    told = task.instruction
    assert "def label(words, *, border='', upper=False)" in told
    assert "Drawn on both sides of the label." in told
    assert "it neither takes the parameter nor does what that asks for" in told
    assert "widest" not in told


@pytest.mark.bubblewrap
def test_a_copy_of_the_arm_that_the_agent_could_read_is_a_leak(task):
    assert audit_task(task) == ()
    leaked = Entry(b"\n".join(CODE.split(b"\n")[13:17]))
    spoiled = replace(task, workspace=Tree({**task.workspace.entries, "notes.txt": leaked}))
    assert ("copy", "notes.txt") in {(leak.kind, leak.path) for leak in audit_task(spoiled)}


@pytest.mark.bubblewrap
def test_the_laziest_submission_declares_the_parameter_and_does_nothing(bench, measured):
    (feature,) = (f for f in propose(bench, *measured, OPTIONS) if f.seed.name == BORDER)
    (deletion,) = deletions(bench, feature)
    lazy = hollow_tree(bench, deletion)["boxes.py"].data
    assert b'border=""' in lazy
    assert b"widest" not in lazy
    assert swap_of(bench, feature, CoverageMap((), {}, {})) is None, (
        "no function of its own to exchange in memory"
    )
