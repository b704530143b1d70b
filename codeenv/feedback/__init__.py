"""Targeted textual feedback: a hint at the exact turn of a mistake, for a trainer to distil."""

from codeenv.feedback.hints import MessagePair, merged_by_turn, message_pair
from codeenv.feedback.models import FeedbackEvent, Kind, Target
from codeenv.feedback.pairs import TeacherPair, build_teacher_pair
from codeenv.feedback.render import ChatTemplate, PlainRenderer, Renderer

__all__ = [
    "ChatTemplate",
    "FeedbackEvent",
    "Kind",
    "MessagePair",
    "PlainRenderer",
    "Renderer",
    "Target",
    "TeacherPair",
    "build_teacher_pair",
    "merged_by_turn",
    "message_pair",
]
