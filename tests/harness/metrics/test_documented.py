"""The lines on metrics in the harness's README run."""

from pathlib import Path

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv_harness.rollout import RunOptions, run

PAGE = Path(__file__).resolve().parents[3] / "harness" / "README.md"


def test_the_lines_in_the_readme_run(tmp_path):
    taskset = fake_taskset("a", "b")
    run(taskset, RunOptions("oracle", rollouts=4, out=tmp_path), FakeRuntime())
    (block,) = (part.split("```")[0] for part in PAGE.read_text("utf-8").split("```python\n")[1:])

    names = {"path": tmp_path, "taskset": taskset}
    exec(block, names)

    assert names["pass_curve"](names["folder"].records(), (1, 4))[1].pass_at_k == 1.0
