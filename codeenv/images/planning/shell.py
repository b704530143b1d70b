"""Shell text as simple commands: enough to see what is installed, set and run."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codeenv.images.planning.facts import Place, Script

_ENDS = re.compile(r"[;&|()\n]+")
_TEMPLATE = re.compile(r"\$?\{\{[^{}\n]*\}\}|\$?\{[^{}\n]*\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PREFIXES = {"sudo", "env", "time", "exec", "xvfb-run", "command", "-", "@", "!", "&"}
_RUNNERS = {"uv", "poetry", "pdm", "hatch", "pipenv", "rye", "pixi"}
_PYTHON = re.compile(r"^(.*/)?(python|pypy|py)[\d.]*$|^envpython$")


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command.

    Attributes:
        words: Program and arguments; what runs them in an environment is left out.
        variables: Variables set for it alone, ``NAME=value``.
        place: Where it stands.
    """

    words: tuple[str, ...]
    variables: tuple[str, ...]
    place: Place


def commands_of(script: Script) -> Iterator[Command]:
    """Yield the simple commands of a script; placeholders of its file's format become nothing."""
    for line, text in _logical_lines(script.text):
        for words in _simple_commands(_without_templates(text)):
            variables, rest = _without_prefixes(words)
            if rest or (variables and not script.user):
                place = Place(script.place.path, script.place.line + line)
                yield Command(tuple(rest), tuple(variables), place)


def is_python(word: str) -> bool:
    """Return whether a word names a Python interpreter."""
    return _PYTHON.match(word) is not None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, text), lines that end in a backslash joined."""
    started, parts = 0, list[str]()
    for number, raw in enumerate(text.splitlines()):
        line = raw.rstrip()
        started = number if not parts else started
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield started, " ".join(parts)
            parts = []
    if parts:
        yield started, " ".join(parts)


def _without_templates(text: str) -> str:
    """Return a line without placeholders, those that stand in others included."""
    for _ in range(3):
        text = _TEMPLATE.sub("", text)
    return text


def _simple_commands(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text.strip(), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for token in lexer:
            if _ENDS.fullmatch(token):
                yield words
                words = []
            else:
                words.append(token)
    except ValueError:  # a quote without its other half: prose, or a here-document
        return
    yield words


def _without_prefixes(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the variables set before a command, and the command without what starts it."""
    variables, rest = list[str](), list(words)
    while rest:
        if _ASSIGNMENT.match(rest[0]):
            variables.append(rest.pop(0))
        elif rest[0] in _PREFIXES or rest[0].startswith("-"):
            rest.pop(0)
        elif rest[0] in _RUNNERS and rest[1:2] == ["run"]:
            rest = _without_options(rest[2:])
        elif rest[0] == "coverage" and rest[1:2] == ["run"]:
            rest = ["python", *_without_options(rest[2:], keep=("-m",))]
        else:
            break
    return variables, rest


def _without_options(words: list[str], keep: tuple[str, ...] = ()) -> list[str]:
    """Return words from the first one that is no option; an option may bring its value along."""
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in keep:
        option = rest.pop(0)
        valued = option in ("--with", "--extra", "--group", "--python", "-p", "--env", "-e")
        if valued and rest:
            rest.pop(0)
    return rest
