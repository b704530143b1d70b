"""Targeted textual feedback: a hint at the exact turn of a mistake, for a trainer to distil."""

from codeenv.feedback.models import FeedbackEvent, Kind, Target

__all__ = ["FeedbackEvent", "Kind", "Target"]
