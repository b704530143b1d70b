"""Targeted textual feedback: a hint at the exact turn of a mistake, for a trainer to distil."""

from codeenv.feedback.hints import MessagePair, message_pair
from codeenv.feedback.judge import Judge, JudgeCase, Opinion, ask
from codeenv.feedback.leaks import LeakCheck, Refused, leak_check
from codeenv.feedback.merging import merge_events
from codeenv.feedback.models import FeedbackEvent, Kind, Target
from codeenv.feedback.observer import Observer, feedback_of
from codeenv.feedback.options import Options, options_for
from codeenv.feedback.pairs import TeacherPair, build_teacher_pair
from codeenv.feedback.render import ChatTemplate, PlainRenderer, Renderer
from codeenv.feedback.spans import target_text
from codeenv.feedback.turns import Turn, said, turn_of, turns_of

__all__ = [
    "ChatTemplate",
    "FeedbackEvent",
    "Judge",
    "JudgeCase",
    "Kind",
    "LeakCheck",
    "MessagePair",
    "Observer",
    "Opinion",
    "Options",
    "PlainRenderer",
    "Refused",
    "Renderer",
    "Target",
    "TeacherPair",
    "Turn",
    "ask",
    "build_teacher_pair",
    "feedback_of",
    "leak_check",
    "merge_events",
    "message_pair",
    "options_for",
    "said",
    "target_text",
    "turn_of",
    "turns_of",
]
