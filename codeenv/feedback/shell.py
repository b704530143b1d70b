"""Two questions about a command line: does it run tests, and does it plainly change nothing."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache

_LONGEST = 8 * 1024
_SIGNS = ";&|()<>\n"
_DOCUMENT = re.compile(
    r"<<-?[ \t]*(['\"]?)([\w.-]+)\1([^\n]*\n)(?:.*?\n)??[ \t]*\2(?=\n|\Z)", re.DOTALL
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_DURATION = re.compile(r"[\d.]+[smhd]?")
_PYTHON = re.compile(r"(python|pypy)[\d.]*|py")
_TEST_FILE = re.compile(r"(.*/)?(test_[\w-]*|[\w-]+_test)\.py")
_TEST_WORD = re.compile(r"\b(pytest|py\.test|unittest|tox|nox|nose2)\b|\bmake (test|check)")
_HINTS_AT_TESTS = re.compile(r"test|tox|nox|nose|check|unit")

_PREFIXES = frozenset(
    "sudo env time exec command nohup nice stdbuf xvfb-run do then else if while until ! {".split()
)
_RUNNERS = frozenset("uv poetry pdm hatch pipenv rye pixi".split())
_TESTERS = frozenset("pytest py.test tox nox nose2 unittest".split())
_TARGETS = frozenset("test tests check unittest unit pytest".split())
_SHOWS = frozenset("--version -V --help -h --collect-only --co --fixtures --markers".split())

_READERS = frozenset(
    "ls cat head tail grep egrep fgrep rg wc pwd echo printf true false test [ nl file stat du "
    "cut tr diff cmp which basename dirname realpath cd for done fi find sed git sort }".split()
)
_FIND = re.compile(r"-(exec|ok|delete|fprint|fls)")
_SED = re.compile(r"[\d,$;p\s]+")
_GIT = frozenset("status diff log show blame ls-files grep rev-parse branch".split())


@lru_cache(maxsize=4096)
def runs_tests(command: str) -> bool:
    """Return whether a command line runs tests; one that cannot be read, if it speaks of it."""
    if not _HINTS_AT_TESTS.search(command):
        return False
    commands = _commands(command)
    if commands is None:
        return _TEST_WORD.search(command) is not None
    return any(_tests(_inner(words)) for words in commands)


@lru_cache(maxsize=4096)
def only_reads(command: str) -> bool:
    """Return whether a command line plainly changes no file; what is not known may."""
    commands = _commands(command)
    return commands is not None and all(_reads(_inner(words)) for words in commands)


def _commands(text: str) -> list[list[str]] | None:
    """Return the words of each simple command, or None if the text is too long or no shell."""
    if len(text) > _LONGEST:
        return None
    plain = _DOCUMENT.sub(r"<<\2\3", text.replace("\\\n", " "))
    lexer = shlex.shlex(plain, posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    try:
        return list(_split(lexer))
    except ValueError:  # a quote without its other half
        return None


def _split(tokens: Iterator[str]) -> Iterator[list[str]]:
    words: list[str] = []
    comment = False
    for token in tokens:
        sign = not token.strip(_SIGNS) and token != ""
        if comment and not (sign and "\n" in token):
            continue
        comment = not sign and token.startswith("#")
        if sign and not set(token) & set("<>"):
            yield words
            words = []
        elif not comment:
            words.append(token)
    yield words


def _inner(words: Sequence[str]) -> list[str]:
    """Return what a line of prefixes such as ``env A=b timeout 5 uv run`` runs."""
    rest = list(words)
    while rest:
        if _ASSIGNMENT.match(rest[0]) or rest[0] in _PREFIXES:
            rest.pop(0)
        elif rest[0] == "timeout":
            rest = _past_options(rest[1:])
            while rest and _DURATION.fullmatch(rest[0]):
                rest.pop(0)
        elif rest[0] in _RUNNERS and rest[1:2] == ["run"]:
            rest = _past_options(rest[2:])
        elif rest[0] == "coverage" and rest[1:2] == ["run"]:
            rest = ["python", *rest[2:]]
        else:
            break
    return rest


def _past_options(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[1:]
    return words


def _tests(words: list[str]) -> bool:
    if not words or _SHOWS.intersection(words):
        return False
    name = posixpath.basename(words[0])
    if name in ("bash", "sh") and "-c" in words[:-1]:
        return runs_tests(words[words.index("-c") + 1])
    if name in ("make", "just", "hatch"):
        return bool(_TARGETS.intersection(words[1:]))
    if _PYTHON.fullmatch(name):
        if "-m" in words[:-1]:
            name = words[words.index("-m") + 1].split(".")[0]
        else:
            script = next((word for word in words[1:] if not word.startswith("-")), "")
            return _TEST_FILE.fullmatch(script) is not None or words[1:3] == ["setup.py", "test"]
    return name in _TESTERS


def _reads(words: list[str]) -> bool:
    if not words:
        return True
    if words[0] not in _READERS or any("`" in word or "$(" in word for word in words):
        return False
    return _own_way(words) and not _writes(words)


def _own_way(words: list[str]) -> bool:
    """Return whether a reading program is asked for nothing but reading."""
    if words[0] == "find":
        return not any(_FIND.match(word) for word in words)
    if words[0] == "sed":
        return words[1:2] == ["-n"] and len(words) > 2 and bool(_SED.fullmatch(words[2]))
    if words[0] == "git":
        asked = words[1:2]
        plain = not any(w.startswith(("--output", "-o", "-O", "--ext")) for w in words)
        return bool(_GIT.intersection(asked)) and plain and (asked != ["branch"] or len(words) == 2)
    return not any(word.startswith(("--pre", "-o", "--output")) for word in words)


def _writes(words: list[str]) -> bool:
    """Return whether output goes into a file; a quoted sign is taken for a redirection, too."""
    for word, target in zip(words, [*words[1:], ""], strict=True):
        if word.strip(_SIGNS) or ">" not in word:
            continue
        if target != "/dev/null" and not (word == ">&" and re.fullmatch(r"\d|-", target)):
            return True
    return False
