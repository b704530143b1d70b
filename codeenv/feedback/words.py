"""A command line as its simple commands: the words of each, and where its output goes."""

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_LONGEST = 8 * 1024
_DEEPEST = 3  # shells in shells
_SIGNS = ";&|()<>\n"
_HIDE = {ord(sign): 0xE000 + n for n, sign in enumerate(_SIGNS + "#")}
_SHOW = {hidden: sign for sign, hidden in _HIDE.items()}
_QUOTED = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_DOCUMENT = re.compile(r"(?<!<)<<(?!<)-?[ \t]*(?:(['\"])([\w.-]+)\1|\\?([\w.-]+))")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_DURATION = re.compile(r"[\d.]+[smhd]?")
_PYTHON = re.compile(r"(python|pypy)[\d.]*|py")
_INPUT = re.compile(r"-[A-Za-z]*[cm]")
_SCRIPT = re.compile(r"-[A-Za-z]*c")

SHELLS = frozenset("bash sh dash zsh ksh".split())
TARGETS = frozenset("test tests check unittest unit pytest".split())
"""What a project's own tests are called in a Makefile or a runner's table."""
_KEYWORDS = frozenset("exec command do then else if while until ! {".split())
_VALUES = {
    "sudo": "-u -g",
    "env": "-u -C",
    "time": "-f -o",
    "nohup": "",
    "nice": "-n",
    "ionice": "-c -n",
    "stdbuf": "-i -o -e",
    "xvfb-run": "-s -n",
    "xargs": "-n -I -P -d -L -s -a -E",
    "timeout": "-k -s",
}
"""Programs that run another one -> their options that take a word as a value."""
_RUNNERS = frozenset("uv poetry pdm hatch pipenv rye pixi".split())
_RUNNER_VALUES = (
    "--with --with-requirements --with-editable --extra --group --only-group --python -p "
    "--project --directory --env-file --index --index-url -e --env --environment"
).split()
_COVERAGE_VALUES = "--source --omit --include --rcfile --data-file --context --concurrency".split()


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command.

    Attributes:
        words: What is run, without programs that only run another one.
        redirects: Each sign of a redirection with its target.
    """

    words: tuple[str, ...] = ()
    redirects: tuple[tuple[str, str], ...] = ()


_BACK = Command(("cd", "-"))
"""Where a shell in a shell ends: wherever it went, that is over."""


@dataclass(frozen=True, slots=True)
class Python:
    """What an interpreter is asked to run.

    Attributes:
        kind: ``m`` for a module, ``c`` for code, ``file``, ``stdin``, or "" for nothing.
        what: The module, the code or the file.
        arguments: What it is given.
    """

    kind: str = ""
    what: str = ""
    arguments: tuple[str, ...] = ()


def commands(text: str, deepest: int = _DEEPEST) -> list[Command] | None:
    """Return the simple commands of a line, or None if it is too long or no shell."""
    if len(text) > _LONGEST:
        return None
    plain = _without_documents(text.replace("\\\n", " "))
    hidden = _QUOTED.sub(lambda found: found[0].translate(_HIDE), plain)
    lexer = shlex.shlex(hidden, posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    found: list[Command] = []
    try:
        for words, redirects in _split(lexer):
            inner = tuple(_inner(words))
            script = _script_in(inner) if deepest else None
            below = None if script is None else commands(script, deepest - 1)
            if script is not None and below is None:
                return None
            found.append(Command(inner if script is None else (), tuple(redirects)))
            found += below or ()
            found += [_BACK] if any(one.words[:1] == ("cd",) for one in below or ()) else []
    except ValueError:  # a quote without its other half
        return None
    return found


def program(words: Sequence[str]) -> str:
    """Return the name of the program that is run, or ""."""
    return posixpath.basename(words[0]) if words else ""


def python_in(words: Sequence[str]) -> Python | None:
    """Return what a Python interpreter is asked to run, or None if it is another program."""
    if not words or not _PYTHON.fullmatch(program(words)):
        return None
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-":
        if _INPUT.fullmatch(rest[0]):
            return Python(rest[0][-1], "".join(rest[1:2]), tuple(rest[2:]))
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if not rest and len(words) > 1:
        return Python()
    if not rest or rest[0] == "-":
        return Python("stdin", "", tuple(rest[1:]))
    return Python("file", rest[0], tuple(rest[1:]))


def positional(words: Sequence[str], values: Collection[str] = ()) -> list[str]:
    """Return the words that are no options and no values of those options."""
    found: list[str] = []
    before = ""
    for word in words:
        if not word.startswith("-") and before not in values:
            found.append(word)
        before = word
    return found


def _without_documents(text: str) -> str:
    """Return a text without its here-documents; what is never closed is none."""
    lines = text.split("\n")
    last = {line.strip(" \t"): number for number, line in enumerate(lines)}
    kept: list[str] = []
    waiting: list[str] = []
    for number, line in enumerate(lines):
        if waiting:
            waiting = waiting[1:] if line.strip(" \t") == waiting[0] else waiting
            continue
        kept.append(line)
        opened = (quoted or bare for _, quoted, bare in _DOCUMENT.findall(line))
        waiting = [word for word in opened if last.get(word, 0) > number]
    return "\n".join(kept)


def _split(tokens: Iterator[str]) -> Iterator[tuple[list[str], list[tuple[str, str]]]]:
    words: list[str] = []
    redirects: list[tuple[str, str]] = []
    comment, waiting, moved = False, "", False
    for token in tokens:
        sign = token if token and not token.strip(_SIGNS) else ""
        if comment and "\n" not in sign:
            continue
        comment = not sign and token.startswith("#")
        if sign and (not set(sign) & set("<>") or sign.endswith("(")):
            yield words, redirects
            moved = moved or words[:1] == ["cd"]
            if moved and ")" in sign:
                yield list(_BACK.words), []
            words, redirects, waiting = [], [], ""
        elif sign:
            waiting = sign
            if words and words[-1].isdigit():  # most likely a stream's number: 2>
                words.pop()
        elif waiting and not comment:
            redirects.append((waiting, token.translate(_SHOW)))
            waiting = ""
        elif not comment:
            words.append(token.translate(_SHOW))
    yield words, redirects


def _inner(words: Sequence[str]) -> list[str]:
    """Return what a line of prefixes such as ``env A=b timeout 5 uv run`` runs."""
    rest = list(words)
    while rest:
        name = program(rest)
        if _ASSIGNMENT.match(rest[0]) or name in _KEYWORDS:
            rest = rest[1:]
        elif name in _VALUES:
            rest = _past_options(rest[1:], _VALUES[name].split())
            while name == "timeout" and rest and _DURATION.fullmatch(rest[0]):
                rest = rest[1:]
        elif (found := _within_runner(name, rest)) is not None:
            rest = found
        else:
            break
    return rest


def _within_runner(name: str, words: list[str]) -> list[str] | None:
    """Return what ``uv run``, ``coverage run`` and their like run; None if it is no such line."""
    if name in _RUNNERS:
        rest = _past_options(words[1:], _RUNNER_VALUES)
        if rest[:1] != ["run"]:
            return None
        rest = _past_options(rest[1:], _RUNNER_VALUES)
        task = rest[0].rpartition(":")[2] if rest else ""
        return ["make", task] if task in TARGETS - {"pytest", "unittest"} else rest
    asked = python_in(words)
    if asked and (asked.kind, asked.what) == ("m", "coverage"):
        return ["coverage", *asked.arguments]
    if name == "coverage" and words[1:2] == ["run"]:
        return ["python", *_past_options(words[2:], _COVERAGE_VALUES, but=("-m",))]
    return None


def _past_options(
    words: list[str], values: Collection[str], but: Collection[str] = ()
) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in but:
        at += 2 if words[at] in values else 1
    return words[at:]


def _script_in(words: Sequence[str]) -> str | None:
    """Return the text that ``bash -c`` and its like are given, or None."""
    if program(words) not in SHELLS:
        return None
    before = ""
    for word, following in pairwise(words[1:]):
        if _SCRIPT.fullmatch(word):
            return following
        if not word.startswith("-") and before not in ("-o", "-O"):
            return None
        before = word
    return None
