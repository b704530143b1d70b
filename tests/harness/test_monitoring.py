from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv_harness.monitoring import Watching
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run


def test_a_watched_run_says_of_each_rollout_what_was_found(tmp_path):
    options = RunOptions("oracle", out=tmp_path)
    result = run(fake_taskset("a"), options, FakeRuntime(), monitor=Watching())

    record = result.records[0]
    assert record.monitor is not None
    assert (record.monitor.action in ("pass", "flag"), record.reward) == (True, 1.0)
    assert RunFolder(tmp_path).records() == result.records


def test_a_run_that_is_not_watched_says_nothing(tmp_path):
    run(fake_taskset("a"), RunOptions("nop", out=tmp_path), FakeRuntime())

    assert "monitor" not in (tmp_path / "outcomes.jsonl").read_text()


def test_a_masked_reward_is_zero_in_the_record_and_the_graders_is_kept():
    def masks(task, trajectory):
        verdict = Watching()(task, trajectory)
        return verdict.model_copy(update={"action": "mask"})

    result = run(fake_taskset("a"), RunOptions("oracle"), FakeRuntime(), monitor=masks)

    record = result.records[0]
    assert (record.reward, record.resolved, record.monitor.graded_reward) == (0.0, False, 1.0)
    assert result.summary.mean_reward == 0.0
