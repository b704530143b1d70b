"""Whole files and plug-ins as features: which are proposed, and that they become true tasks."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.generate.candidate import Gates
from codeenv.generate.deletion import deletions, hollow_tree, swap_of
from codeenv.generate.features import propose_features
from codeenv.generate.models import GenerateOptions, Reason
from codeenv.generate.modules import Seeds
from codeenv.generate.reach import known_units, map_reach
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader
from codeenv.images import bundled_environment
from codeenv.languages import detect_language
from codeenv.languages.base import CoverageMap
from codeenv.materialise import materialise
from codeenv.materialise.git import without_git
from codeenv.sources import Checkout
from codeenv.tasks.models import Baseline, SourcePin
from codeenv.tree import Entry, Tree

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "shop/__init__.py": (
        "from shop.colors import NAMES, mix\nfrom shop.orders import ask\n\n"
        '__all__ = ["NAMES", "ask", "mix"]\n'
    ),
    "shop/colors.py": '''\
"""Colours of things."""

import re

NAMES = {"red": "#f00", "blue": "#00f"}


def mix(one, other):
    """Mix two colours channel by channel."""
    pairs = zip(channels(one), channels(other))
    return tuple((a + b) // 2 for a, b in pairs)


def channels(text):
    """Return the channels of a colour."""
    found = re.fullmatch("#(.)(.)(.)", NAMES.get(text, text))
    if found is None:
        raise ValueError("no colour: " + text)
    return tuple(int(digit, 16) * 17 for digit in found.groups())
''',
    "shop/orders.py": """\
def count(words):
    number = len(words)
    unit = "thing" if number == 1 else "things"
    return f"{number} {unit}"


def longest(words):
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best


ORDERS = {
    "count": count,
    "longest": longest,  # the first one of equals
}


def ask(text):
    name, *words = text.split()
    return ORDERS[name](words)
""",
    "tests/test_colors.py": """\
import pytest

from shop.colors import NAMES, channels, mix


def test_channels():
    assert channels("#fff") == (255, 255, 255)


def test_mix():
    assert mix("red", "blue") == (127, 0, 127)


def test_unknown():
    with pytest.raises(ValueError, match="no colour: green"):
        channels("green")


def test_all_channels():
    assert [channels(name) for name in NAMES] == [(255, 0, 0), (0, 0, 255)]


def test_names():
    assert sorted(NAMES) == ["blue", "red"]
""",
    "tests/test_orders.py": """\
from shop import ask


def test_count():
    assert ask("count a b") == "2 things"


def test_count_of_one():
    assert ask("count a") == "1 thing"


def test_longest():
    assert ask("longest a bcd ef") == "bcd"


def test_longest_of_equals():
    assert ask("longest ab cd") == "ab"


def test_no_order():
    try:
        ask("nothing")
    except KeyError as error:
        assert error.args == ("nothing",)
""",
}
TREE = Tree({path: Entry(text.encode()) for path, text in FILES.items()})
COLORS = tuple(
    f"tests/test_colors.py::test_{n}"
    for n in ("channels", "mix", "unknown", "all_channels", "names")
)
ORDERS = tuple(
    f"tests/test_orders.py::test_{n}"
    for n in ("count", "count_of_one", "longest", "longest_of_equals", "no_order")
)
STABLE = (*COLORS, *ORDERS)
RUNS = {
    "mix": COLORS[1:2],
    "channels": COLORS[:4],
    "count": ORDERS[:2],
    "longest": ORDERS[2:4],
    "ask": ORDERS,
}
LANGUAGE = detect_language(TREE)
LAYOUT = LANGUAGE.layout(TREE)
UNITS = LANGUAGE.units(TREE, LAYOUT)
OPTIONS = GenerateOptions(Path("unused"), kinds=("module", "plugin"))


def reach_of(stable=STABLE):
    lines = {}
    for unit in UNITS:
        ran = frozenset(map(STABLE.index, RUNS[unit.name]))
        lines.setdefault(unit.path, {}).update(dict.fromkeys(unit.lines, ran))
    return map_reach(UNITS, CoverageMap(STABLE, lines, {}), stable)


def propose(reach=None, **options):
    seeds = Seeds(LANGUAGE.modules(TREE, LAYOUT), LANGUAGE.registered(TREE, LAYOUT))
    wanted = replace(OPTIONS, **options)
    found = propose_features(TREE, UNITS, reach or reach_of(), wanted, seeds)
    return {feature.seed.name: feature for feature in found}


@pytest.fixture(params=[pytest.param("bubblewrap_backend", marks=pytest.mark.bubblewrap)])
def gates(request, tmp_path, monkeypatch):
    """What judges candidates, with real boxes and an environment that needs no network."""
    backend = request.getfixturevalue(request.param)
    environment = bundled_environment(backend)
    pin = SourcePin(kind="path", location="/shop", sha256=TREE.digest, tree=TREE.digest)
    baseline = Baseline(
        source=pin,
        environment=environment.digest,
        runs=1,
        stable=STABLE,
        quarantined={},
        timeout=60,
        test_timeout=5,
    )
    bench = Workbench(TREE, LANGUAGE, LAYOUT, environment, backend)
    grader = Grader(backend, environments=lambda _: environment.image)
    with ThreadPoolExecutor(2) as pool:
        nothing = CoverageMap((), {}, {})
        yield Gates(bench, Checkout(pin, TREE), baseline, nothing, grader, OPTIONS, pool)


def test_a_file_that_no_code_needs_and_plug_ins_are_proposed():
    found = propose()
    assert {name: f.kind for name, f in found.items()} == {
        "shop.colors": "module",
        "shop.orders": "module",
        "count": "plugin",
        "longest": "plugin",
    }
    assert [unit.name for unit in found["shop.colors"].inner] == ["mix", "channels"]


def test_the_tests_of_a_file_that_imports_a_module_go_with_it():
    assert propose()["shop.colors"].tests == COLORS


def test_a_module_whose_importers_test_other_things_is_no_feature():
    stable = tuple(test for test in STABLE if test not in COLORS[:2])
    assert "shop.colors" not in propose(reach_of(stable))


def test_a_module_that_most_tests_run_is_no_feature():
    stable = (*COLORS, *ORDERS[:2])
    assert "shop.colors" not in propose(reach_of(stable))


def test_a_module_with_code_that_can_be_read_elsewhere_is_no_feature():
    (channels,) = [unit for unit in UNITS if unit.name == "channels"]
    known = known_units(UNITS, [(channels.path, channels.start)])
    assert "shop.colors" not in propose(replace(reach_of(), known=known))


def test_a_module_is_within_the_budget_of_lines():
    assert "shop.colors" in propose(max_lines=6)
    assert "shop.colors" not in propose(max_lines=5)


def test_a_plug_in_is_named_as_one_where_functions_are_asked_for_too():
    assert propose(kinds=("function", "plugin"))["longest"].kind == "plugin"


@pytest.mark.bubblewrap
def test_a_module_is_removed_and_never_stubbed(gates):
    feature = propose()["shop.colors"]
    (deletion,) = deletions(gates.bench, feature)
    assert deletion.mode == "remove"
    assert "shop/colors.py" not in deletion.damaged
    init = 'from shop.orders import ask\n\n__all__ = ["ask"]\n'
    assert deletion.damaged["shop/__init__.py"].data.decode() == init


@pytest.mark.bubblewrap
def test_lazy_versions_of_a_module_are_those_of_its_functions(gates):
    feature = propose()["shop.colors"]
    swap = swap_of(gates.bench, feature, CoverageMap((), {}, {}))
    assert swap.symbols == (("shop/colors.py", "mix"), ("shop/colors.py", "channels"))
    hollow = hollow_tree(gates.bench, deletions(gates.bench, feature)[0])
    assert hollow["shop/colors.py"].data.count(b"return None") == 2
    assert b"NAMES = {" in hollow["shop/colors.py"].data


@pytest.mark.bubblewrap
def test_a_module_becomes_a_task_that_gives_its_file_back(gates):
    (verdict,) = gates.judge([propose()["shop.colors"]])
    assert verdict.reason == Reason.EMITTED, verdict.detail
    recipe = verdict.recipe
    assert recipe.fail_to_pass == COLORS[:4]
    assert recipe.excluded == COLORS[4:]  # a table of constants rewards nothing
    assert recipe.title == "Reimplement the module shop.colors"
    assert recipe.provenance.kind == "module"
    assert recipe.difficulty.symbols == 2

    task = _task(gates, recipe)
    workspace = without_git(task.workspace)
    assert not {"shop/colors.py", "tests/test_colors.py"} & set(workspace)
    assert "In `shop/colors.py` (the whole file is gone):" in task.instruction
    assert "NAMES = {'red': '#f00', 'blue': '#00f'}" in task.instruction
    assert "def channels(text)" in task.instruction


@pytest.mark.bubblewrap
def test_a_plug_in_becomes_a_task_that_tells_where_it_was_registered(gates):
    (verdict,) = gates.judge([propose()["longest"]])
    assert (verdict.reason, verdict.detail) == (Reason.EMITTED, "remove")
    assert verdict.recipe.fail_to_pass == ORDERS[2:4]

    task = _task(gates, verdict.recipe)
    kept = without_git(task.workspace)["shop/orders.py"].data.decode()
    assert 'ORDERS = {\n    "count": count,\n}\n' in kept
    assert "longest" not in kept
    assert "- `ORDERS` in `shop/orders.py`: `'longest': longest`" in task.instruction
    assert "Imports or exports" not in task.instruction


def _task(gates, recipe):
    lock = gates.bench.environment.lock
    return materialise(recipe, gates.baseline, lock, checkout=gates.checkout)
