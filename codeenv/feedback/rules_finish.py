"""Rules about how an episode ends."""

from codeenv.feedback.notes import Note
from codeenv.feedback.options import Options
from codeenv.feedback.past import Past
from codeenv.feedback.plans import open_items
from codeenv.feedback.spans import on_message, on_tool, on_value
from codeenv.feedback.testruns import TestRun
from codeenv.feedback.turns import Turn

_NAMED = 5
_ITEMS, _ITEM = 3, 80


def no_verify(turn: Turn, past: Past, _options: Options) -> Note | None:
    """Submitted with edits after the last test run, or without any run.

    A run of the agent's own code that succeeded is as good: the tests that count may be hidden.
    """
    tested = past.tested.turn if past.tested else 0
    if not _submits(turn) or past.counted <= max(tested, past.checked):
        return None
    evidence = {"last_edit": past.counted, "last_test_run": tested}
    hint = "Run the tests after the last edit, before finishing."
    return Note("no_verify", "warning", on_tool(turn), hint, evidence)


def premature_finish(past: Past, _options: Options, *, resolved: bool) -> tuple[Turn, Note] | None:
    """Submitted although tests had failed and were not seen to pass since; not if that was right.

    Only the end shows it: tests may fail for reasons of their own.
    """
    run, turn = past.tested, past.submitted
    if turn is None or resolved or run is None or not run.failed:
        return None
    evidence = {"test_run": run.turn, "failing": list(run.names)}
    return turn, Note("premature_finish", "warning", on_tool(turn), _failures(run), evidence)


def _failures(run: TestRun) -> str:
    more = f" and {len(run.names) - _NAMED} more" if len(run.names) > _NAMED else ""
    told = f": {', '.join(run.names[:_NAMED])}{more}" if run.names else ""
    if run.stopped:
        return f"The last run of the tests, at turn {run.turn}, did not come to its end{told}."
    if run.earlier:
        return f"Tests failed and were not seen to pass since{told}."
    return f"Tests failed in the last run, at turn {run.turn}{told}."


def verbose_final(turn: Turn, _past: Past, options: Options) -> Note | None:
    """The final message is long."""
    length = len(turn.value("message"))
    if not _submits(turn) or length <= options.longest_final:
        return None
    hint = f"Keep the final message to {options.longest_final} characters."
    evidence = {"characters": length, "limit": options.longest_final}
    return Note("verbose_final", "info", on_value(turn, "message"), hint, evidence)


def todo_left(turn: Turn, past: Past, _options: Options) -> Note | None:
    """Items of the agent's own lists are open: of its files, and of its last message."""
    if not _submits(turn):
        return None
    final = open_items(turn.value("message"))
    said = open_items(turn.content) if final is None else final
    left = tuple(dict.fromkeys([*(said or ()), *past.plans.left]))
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
