"""The facts of reports, on runs that were played in memory or made by hand."""

import math
from dataclasses import replace

import pytest

from codeenv.env.fake import fake_task, fake_taskset
from codeenv.errors import UsageError
from codeenv_harness.metrics import behaviour_of, summarise_behaviour
from codeenv_harness.prices import Price
from codeenv_harness.records import RunFolder
from codeenv_harness.report import collect, find_runs, markdown
from codeenv_harness.report import words as words_of
from tests.harness.report.made import found, played, report_of, spoken, told
from tests.harness.runs import manifest, record


def recipes(*ids):
    return {recipe.id: recipe for recipe in fake_taskset(*ids).recipes}


def test_each_run_is_a_row_called_by_its_agent(tmp_path):
    played(tmp_path / "runs" / "one", "oracle")
    played(tmp_path / "runs" / "two", "nop")

    report = report_of(tmp_path / "runs")
    assert [(run.name, run.valid, run.resolved) for run in report.runs] == [
        ("oracle", 2, 2),
        ("nop", 2, 0),
    ]
    assert [run.score.value for run in report.runs] == [1.0, 0.0]


def test_runs_of_one_agent_are_called_by_their_folders(tmp_path):
    folders = [played(tmp_path / name, "nop") for name in ("x/run", "y/run", "z/other")]
    folders.append(played(tmp_path / "o", "oracle"))

    names = [place.name for place in find_runs(folders)]
    assert names == ["x/run", "y/run", "other", "oracle"]


def test_a_run_that_is_named_twice_is_one_row(tmp_path):
    run = played(tmp_path / "run", "nop")

    assert len(find_runs([run, tmp_path, run])) == 1


def test_rollouts_without_a_valid_reward_count_in_no_figure(tmp_path):
    run = played(tmp_path / "run", "oracle", "a", "b", rollouts=2, failures=1)

    (facts,) = report_of(run).runs
    assert (facts.rollouts, facts.valid, facts.resolved, facts.reward.value) == (4, 3, 3, 1.0)
    assert facts.reasons == {"infra_error": 1}
    assert [(one.k, one.tasks, one.left_out) for one in facts.passes] == [(1, 2, 0), (2, 1, 1)]


def test_a_reward_that_is_no_number_is_not_valid(tmp_path):
    bad = record("a", 1.0).model_copy(update={"reward": math.inf})
    run = told(tmp_path / "run", "x", [(record("b", 1), None)])
    places = find_runs([run])

    class Bad(RunFolder):
        def records(self):
            return (bad, record("b", 1))

    (facts,) = collect([replace(places[0], folder=Bad(run))], {}).runs
    assert (facts.rollouts, facts.valid, facts.reward.value) == (2, 1, 1.0)


def test_numbers_that_no_run_has_are_not_known(tmp_path):
    rows = [
        (record("a", 1).model_copy(update={"n_steps": 10**400}), spoken(10**400, 1e308)),
        (record("b", 1), spoken(10, 1e308)),
        (record("c", 1), spoken(30, 0.5)),
        (record("d", 1e308), None),
    ]
    run = told(tmp_path / "run", "x", rows)

    (facts,) = report_of(run, recipes=recipes("a", "b", "c")).runs
    assert (facts.valid, facts.tokens.value, facts.cost_total, facts.steps.value) == (3, 20, 0.5, 1)


def test_a_trajectory_that_no_file_can_be_is_unread(tmp_path):
    rows = [(record(name, 1), None) for name in ("a\0b", "c" * 300, "../../d")]

    (facts,) = report_of(told(tmp_path / "run", "x", rows)).runs
    assert (facts.valid, facts.unread) == (3, 3)


def test_tasks_are_solved_never_sometimes_or_always(tmp_path):
    rows = [("a", 0, 0), ("a", 0, 1), ("b", 1, 0), ("b", 0, 1), ("c", 1, 0), ("d", None, 0)]
    run = told(tmp_path / "run", "x", [(record(*row), None) for row in rows], rollouts=2)

    (facts,) = report_of(run).runs
    found_ids = [facts.of_status(s) for s in ("never", "sometimes", "always", "not valid")]
    assert found_ids == [("a",), ("b",), ("c",), ("d",)]
    assert (facts.missing, facts.unread) == (2, 5)
    assert facts.score.value == pytest.approx(0.5)


def test_tokens_and_cost_are_medians_of_what_was_told(tmp_path):
    rows = [(record("a", 1), spoken(10, 0.1)), (record("b", 0), spoken(30, 0.3))]
    run = told(tmp_path / "run", "x", [*rows, (record("c", 0), None)])

    (facts,) = report_of(run).runs
    assert (facts.tokens.value, facts.tokens.rollouts) == (20, 2)
    assert (facts.cost.value, facts.cost_total) == pytest.approx((0.2, 0.4))
    assert facts.unread == 1


def test_prices_tell_the_cost_that_was_not_recorded(tmp_path):
    run = told(tmp_path / "run", "x", [(record("a", 1), spoken(10, steps=2))])

    (facts,) = report_of(run, prices={"m": Price(input=1, output=2)}).runs
    assert facts.cost.value == pytest.approx(2 * 30e-6)


def test_findings_are_counted_by_label_over_all_that_a_monitor_saw(tmp_path):
    rows = [(found("a", 0), None), (found("a", 1, 1), None), (record("b", 1), None)]
    run = told(tmp_path / "run", "x", rows, rollouts=2)

    (facts,) = report_of(run).runs
    assert (facts.monitored, facts.actions) == (2, {"flag": 2})
    (finding,) = facts.findings
    assert (finding.label, finding.rollouts, finding.succeeded) == ("grader_probe", 2, 2)


def test_tier_difficulty_and_effort_are_told_where_recipes_are_known(tmp_path):
    run = played(tmp_path / "run", "oracle", "a", "b")

    (facts,) = report_of(run, recipes=recipes("a")).runs
    assert [(part.name, part.tasks, part.valid) for part in facts.tiers] == [("open", 1, 1)]
    assert [(part.name, part.rate.value) for part in facts.levels] == [("d0", 1.0)]
    assert facts.levels[0].effort > 0
    assert (facts.effort.rollouts, facts.unknown) == (1, 1)
    assert [(task.level, task.tier) for task in facts.tasks] == [("d0", "open"), ("", "")]


def test_sizes_and_behaviour_are_told_of_what_was_played(tmp_path):
    run = played(tmp_path, "random", rollouts=3)
    (facts,) = report_of(run, recipes=recipes("a", "b")).runs

    words = len(fake_task("a").instruction.split())
    assert (facts.sizes.instruction_words, facts.sizes.deleted_lines) == (words, 1)
    assert facts.sizes.failing_tests == 1
    every = [RunFolder(run).trajectory(record.key) for record in RunFolder(run).records()]
    assert facts.behaviour == summarise_behaviour(map(behaviour_of, every))
    assert facts.behaviour.mistakes_per_100
    told = dict(words_of.behaviour(facts))
    assert told["actions that were no valid call"].endswith("%")
    for kind in facts.behaviour.mistakes_per_100:
        assert f"| {kind} per 100 actions | " in markdown(report_of(run))


def test_nothing_is_told_of_how_unread_rollouts_went(tmp_path):
    (facts,) = report_of(told(tmp_path, "a", [(record("a", 1.0), None)])).runs

    assert (facts.behaviour, words_of.behaviour(facts), words_of.sizes(facts)) == (None, (), ())


def test_a_run_in_which_nothing_ended_is_a_row_beside_others_and_no_report_alone(tmp_path):
    run = played(tmp_path / "runs" / "run", "oracle")
    empty = tmp_path / "runs" / "broken"
    RunFolder(empty).begin(manifest("a", agent="x"), resume=False)

    broken, _ = report_of(tmp_path / "runs").runs
    assert (broken.name, broken.rollouts, broken.missing, broken.score) == ("x", 0, 1, None)
    with pytest.raises(UsageError, match="no finished rollouts"):
        report_of(empty)
    assert len(report_of(run, empty).runs) == 2


def test_what_is_no_run_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()

    for name, message in (("gone", "not there"), ("file", "not a folder"), ("empty", "no run in")):
        with pytest.raises(UsageError, match=message):
            find_runs([tmp_path / name])
    with pytest.raises(UsageError, match="no run was named"):
        find_runs([])
