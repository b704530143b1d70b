"""From commands to facts: what they install, set and test."""

import re
import shlex
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement

from codeenv.images.allowed import is_package
from codeenv.images.planning.facts import Fact
from codeenv.images.planning.shell import Command, is_python

_APT = frozenset({"apt", "apt-get", "aptitude"})
_IN_EVERY_BASE = re.compile(r"^(python3?([.-].*)?|pypy.*|pip|git|ca-certificates|sudo|apt-.*)$")
_RUNNERS = frozenset({"pytest", "py.test"})
_MODULES = frozenset({"pytest", "unittest", "nose", "nose2", "trial"})
_VALUED = frozenset({"-r", "--requirement", "-c", "--constraint", "-i", "--index-url", "-t", "-f"})


def facts_in(command: Command) -> Iterator[Fact]:
    """Yield what a command says; commands of other kinds say nothing."""
    words, place = command.words, command.place
    for variable in command.variables:
        if "$" not in variable:
            yield Fact("variable", variable, place)
    if not words:
        return
    if words[0] in _APT and "install" in words:
        for name in _apt_packages(words[words.index("install") + 1 :]):
            yield Fact("apt", name, place)
    elif words[0] == "export":
        yield from (Fact("variable", w, place) for w in words[1:] if "=" in w and "$" not in w)
    elif _is_pip(words):
        for name in _pip_requirements(words[words.index("install") + 1 :]):
            yield Fact("requirement", name, place)
    elif _runs_tests(words):
        yield Fact("test", shlex.join(words), place)


def _apt_packages(words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        name = word.partition("=")[0].partition(":")[0]
        if is_package(name) and not _IN_EVERY_BASE.match(name):
            yield name


def _is_pip(words: tuple[str, ...]) -> bool:
    programs = [word.rpartition("/")[2] for word in words[:3]]
    pip = next((n for n, word in enumerate(programs) if re.fullmatch(r"pip[\d.]*", word)), -1)
    started = pip == 0 or (pip > 0 and (is_python(words[0]) or programs[0] == "uv"))
    return started and "install" in words[pip + 1 : pip + 3]


def _pip_requirements(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the requirements among pip's arguments: no options, files or folders."""
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = word in _VALUED
        elif "/" not in word and not word.startswith(".") and not word.endswith((".whl", ".txt")):
            try:
                yield str(Requirement(word))
            except InvalidRequirement:
                continue


def _runs_tests(words: tuple[str, ...]) -> bool:
    if words[0].rpartition("/")[2] in _RUNNERS:
        return True
    if not is_python(words[0]):
        return False
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1] in _MODULES
    rest = [word for word in words[1:] if not word.startswith("-")]
    return bool(rest) and rest[0].endswith(".py") and _is_test_script(rest)


def _is_test_script(words: list[str]) -> bool:
    if words[0].rpartition("/")[2] == "setup.py":
        return words[1:2] == ["test"]
    return "test" in words[0].lower()
