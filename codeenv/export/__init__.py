"""What leaves codeenv as data: rows for trainers."""

from codeenv.export.rows import FORMATS, Format, Rollout, rollout_rows, trl_sample
from codeenv.export.samples import Sample, TurnRecord, samples_of, turn_records

__all__ = [
    "FORMATS",
    "Format",
    "Rollout",
    "Sample",
    "TurnRecord",
    "rollout_rows",
    "samples_of",
    "trl_sample",
    "turn_records",
]
