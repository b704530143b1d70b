"""Rules about contexts that are cut and summed up."""

from codeenv.feedback.notes import Note, called
from codeenv.feedback.options import Options
from codeenv.feedback.past import Past
from codeenv.feedback.spans import on_message
from codeenv.feedback.turns import Turn


def summary_refused(turn: Turn, _past: Past, _options: Options) -> Note | None:
    """A summary was asked for, and the action was something else."""
    if turn.error != "summary_due":
        return None
    hint = "Write the summary that was asked for, as plain text."
    return Note("malformed_call", "error", on_message(turn), hint, called(turn), "tool_error")
