"""Which tests a run of tests ran, by its command line."""

import re
from collections.abc import Callable, Sequence

from codeenv.feedback.code import test_runs
from codeenv.feedback.options import inside
from codeenv.feedback.shell import is_test_run
from codeenv.feedback.words import commands, program, python_in

_VALUES = frozenset(
    "-k -m -n -p -c -o -W -r --maxfail --tb --rootdir --confcutdir --basetemp --junitxml --cov "
    "--timeout --durations --deselect --ignore --ignore-glob".split()
)
_LEFT_OUT = ("--deselect", "--ignore")
_LAST_FAILED = frozenset("--lf --last-failed".split())
_EXIT_FIRST = re.compile(r"-[qvsl]*x[qvsl]*")
_FIRST_ENDS = frozenset("--exitfirst --maxfail --sw --stepwise".split())


def covers(command: str, *, failed: bool) -> Callable[[str], bool]:
    """Return whether a run covered a test, by its id.

    What cannot be told, because another program chose the tests, is taken as covered.

    Args:
        command: The line.
        failed: Whether the run failed: it may have ended at the first failure then.
    """
    found = [one.words for one in commands(command) or () if is_test_run(one.words)]
    chosen = [arguments for words in found for arguments in _arguments(words)]

    def covered(name: str) -> bool:
        told = (args is None or _selected(args, name, failed=failed) for args in chosen)
        return not chosen or any(told)

    return covered


def _arguments(words: Sequence[str]) -> Sequence[Sequence[str] | None]:
    """Return pytest's arguments in each of its runs; None stands for those of another program."""
    asked = python_in(words)
    if asked is not None and asked.kind == "c":
        return test_runs(asked.what) or [None]
    if asked is not None:
        return [asked.arguments if (asked.kind, asked.what) == ("m", "pytest") else None]
    return [words[1:] if program(words) in ("pytest", "py.test") else None]


def _selected(arguments: Sequence[str], name: str, *, failed: bool) -> bool:
    flags = {word.partition("=")[0] for word in arguments}
    if failed and any(flag in _FIRST_ENDS or _EXIT_FIRST.fullmatch(flag) for flag in flags):
        return False
    if not flags.isdisjoint(_LAST_FAILED):
        return True
    places, word, out = [], "", []
    for before, one in zip(("", *arguments), arguments, strict=False):
        flag, _, value = one.partition("=")
        if flag in _LEFT_OUT and value:
            out.append(value)
        elif before in _LEFT_OUT:
            out.append(one)
        elif before == "-k":
            word = one
        elif before not in _VALUES and not one.startswith("-") and _is_place(one):
            places.append(one)
    if any(_within(name, place) for place in out):
        return False
    if word.isidentifier() and word not in ("not", "and", "or"):
        chosen = word.lower() in name.lower()
    else:  # an expression
        chosen = True
    return chosen and (not places or any(_within(name, place) for place in places))


def _is_place(word: str) -> bool:
    return "/" in word or "::" in word or word.endswith(".py") or word in (".", "test", "tests")


def _within(name: str, place: str) -> bool:
    """Return whether a test's id lies at a place; either may be told from another folder."""
    file, colons, rest = place.partition("::")
    path = inside(file)
    if path in (".", "..") or "*" in path or "$" in path:
        return True
    wanted, known = f"/{path.lstrip('./')}{colons}{rest}", f"/{name}"
    at = known.find(wanted)
    if at >= 0 and known[at + len(wanted) :][:1] in ("", "/", ":", "["):
        return True
    return wanted.partition("::")[0].endswith("/" + name.partition("::")[0]) and (
        not rest or name.partition("::")[2].startswith(rest)
    )
