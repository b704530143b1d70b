"""Rules about how an episode ends."""

from codeenv.feedback.notes import Note
from codeenv.feedback.options import Options
from codeenv.feedback.past import Past
from codeenv.feedback.plans import open_items
from codeenv.feedback.spans import on_message, on_tool, on_value
from codeenv.feedback.turns import Turn

_NAMED = 5
_ITEMS, _ITEM = 3, 80


def no_verify(turn: Turn, past: Past, _options: Options) -> Note | None:
    """Submitted with edits after the last test run, or without any run."""
    tested = past.tested.turn if past.tested else 0
    if not _submits(turn) or past.counted <= tested:
        return None
    evidence = {"last_edit": past.counted, "last_test_run": tested}
    hint = "Run the tests after the last edit, before finishing."
    return Note("no_verify", "warning", on_tool(turn), hint, evidence)


def premature_finish(turn: Turn, past: Past, _options: Options) -> Note | None:
    """Submitted although the last test run that was seen had failed."""
    run = past.tested
    if not _submits(turn) or run is None or not run.failed:
        return None
    more = f" and {len(run.names) - _NAMED} more" if len(run.names) > _NAMED else ""
    told = f": {', '.join(run.names[:_NAMED])}{more}" if run.names else ""
    hint = f"Tests failed in the last run, at turn {run.turn}{told}."
    evidence = {"test_run": run.turn, "failing": list(run.names)}
    return Note("premature_finish", "warning", on_tool(turn), hint, evidence)


def verbose_final(turn: Turn, _past: Past, options: Options) -> Note | None:
    """The final message is long."""
    length = len(turn.value("message"))
    if not _submits(turn) or length <= options.longest_final:
        return None
    hint = f"Keep the final message to {options.longest_final} characters."
    evidence = {"characters": length, "limit": options.longest_final}
    return Note("verbose_final", "info", on_value(turn, "message"), hint, evidence)


def todo_left(turn: Turn, past: Past, _options: Options) -> Note | None:
    """Items of the agent's own lists are open."""
    if not _submits(turn):
        return None
    final = open_items(turn.value("message"))
    said = open_items(turn.content) if final is None else final
    left = past.plans.left if said is None else tuple(dict.fromkeys([*said, *past.plans.in_files]))
    if not left:
        return None
    more = f" and {len(left) - _ITEMS} more" if len(left) > _ITEMS else ""
    told = "; ".join(item[:_ITEM] for item in left[:_ITEMS])
    hint = f"Items of your own list are open: {told}{more}."
    return Note("todo_left", "warning", on_tool(turn), hint, {"items": list(left[:50])})


def overthinking_easy(past: Past, options: Options, *, resolved: bool) -> tuple[Turn, Note] | None:
    """An easy task was solved with much effort; what failed is no overthinking.

    The turn is the one in which the effort passed the limit.
    """
    if past.crossed is None or not resolved:
        return None
    evidence = {
        "effort": round(past.effort, 3),
        "limit": options.effort_limit,
        "difficulty": options.difficulty,
    }
    hint = "This task is easy: less thought and fewer calls are enough."
    target = on_message(past.crossed)
    return past.crossed, Note("overthinking_easy", "info", target, hint, evidence)


def _submits(turn: Turn) -> bool:
    return turn.tool == "submit" and turn.ok
