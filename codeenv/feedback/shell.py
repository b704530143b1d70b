"""Questions about a command line: does it run tests or code, and does it plainly change nothing."""

import re
from collections.abc import Sequence

from codeenv.feedback.code import command_lines, test_runs
from codeenv.feedback.words import SHELLS, TARGETS, Command, commands, program, python_in

_TEST_FILE = re.compile(r"(?:[^\n]*/)?(test_[\w-]*|[\w-]+_test)\.py")
_TEST_SCRIPT = re.compile(r"run[_-]?(unit)?tests?(\.(py|sh))?|tests?\.(py|sh)")
_TEST_WORD = re.compile(r"\b(pytest|py\.test|unittest|tox|nox|nose2)\b|\bmake (test|check)")
_HINTS_AT_TESTS = re.compile(r"test|tox|nox|nose|check|unit")

_TESTERS = frozenset("pytest py.test tox nox nose2 unittest".split())
_MAKERS = frozenset("make just hatch".split())
_MANAGERS = frozenset("manage.py setup.py".split())
_SHOWS = frozenset(
    "--version -V --help -h --collect-only --co --fixtures --fixtures-per-test --markers "
    "--setup-plan --cache-show".split()
)
_LISTS = {
    **dict.fromkeys(("tox", "nox"), frozenset("-l -a --list --list-sessions --listenvs".split())),
    **dict.fromkeys(_MAKERS, frozenset("-n --dry-run --just-print --list".split())),
}
"""Options by which a program only tells what it would run."""

_READERS = frozenset(
    "ls cat head tail grep egrep fgrep rg wc pwd echo printf true false test [ nl file stat du "
    "cut tr diff cmp which basename dirname realpath cd for done fi find sed git sort }".split()
)
_FIND = re.compile(r"-(exec|ok|delete|fprint|fls)")
_SED = re.compile(r"[\d,$;p\s]+")
_GIT = frozenset("status diff log show blame ls-files grep rev-parse branch".split())
_STREAM = re.compile(r"\d|-")


def runs_tests(command: str) -> bool:
    """Return whether a command line runs tests; one that cannot be read, if it speaks of it."""
    if not _HINTS_AT_TESTS.search(command):
        return False
    found = commands(command)
    if found is None:
        return _TEST_WORD.search(command) is not None
    return any(is_test_run(one.words) for one in found)


def runs_code(command: str) -> bool:
    """Return whether a command line runs Python code that is no program of others."""
    return any(map(_is_own_code, commands(command) or ()))


def only_reads(command: str) -> bool:
    """Return whether a command line plainly changes no file; what is not known may."""
    found = commands(command)
    return found is not None and all(map(_reads, found))


def is_test_run(words: Sequence[str]) -> bool:
    """Return whether one simple command runs tests."""
    name, arguments, asked = program(words), words[1:], python_in(words)
    if asked is not None:
        name, arguments = asked.what.partition(".")[0], asked.arguments
    if _SHOWS.intersection(arguments) or _LISTS.get(name, frozenset()).intersection(arguments):
        return False
    if asked is not None and asked.kind == "c":
        ran = any(_SHOWS.isdisjoint(given or ()) for given in test_runs(asked.what))
        return ran or any(map(runs_tests, command_lines(asked.what)))
    if asked is not None:
        tester = asked.kind == "m" and name in _TESTERS | {"doctest"}
        return tester or (asked.kind == "file" and _is_test_file(asked.what, arguments))
    if name in SHELLS:
        script = next((word for word in arguments if not word.startswith("-")), "")
        return _TEST_SCRIPT.fullmatch(program([script])) is not None
    if name in _MAKERS:
        return not TARGETS.isdisjoint(arguments)
    if name == "tox" and arguments[:1] in (("list",), ("l",), ("config",)):
        return False
    return name in _TESTERS or _TEST_SCRIPT.fullmatch(name) is not None


def redirected_to(command: Command) -> list[str]:
    """Return the files that the output of a command goes to."""
    return [
        target
        for sign, target in command.redirects
        if ">" in sign
        and target != "/dev/null"
        and not (sign.endswith(">&") and _STREAM.fullmatch(target))
    ]


def _is_test_file(path: str, arguments: Sequence[str]) -> bool:
    name = program([path])
    if name in _MANAGERS:
        return arguments[:1] == ("test",)
    return bool(_TEST_FILE.fullmatch(path) or _TEST_SCRIPT.fullmatch(name))


def _is_own_code(command: Command) -> bool:
    asked = python_in(command.words)
    if asked is None:
        return False
    if asked.kind == "stdin":
        return any("<" in sign for sign, _ in command.redirects)
    return asked.kind == "c" or (asked.kind == "file" and program([asked.what]) not in _MANAGERS)


def _reads(command: Command) -> bool:
    words = command.words
    told = (*words, *(target for _, target in command.redirects))
    if redirected_to(command) or any("`" in word or "$(" in word for word in told):
        return False
    return not words or (words[0] in _READERS and _own_way(words))


def _own_way(words: Sequence[str]) -> bool:
    """Return whether a reading program is asked for nothing but reading."""
    if words[0] == "find":
        return not any(_FIND.match(word) for word in words)
    if words[0] == "sed":
        return words[1:2] == ("-n",) and len(words) > 2 and bool(_SED.fullmatch(words[2]))
    if words[0] == "git":
        asked = words[1:2]
        plain = not any(w.startswith(("--output", "-o", "-O", "--ext")) for w in words)
        told = asked != ("branch",) or len(words) == 2
        return bool(_GIT.intersection(asked)) and plain and told
    return not any(word.startswith(("--pre", "-o", "--output")) for word in words)
