import json

import pytest
from pydantic import ValidationError

from codeenv.errors import UsageError
from codeenv.grading import Grade, Outcome
from codeenv.trajectory import (
    AgentInfo,
    RecordedCall,
    Recorder,
    Step,
    Trajectory,
    outcome_facts,
    read_trajectory,
    write_trajectory,
)
from codeenv.trajectory.models import RecordedObservation, RecordedResult, StepMetrics

AGENT = AgentInfo(name="nop", version="1")
OUTCOME = Outcome(
    "t",
    1.0,
    "submitted",
    reward_valid=True,
    terminated=True,
    truncated=False,
    n_steps=2,
    components={"fail_to_pass": 1.0},
    grade=Grade(True, {"a": "passed"}, {"b": "passed", "c": "failed"}, ("x.py",), ("t.py",)),
)


@pytest.fixture
def trajectory():
    recorder = Recorder(AGENT, "t__0", now=lambda: "2026-01-01T00:00:00+00:00")
    recorder.instruct("Do it.")
    recorder.call("read_file", {"path": "a.py"}, "     1\tx", {"reward": 0.0})
    recorder.say("gibberish", "error[invalid_action]: …", {"reward": 0.0})
    recorder.call("submit", {}, "Submitted.", {"reward": 1.0})
    return recorder.finished(OUTCOME, {"seed": 3})


def test_steps_are_numbered_and_results_refer_to_their_calls(trajectory):
    assert [step.step_id for step in trajectory.steps] == [1, 2, 3, 4]
    assert [step.source for step in trajectory.steps] == ["user", "agent", "agent", "agent"]
    call = trajectory.steps[1].tool_calls[0]
    assert trajectory.steps[1].observation.results[0].source_call_id == call.tool_call_id
    assert trajectory.steps[2].tool_calls is None
    assert trajectory.steps[3].extra == {"reward": 1.0}


def test_call_ids_are_unique(trajectory):
    ids = [call.tool_call_id for step in trajectory.steps for call in step.tool_calls or ()]

    assert len(set(ids)) == len(ids) == 2


def test_the_outcome_says_what_did_not_pass_and_no_more(trajectory):
    assert trajectory.extra["seed"] == 3
    assert trajectory.extra["outcome"] == outcome_facts(OUTCOME)
    assert outcome_facts(OUTCOME)["not_passed"] == {"c": "failed"}
    assert outcome_facts(OUTCOME)["ignored_paths"] == ["t.py"]
    assert trajectory.final_metrics.total_steps == 3


def test_a_file_gives_the_same_trajectory_back(trajectory, tmp_path):
    path = tmp_path / "deep" / "t.json"
    write_trajectory(path, trajectory)

    assert read_trajectory(path) == trajectory
    written = json.loads(path.read_text())
    assert written["schema_version"].startswith("ATIF-v1.")
    assert "metrics" not in written["steps"][0]


def test_files_of_other_minor_versions_are_read_and_of_other_formats_are_not(trajectory, tmp_path):
    path = tmp_path / "t.json"
    data = trajectory.model_dump(mode="json", exclude_none=True)
    path.write_text(json.dumps({**data, "schema_version": "ATIF-v1.5"}))
    assert read_trajectory(path).schema_version == "ATIF-v1.5"

    for wrong in ({"schema_version": "ATIF-v2.0"}, {"more": 1}, {"steps": []}):
        path.write_text(json.dumps({**data, **wrong}))
        with pytest.raises(UsageError, match="is not a trajectory"):
            read_trajectory(path)
    path.write_text("{")
    with pytest.raises(UsageError, match="is not a trajectory"):
        read_trajectory(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_trajectory(tmp_path / "none.json")


def test_a_result_of_a_call_that_was_not_made_is_refused():
    seen = RecordedObservation(results=(RecordedResult(source_call_id="call_9"),))
    with pytest.raises(ValidationError, match="not in its step"):
        Step(step_id=1, source="agent", message="", observation=seen)


def test_only_an_agent_calls_tools():
    call = RecordedCall(tool_call_id="1", function_name="submit", arguments={})
    with pytest.raises(ValidationError, match="only an agent"):
        Step(step_id=1, source="user", message="", tool_calls=(call,))
    with pytest.raises(ValidationError, match="only an agent"):
        Step(step_id=1, source="user", message="", metrics=StepMetrics(prompt_tokens=1))


def test_steps_out_of_order_are_refused():
    step = Step(step_id=2, source="user", message="x")
    with pytest.raises(ValidationError, match="numbered"):
        Trajectory(agent=AGENT, steps=(step,))
