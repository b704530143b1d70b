"""Runs for the viewer, made by hand: a diff, a hint, a finding, and hostile words everywhere."""

import threading
from contextlib import contextmanager

from codeenv.feedback import FeedbackEvent
from codeenv.feedback.models import Target
from codeenv.monitor import Finding, event_log
from codeenv.trajectory import (
    AgentInfo,
    Changes,
    FileChange,
    RecordedCall,
    Step,
    StepMetrics,
    Trajectory,
)
from codeenv.trajectory.models import RecordedObservation, RecordedResult
from codeenv_harness.records import Monitored
from codeenv_harness.viewer import Library, ViewerServer
from tests.harness.report.made import told
from tests.harness.runs import record

BAD = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\x1b[31m\u202e\x00"
"""Words that would do harm if they were markup, or steered what is around them."""
BEFORE = "def boil():\n    return 0\n"
AFTER = "def boil():\n    return 100\n"
HINT = FeedbackEvent(
    id="1.1.path_not_found",
    kind="path_not_found",
    severity="error",
    turn=1,
    target=Target(message=1, part="arguments", chars=(9, 20)),
    evidence={"path": BAD},
    hint=f"search before reading {BAD}",
    source="tool_error",
)


def step(number, name, arguments, content, message="", **extra):
    """One call and what it gave."""
    call = RecordedCall(tool_call_id="c", function_name=name, arguments=arguments)
    seen = RecordedObservation(results=(RecordedResult(source_call_id="c", content=content),))
    return Step(
        step_id=number,
        source="agent",
        message=message,
        tool_calls=(call,),
        observation=seen,
        metrics=StepMetrics(prompt_tokens=1200, completion_tokens=34),
        extra=extra or None,
    )


def trajectory():
    """An episode: a read that fails, a read, an edit, a command, a submission."""
    many = "\n".join(f"line {n}" for n in range(1000))
    steps = (
        Step(step_id=1, source="user", message=f"# Boil\n\nWater must boil. {BAD}"),
        step(
            2, "read_file", {"path": "kettel.py"}, "error[not_found]: kettel.py does not exist",
            message=BAD, tool={"ok": False, "error": "not_found"},
            feedback=[HINT.model_dump(mode="json")],
        ),
        step(3, "read_file", {"path": "kettle.py"}, "     1\tdef boil():\n     2\t    return 0"),
        step(
            4, "edit_file", {"path": "kettle.py", "old_str": BEFORE, "new_str": AFTER},
            f"edited kettle.py\n{BAD}",
        ),
        step(
            5, "run_command", {"command": "cat /tmp/answer # the needle is here"}, many,
            tool={"ok": True, "exit_code": 1},
        ),
        step(6, "submit", {}, "Submitted.", reward=1.0),
    )  # fmt: skip
    change = FileChange(path="kettle.py", kind="changed", before=BEFORE, after=AFTER, counted=True)
    gone = FileChange(path=BAD, kind="deleted", before="x\n")
    extra = {"changes": Changes(tree_sha="a", files=(gone, change)).model_dump(mode="json")}
    extra["program"] = {"command": "boil --now", "exit_code": 0, "output": f"hot\n{BAD}"}
    return Trajectory(agent=AgentInfo(name="a", version="1"), steps=steps, extra=extra)


def flagged(task_id, rollout=0):
    """A rollout in which a monitor found something at step 5 and in what was handed in."""
    seen = trajectory()
    at = tuple(event.seq for event in event_log(seen) if event.step_id in (5, None))
    finding = Finding(
        label="SC-CACHE", group="solution_contamination", severity="violation", succeeded=True,
        evidence=at, span=BAD, detail=f"the original was read {BAD}", detector="caches",
    )  # fmt: skip
    monitor = Monitored(action="mask", findings=(finding,), graded_reward=1.0)
    changes = {"monitor": monitor, "not_passed": {f"t.py::test[{BAD}]": "failed"}}
    return record(task_id, 0, rollout).model_copy(update=changes | {"n_steps": 5}), seen


def shown(folder):
    """A run of four rollouts."""
    rows = [
        flagged("kettle"),
        (record("kettle", 1, 1), trajectory()),
        (record(BAD.replace("/", ""), None).model_copy(update={"error": BAD}), None),
        (record("pot", 0), trajectory()),
    ]
    return told(folder, f"an agent {BAD}", rows, rollouts=2)


@contextmanager
def served(folder, **options):
    """Serve a folder of runs."""
    with ViewerServer(Library(folder, **options)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
