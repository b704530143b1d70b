"""Rules about turns that gave what an earlier turn gave."""

from codeenv.feedback.notes import Note, called
from codeenv.feedback.options import Options
from codeenv.feedback.past import Past
from codeenv.feedback.spans import on_arguments, on_content
from codeenv.feedback.turns import Turn


def redundant_read(turn: Turn, past: Past, _options: Options) -> Note | None:
    """The same lines were read before, and nothing can have changed them."""
    if turn.tool != "read_file" or not turn.ok:
        return None
    first = past.unchanged_read(turn)
    if not first:
        return None
    return Note(
        "redundant_read",
        "warning",
        on_arguments(turn),
        f"The same lines were read at turn {first} and have not changed since.",
        {**called(turn), "path": turn.value("path"), "first_turn": first},
    )


def repeated_failure(turn: Turn, past: Past, _options: Options) -> Note | None:
    """The same call failed in the same way before."""
    if turn.ok and not turn.exit_code:
        return None
    first = past.same_failure(turn)
    if not first:
        return None
    return Note(
        "repeated_failure",
        "warning",
        on_arguments(turn) if turn.tool else on_content(turn),
        f"The same call failed in the same way at turn {first}: try something else.",
        {**called(turn), "exit_code": turn.exit_code, "first_turn": first},
    )
