"""What happened in an episode, as data."""

from codeenv.trajectory.files import read_trajectory, write_trajectory
from codeenv.trajectory.models import AgentInfo, RecordedCall, Step, Trajectory
from codeenv.trajectory.recorder import Recorder, outcome_facts

__all__ = [
    "AgentInfo",
    "RecordedCall",
    "Recorder",
    "Step",
    "Trajectory",
    "outcome_facts",
    "read_trajectory",
    "write_trajectory",
]
