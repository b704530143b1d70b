"""What happened in an episode, as data."""

from codeenv.trajectory.changes import Changes, FileChange, changes_between
from codeenv.trajectory.files import read_trajectory, write_trajectory
from codeenv.trajectory.messages import Message, arguments_text, messages_of
from codeenv.trajectory.models import (
    AgentInfo,
    RecordedCall,
    RecordedResult,
    Step,
    StepMetrics,
    Trajectory,
)
from codeenv.trajectory.recorder import Recorder, outcome_facts, plain, utc_now
from codeenv.trajectory.seal import sealed
from codeenv.trajectory.segments import Segment, SegmentMark, segments_of, shared_advantages

__all__ = [
    "AgentInfo",
    "Changes",
    "FileChange",
    "Message",
    "RecordedCall",
    "RecordedResult",
    "Recorder",
    "Segment",
    "SegmentMark",
    "Step",
    "StepMetrics",
    "Trajectory",
    "arguments_text",
    "changes_between",
    "messages_of",
    "outcome_facts",
    "plain",
    "read_trajectory",
    "sealed",
    "segments_of",
    "shared_advantages",
    "utc_now",
    "write_trajectory",
]
