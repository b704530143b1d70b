"""From a submission to a verdict, in a fresh box."""

from codeenv.grading.collect import Submission, collect_submission
from codeenv.grading.grader import Grader
from codeenv.grading.models import Grade, GradingOptions, Outcome
from codeenv.grading.verdict import to_outcome

__all__ = [
    "Grade",
    "Grader",
    "GradingOptions",
    "Outcome",
    "Submission",
    "collect_submission",
    "to_outcome",
]
