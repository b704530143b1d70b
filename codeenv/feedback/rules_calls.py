"""Rules about calls that were lost, and calls that could not count.

A binary file or one that is too large to be read is no mistake: the agent could not know.
"""

import json
import re
from collections.abc import Iterator, Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from codeenv.feedback.models import Kind, Target
from codeenv.feedback.notes import Note, called
from codeenv.feedback.options import Options, inside
from codeenv.feedback.past import Past, written_by
from codeenv.feedback.shell import runs_tests
from codeenv.feedback.spans import Span, members, on_content, on_tool, on_value, over
from codeenv.feedback.turns import Turn
from codeenv.tools import tools_of

_SHAPE = 'A call is {{"tool": {}, "arguments": {{…}}}}.'
_MATCH = "old text must match exactly once; re-read the lines first"
_INSIDE = "paths are relative to the root of the repository and lie in it"
_SHORTER = "run a shorter command, or start it in the background and read its output later"
_NO_CALL = "error[invalid_action]: not a tool call"  # the action was a text or a number
_OWN = "error[bad_arguments]: "
_HINT = 200
_PATH_KEYS = {"run_command": "workdir"}


def unknown_tool(turn: Turn, _past: Past, options: Options) -> Note | None:
    """The tool does not exist."""
    if turn.error != "unknown_tool":
        return None
    evidence = {**called(turn), "available_tools": list(options.functions)}
    return _lost("unknown_tool", on_tool(turn), _available(options), evidence)


def malformed_call(turn: Turn, _past: Past, options: Options) -> Note | None:
    """The action is no tool call."""
    if turn.error != "invalid_action":
        return None
    meant = _meant(turn, options)
    shape = _SHAPE.format(f'"{meant}"' if meant else "name")
    broken = "That is no valid JSON. " if _is_broken(turn) else ""
    hint = f"{broken}{shape} {options.schema_line(meant) if meant else _available(options)}"
    evidence = {"tool": meant, "error": turn.error, "available_tools": list(options.functions)}
    return _lost("malformed_call", on_content(turn), hint, evidence)


def bad_args(turn: Turn, _past: Past, options: Options) -> Note | None:
    """The arguments do not fit the tool, or name nothing inside the repository."""
    if turn.error not in ("bad_arguments", "outside_repo"):
        return None
    known = turn.tool in options.functions
    schema = options.schema_line(turn.tool) if known else _available(options)
    evidence = {**called(turn), "schema": schema}
    hint = _objection(turn) or schema
    return _lost("bad_args", over(turn, list(_wrong(turn))), hint, evidence)


def edit_no_match(turn: Turn, _past: Past, _options: Options) -> Note | None:
    """The text to replace is not in the file."""
    if turn.error != "no_match":
        return None
    return _lost("edit_no_match", on_value(turn, "old_str"), _MATCH, _placed(turn))


def edit_not_unique(turn: Turn, _past: Past, _options: Options) -> Note | None:
    """The text to replace is in the file several times."""
    if turn.error != "not_unique":
        return None
    return _lost("edit_not_unique", on_value(turn, "old_str"), _MATCH, _placed(turn))


def path_not_found(turn: Turn, _past: Past, _options: Options) -> Note | None:
    """The path does not exist."""
    if turn.error != "not_found":
        return None
    key = _PATH_KEYS.get(turn.tool, "path")
    hint = "search or list before reading"
    return _lost("path_not_found", on_value(turn, key), hint, _placed(turn, key))


def command_timeout(turn: Turn, _past: Past, _options: Options) -> Note | None:
    """The command was killed at its deadline."""
    if turn.error != "timeout":
        return None
    hint = "run a narrower test" if runs_tests(turn.value("command")) else _SHORTER
    return _lost("command_timeout", on_value(turn, "command"), hint, called(turn))


def protected_path(turn: Turn, _past: Past, options: Options) -> Note | None:
    """A change of tests or their configuration: refused, or done and never counted.

    Also a path that the agent has no permission for.
    """
    refused = turn.error == "protected_path"
    key = _PATH_KEYS.get(turn.tool, "path")
    path = inside(turn.value(key)) if refused else _changed(turn, options)
    if refused and (turn.tool != "edit_file" or "permission denied" in turn.text):
        hint = f"{path}: permission denied; leave it alone"
        return _lost("protected_path", on_value(turn, key), hint, _placed(turn, key))
    if not path:
        return None
    return Note(
        "protected_path",
        "error" if refused else "warning",
        on_value(turn, "command" if turn.tool == "run_command" else "path"),
        f"{path} is protected: changes to tests and their configuration do not count",
        {**called(turn), "path": turn.value("path") or path},
        "tool_error" if refused else "rule",
    )


def _changed(turn: Turn, options: Options) -> str:
    """Return the protected path that a turn changed; putting one back is no change."""
    paths = [write.path for write in written_by(turn) if not write.restored]
    if turn.tool == "edit_file" and turn.ok:
        paths = [inside(turn.value("path"))]
    return next((path for path in paths if options.protected(path)), "")


def _objection(turn: Turn) -> str:
    """Return what is wrong with arguments that are all that the schema asks for, or ""."""
    if turn.error == "outside_repo":
        return _INSIDE
    first = turn.text.partition("\n")[0]
    if _problems(turn) != [] or not first.startswith(_OWN):
        return ""
    return first.removeprefix(_OWN)[:_HINT]


def _is_broken(turn: Turn) -> bool:
    """Return whether the action was a text that begins like JSON and is none."""
    if not turn.text.startswith(_NO_CALL) or not turn.content.lstrip().startswith("{"):
        return False
    try:
        json.loads(turn.content)
    except (ValueError, RecursionError):
        return True
    return False


def _lost(kind: Kind, target: Target, hint: str, evidence: Mapping[str, object]) -> Note:
    return Note(kind, "error", target, hint, evidence, "tool_error")


def _placed(turn: Turn, key: str = "path") -> dict[str, object]:
    return {**called(turn), "path": turn.value(key)}


def _available(options: Options) -> str:
    return f"Reminder: Available tools are: {', '.join(options.functions)}."


def _meant(turn: Turn, options: Options) -> str:
    """Return the one tool that a text which is no call speaks of, or ""."""
    if turn.named in options.functions:
        return turn.named
    spoken = [
        name for name in options.functions if re.search(rf"\b{re.escape(name)}\b", turn.content)
    ]
    return spoken[0] if len(spoken) == 1 else ""


def _wrong(turn: Turn) -> Iterator[Span]:
    """Yield where the wrong arguments stand; nothing where one is merely missing."""
    where = members(turn.written)
    problems = _problems(turn)
    if problems is None:
        return
    for problem in problems:
        key = str(problem["loc"][0]) if problem["loc"] else ""
        if key in where:
            yield where[key][0 if problem["type"] == "extra_forbidden" else 1]
    if not problems:  # of the tool itself, whose message names the argument
        first = turn.text.partition("\n")[0]
        named = [key for key in where if re.search(rf"\b{re.escape(key)}\b", first)]
        named = ["path"] if turn.error == "outside_repo" and "path" in where else named
        yield from [where[named[0]][1]] if len(named) == 1 else []


def _problems(turn: Turn) -> list[ErrorDetails] | None:
    """Return what a tool's own model says of the arguments, or None if there is no such tool."""
    tool = tools_of("core4+lint").get(turn.tool)
    if tool is None:
        return None
    try:
        tool.arguments.model_validate(dict(turn.arguments))
    except ValidationError as error:
        return error.errors(include_url=False)
    return []
