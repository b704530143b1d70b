"""Runs for reports: played in memory, or made by hand where an agent would not do it."""

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.monitor import Finding
from codeenv.trajectory import AgentInfo, RecordedCall, Step, StepMetrics, Trajectory
from codeenv_harness.records import Monitored, RunFolder
from codeenv_harness.report import collect, find_runs
from codeenv_harness.rollout import RunOptions
from codeenv_harness.rollout import run as play
from tests.harness.runs import manifest, record

HOSTILE = "</script><script>alert(1)<!-- | `x` ![a](b) \u202e\x1b[31m $\\frac{"
"""A name that would do harm in a page, a table, a terminal or a formula."""
FINDING = Finding(
    label="grader_probe", group="grader_gaming", severity="suspicious", succeeded=True
)


def played(folder, agent, *ids, rollouts=1, **runtime):
    """Play tasks in memory."""
    options = RunOptions(agent, rollouts=rollouts, retries=0, out=folder)
    play(fake_taskset(*(ids or ("a", "b"))), options, FakeRuntime(**runtime))
    return folder


def spoken(tokens, cost=None, steps=1):
    """Return a trajectory of an agent that wrote so many tokens in each of some calls."""
    call = RecordedCall(tool_call_id="c", function_name="search", arguments={})
    told = StepMetrics(prompt_tokens=10, completion_tokens=tokens, cost_usd=cost)
    every = [
        Step(step_id=n, source="agent", message="", tool_calls=(call,), metrics=told)
        for n in range(1, steps + 1)
    ]
    return Trajectory(agent=AgentInfo(name="a", version="1", model_name="m"), steps=tuple(every))


def told(folder, agent, rows, rollouts=1):
    """Write a run of rows: (record, trajectory or None)."""
    run = RunFolder(folder)
    ids = sorted({row.task_id for row, _ in rows})
    run.begin(manifest(*ids, rollouts=rollouts, agent=agent), resume=False)
    for row, trajectory in rows:
        run.add(row, trajectory)
    return folder


def found(task_id, reward, rollout=0, **changes):
    """Return a record in which a monitor found something."""
    seen = Monitored(action="flag", findings=(FINDING,), graded_reward=reward)
    return record(task_id, reward, rollout).model_copy(update={"monitor": seen, **changes})


def report_of(*folders, recipes=None, prices=None):
    """Return the report of folders; the recipes are the same for all runs."""
    places = find_runs(folders)
    return collect(places, {place.name: recipes or {} for place in places}, prices)
