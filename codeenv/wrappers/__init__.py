"""Gymnasium wrappers for training."""

from codeenv.wrappers.feedback import Feedback

__all__ = ["Feedback"]
