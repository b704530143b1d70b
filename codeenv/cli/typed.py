"""What a person types while playing, as tool calls."""

import shlex
from collections.abc import Callable

from codeenv.errors import UsageError
from codeenv.tools import ToolCall

HELP = """\
read PATH [START [END]]   a file's lines, or a folder
edit PATH                 asks for the old text (none: a new file) and the new
run COMMAND               a shell command in the repository
search PATTERN [PATH]     a regular expression over the files
diff                      what you have changed
task                      the statement again
submit                    hand in: the tests decide the reward
quit                      leave without handing in
help                      this"""

Ask = Callable[[str], str]
"""Asks for a text of several lines; the argument says which."""


def parse_line(line: str, ask: Ask) -> ToolCall:
    """Return the call a line stands for.

    Raises:
        UsageError: If it stands for none; the message is for the person.
    """
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    if word == "run" and rest:
        return ToolCall(tool="run_command", arguments={"command": rest})
    if word == "diff":
        return ToolCall(tool="run_command", arguments={"command": "git add -AN . && git diff"})
    if word == "submit":
        return ToolCall(tool="submit")
    words = _words(rest)
    if word == "read" and 1 <= len(words) <= 3:
        return ToolCall(tool="read_file", arguments=_lines(words))
    if word == "search" and 1 <= len(words) <= 2:
        arguments = dict(zip(("pattern", "path"), words, strict=False))
        return ToolCall(tool="search", arguments=arguments)
    if word == "edit" and len(words) == 1:
        old, new = ask("old text"), ask("new text")
        new = new + "\n" if new and not old else new
        return ToolCall(
            tool="edit_file", arguments={"path": words[0], "old_str": old, "new_str": new}
        )
    raise _not_a_call(line.strip(), word)


def _not_a_call(line: str, word: str) -> UsageError:
    """Say how the word is used, or what to do with one that is none of ours."""
    usage = next((text for text in HELP.splitlines() if text.split()[0] == word), "")
    if usage:
        return UsageError(f"{word} is typed otherwise", hint=usage)
    return UsageError(
        f"no such command here: {word!r}",
        hint=f"help lists what can be typed; for a shell command: run {line}",
    )


def _lines(words: list[str]) -> dict[str, object]:
    arguments: dict[str, object] = {"path": words[0]}
    for name, word in zip(("start_line", "end_line"), words[1:], strict=False):
        if not word.lstrip("-").isdigit():
            raise UsageError(f"{word!r} is not a line number", hint="read PATH [START [END]]")
        arguments[name] = int(word)
    return arguments


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot read the line: {error}", hint="close the quotes") from None
