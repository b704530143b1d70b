"""What a person types while playing, as tool calls."""

import difflib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codeenv.errors import UsageError
from codeenv.tools import ToolCall
from codeenv.tools.registry import tools_of
from codeenv.tools.text import shorten


@dataclass(frozen=True)
class Command:
    """One word that can be typed.

    Attributes:
        usage: How it is typed.
        meaning: What it does.
        example: One, of those that take more words.
        costs: Whether it is a tool call, which counts as a step.
    """

    usage: str
    meaning: str
    example: str = ""
    costs: bool = False


COMMANDS: Mapping[str, Command] = {
    command.usage.split()[0]: command
    for command in (
        Command(
            "read PATH [START [END]]", "a file's lines, or a folder", "read setup.py 1 20", True
        ),
        Command(
            "search PATTERN [PATH]", "a regular expression in files", "search 'def \\w+' src", True
        ),
        Command("edit PATH", "change or create a file in your editor", "edit src/a.py", True),
        Command("run COMMAND", "a shell command; also: $ COMMAND", "run git log --stat", True),
        Command("test [WORDS]", "the tests that you can see, by pytest", "test -k name -x", True),
        Command("submit [MESSAGE]", "hand in: hidden tests decide the reward", "", True),
        Command("diff [PATH]", "what you have changed so far", "diff src"),
        Command("task", "the statement again"),
        Command("more", "all of the last long text, in a pager"),
        Command("log", "what you did so far"),
        Command("steps", "how many calls are left"),
        Command("help [WORD]", "this, or one word of it", "help edit"),
        Command("quit", "leave without handing in; also: Ctrl-D"),
    )
}
"""First word -> what it is."""

TEST_TIMEOUT = 600
"""Seconds that ``test`` may take."""
_PROGRAMS = frozenset(
    "awk basename bash cat chmod cmp comm cp cut date df dirname du echo egrep env expr false fgrep"
    " file find git grep gzip head hexdump id jq less ln ls make md5sum mkdir mv nl nproc od paste"
    " patch perl pip pip3 printf ps pwd py.test pytest python python3 readlink realpath rev rg rm"
    " rmdir ruff sed seq sh sha256sum sleep sort stat tac tail tar tee time timeout touch tox tr"
    " tree true type uname uniq unzip wc which xargs xxd".split()
)
_DIGITS = 18
_SHOWN = 80
_RUN = ToolCall(tool="run_command").tool
Ask = Callable[[str], str]
"""Asks for a text of several lines; the argument says which."""


def parse_line(line: str, ask: Ask) -> ToolCall:
    """Return the call a line stands for.

    That is one of ``COMMANDS``, a tool by its name with its arguments in order, as ``name=value``
    or as a JSON object, or a shell command that begins with a well-known program.

    Raises:
        UsageError: If it stands for none; the message is for the person.
    """
    line = line.strip()
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if line[:1] in ("$", "!") and line[1:].strip():
        return _run(line[1:].strip())
    if word == "run" and rest:
        return _run(rest)
    if word == "test":
        command = f"python -m pytest -q {rest}".strip()
        return ToolCall(tool=_RUN, arguments={"command": command, "timeout": TEST_TIMEOUT})
    if word in ("read", "search", "edit"):
        return _short(word, _words(rest), ask)
    if word == "submit" and rest and not rest.startswith(("{", "message=")):
        return ToolCall(tool=word, arguments={"message": rest})
    if word in tools_of():
        return _by_name(word, rest)
    if _is_shell(word):
        return _run(line)
    raise _not_a_call(line, word)


def _run(command: str) -> ToolCall:
    return ToolCall(tool=_RUN, arguments={"command": command})


def _short(word: str, words: list[str], ask: Ask) -> ToolCall:
    if word == "read" and 1 <= len(words) <= 3:
        return _named("read_file", words)
    if word == "search" and 1 <= len(words) <= 2:
        return _named("search", words)
    if word == "edit" and len(words) == 1:
        old, new = ask("old text"), ask("new text")
        new = new + "\n" if new and not old else new
        return ToolCall(
            tool="edit_file", arguments={"path": words[0], "old_str": old, "new_str": new}
        )
    raise _not_a_call(word, word)


def _by_name(tool: str, rest: str) -> ToolCall:
    if rest.startswith("{"):
        return ToolCall(tool=tool, arguments=_object(tool, rest))
    if tool == _RUN and rest and not rest.startswith("command="):
        return _run(rest)
    return _named(tool, _words(rest))


def _object(tool: str, text: str) -> dict[str, object]:
    """Return the arguments of a JSON object; all of them are texts, numbers, yes or no."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"no JSON object follows {tool}", hint=_usage(tool)) from None
    if not isinstance(found, dict) or any(isinstance(v, dict | list) for v in found.values()):
        raise UsageError(f"{tool} takes no lists and no objects", hint=_usage(tool))
    return found


def _named(tool: str, words: list[str]) -> ToolCall:
    """Return a call whose arguments come in order or by name."""
    fields = tools_of()[tool].arguments.model_fields
    arguments: dict[str, object] = {}
    for word, name in zip(words, [*fields, *[""] * len(words)], strict=False):
        key, equals, value = word.partition("=")
        first = tool == "search" and not arguments  # a pattern may have a sign of equality
        by_name = bool(equals) and key in fields and (key == name or not first)
        key, value = (key, value) if by_name else (name, word)
        if not key or key in arguments:
            raise UsageError(f"{tool} is typed otherwise", hint=_usage(tool))
        arguments[key] = _value(tool, key, value, fields[key].annotation)
    missing = [name for name, field in fields.items() if field.is_required()]
    if not arguments.keys() >= set(missing):
        raise UsageError(f"{tool} needs {', '.join(missing)}", hint=_usage(tool))
    return ToolCall(tool=tool, arguments=arguments)


def _value(tool: str, key: str, text: str, kind: object) -> object:
    """Return a word as the argument's own type, so far as it can be told."""
    if kind is int or key.endswith("_line"):
        if not text.removeprefix("-").isdecimal() or len(text) > _DIGITS:
            what = "a line number" if key.endswith("_line") else "a number"
            raise UsageError(f"{shorten(text, _SHOWN)!r} is not {what}", hint=_usage(tool))
        return int(text)
    return text == "true" if kind is bool and text in ("true", "false") else text


def _is_shell(word: str) -> bool:
    return word in _PROGRAMS or word.startswith(("./", "/")) or bool(re.match(r"[A-Z_]+=", word))


def _usage(tool: str) -> str:
    fields = tools_of()[tool].arguments.model_fields.items()
    told = (name if field.is_required() else f"[{name}]" for name, field in fields)
    return " ".join(
        (tool, *(f"{name}=…" if name[0] != "[" else f"{name[:-1]}=…]" for name in told))
    )


def _not_a_call(line: str, word: str) -> UsageError:
    """Say how the word is used, or what to do with one that is none of ours."""
    if word in COMMANDS:
        return UsageError(f"{word} is typed otherwise", hint=COMMANDS[word].usage)
    if word == "cd":
        return UsageError(
            "every command begins in the repository's root", hint=f"run {line} && COMMAND"
        )
    near = difflib.get_close_matches(word, [*COMMANDS, *tools_of()], 1)
    return UsageError(
        f"no such command here: {word!r}" + (f"; did you mean {near[0]}?" if near else ""),
        hint=f"help lists what can be typed; for a shell command: run {line}",
    )


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot read the line: {error}", hint="close the quotes") from None
