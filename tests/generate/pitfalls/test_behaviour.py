"""One run over a repository whose suite has every habit that runs stumble over."""

import subprocess
from pathlib import Path

import pytest

from codeenv.generate.models import Reason
from codeenv.generate.pipeline import propose
from tests.generate.pitfalls import oddsuite
from tests.generate.pitfalls.journey import travel, tree_of
from tests.generate.pitfalls.oddshop import TREE

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow]


@pytest.fixture(scope="module")
def odd(bubblewrap_backend):
    return travel(TREE, bubblewrap_backend)


@pytest.fixture(scope="module")
def verdicts(odd):
    features = propose(odd.bench, odd.baseline, odd.coverage, odd.options)
    return {verdict.feature.seed.name: verdict for verdict in odd.judge(*features)}


def reasons(odd, path):
    found = odd.baseline.quarantined.items()
    return {t.partition("::")[2]: why for t, why in found if t.partition("::")[0] == path}


def stable(odd, path):
    return [t.partition("::")[2] for t in odd.baseline.stable if t.startswith(path)]


def test_every_candidate_becomes_a_task(verdicts):
    names = {"Basket", "Basket.add", "Basket.total", "glue", "initials", "price", "shout", "slug"}
    assert {name: v.reason for name, v in verdicts.items()} == dict.fromkeys(names, Reason.EMITTED)


def test_the_same_repository_has_the_same_baseline(odd, bubblewrap_backend):
    assert travel(TREE, bubblewrap_backend).baseline == odd.baseline


def test_options_of_plug_ins_that_are_not_there_stop_nothing(odd):
    assert "-n auto --cov=shop --cov-fail-under=100" in TREE["pyproject.toml"].data.decode()
    assert not [t for t in odd.baseline.quarantined if t.startswith("<")]


def test_files_that_cannot_be_collected_are_set_aside_alone(odd):
    assert [t for t, why in odd.baseline.quarantined.items() if why == "not_collected"] == [
        "tests/test_broken.py",
        "tests/test_syntax.py",
        "tests/test_unknown_mark.py",
    ]


def test_ids_are_taken_as_they_are(odd, verdicts):
    expected = {
        *("a b", "a/b", "a::b[c]", "\\\\n", "\\xe9", "\\x00", "2001-02-03", "", "x" * 10_000),
    }
    ids = {f"tests/test_ids.py::test_glue[{text}]" for text in expected}
    assert ids <= set(odd.baseline.stable)
    assert set(verdicts["glue"].recipe.fail_to_pass) == ids


def test_ids_that_are_others_the_next_time_are_set_aside(odd):
    found = {t.partition("[")[0]: why for t, why in reasons(odd, "tests/test_ids.py").items()}
    assert found == {"test_stamp": "unstable_id", "test_year": "date"}
    assert "test_year[2001]" in stable(odd, "tests/test_ids.py")


def test_what_a_box_does_not_have_is_set_aside_and_nothing_else(odd):
    names = {"test_network", "test_terminal", "test_terminal_size", "test_display"}
    kept = {"test_none_of_it"}
    locales = subprocess.run(["locale", "-a"], capture_output=True, check=True).stdout
    (kept if b"de_DE.utf8" in locales else names).add("test_german")  # the base is this machine's
    (kept if Path("/proc/net/if_inet6").exists() else names).add("test_loopback_of_ipv6")
    assert reasons(odd, "tests/test_needs.py") == dict.fromkeys(names, "failed")
    assert set(stable(odd, "tests/test_needs.py")) == kept


def test_tests_that_need_an_order_or_a_seed_are_set_aside_with_the_reason(odd):
    found = reasons(odd, "tests/test_order.py")
    assert found.pop("test_hash_seed") == "hash_seed"
    assert "test_4" in found
    assert set(found.values()) == {"order"}
    assert reasons(odd, "tests/test_other_file.py").keys() == {"test_needs_another_file"}


def test_tests_that_pass_by_luck_are_set_aside_and_nothing_else(bubblewrap_backend):
    """Not in the suite above, whose baseline is the same every time."""
    files = {p: TREE[p] for p in ("shop/__init__.py", "shop/sums.py", "shop/words.py")}
    tree = tree_of({**files, "tests/test_luck.py": oddsuite.LUCK})
    baseline = travel(tree, bubblewrap_backend).baseline
    found = {t.partition("::")[2] for t in baseline.stable}
    assert "test_without_luck" in found
    assert "test_rarely" not in found, "once in 16 million times"
    assert len(found) < 33, "of 64 coins that fall four times, four are expected"
    assert "flaky" in baseline.quarantined.values()


def test_unittest_classes_and_sub_tests_are_tests(odd, verdicts):
    assert reasons(odd, "tests/test_unit.py") == {
        "TestBasket::test_known_fault": "xfailed",
        "TestBasket::test_skipped": "skipped",
    }
    assert verdicts["Basket.add"].recipe.fail_to_pass == (
        "tests/test_unit.py::TestBasket::test_add",
        "tests/test_unit.py::TestBasket::test_total",
    )


def test_tests_that_write_into_the_tree_meet_a_fresh_tree_every_time(odd, verdicts):
    assert "test_it_writes_into_the_tree" in stable(odd, "tests/test_tree.py")
    recipe = verdicts["initials"].recipe
    assert "tests/test_tree.py::test_what_it_writes_is_right" in recipe.fail_to_pass
    # Code that returns '' passes it, where the file of an earlier try is not in its way.
    assert "tests/test_tree.py::test_it_writes_into_the_tree" in recipe.excluded
    assert odd.bench.pristine == TREE


def test_links_permissions_and_names_in_either_case_are_as_on_disk(odd):
    assert reasons(odd, "tests/test_tree.py") == {}


def test_tests_that_read_the_sources_neither_break_nor_reward(odd, verdicts):
    read = {
        f"tests/test_tree.py::{n}"
        for n in ("test_the_source_defines_it", "test_everything_is_listed")
    }
    assert read <= set(odd.baseline.stable)
    for verdict in verdicts.values():
        assert not read & {*verdict.recipe.fail_to_pass, *verdict.recipe.excluded}
    assert verdicts["initials"].detail == "stub"


def test_a_name_that_conftest_imports_is_stubbed(verdicts):
    assert verdicts["shout"].detail == "stub"


def test_a_doctest_of_a_text_rewards(verdicts):
    assert verdicts["price"].recipe.fail_to_pass == ("README.md::README.md",)


def test_a_doctest_that_goes_with_the_code_does_not_reward(verdicts):
    recipe = verdicts["slug"].recipe
    assert recipe.excluded == ("shop/words.py::shop.words.slug",)
    assert "tests/test_words.py::test_golden" in recipe.fail_to_pass


def test_type_stubs_that_no_submission_may_change_lose_what_is_removed(verdicts):
    recipe = verdicts["Basket"].recipe
    assert {edit.path for edit in recipe.deletions} == {"shop/sums.py", "stubs/shop/sums.pyi"}
    assert {edit.mode for edit in recipe.deletions} == {"remove"}


def test_the_tests_that_stay_pass_in_every_agents_tree(odd, verdicts):
    for name, verdict in verdicts.items():
        assert (name, odd.failing(verdict)) == (name, {})
