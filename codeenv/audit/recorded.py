"""Snapshots of hidden tests that are left in the agent's tree: they show what code is to return."""

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from codeenv.audit.models import Leak
from codeenv.audit.secrets import Secrets
from codeenv.languages.base import Language
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.tree import suffix

_RECORDS = re.compile(r"(?i)snapshot|cassette|golden|approved|baseline|regression")
_TITLE = re.compile(rb"^# name: ([^\[\r\n]*)", re.MULTILINE)
_WORD = re.compile(rb"\w+")
_CODE = (".py", ".pyi")


def recorded_for_hidden(task: Task, secrets: Secrets, language: Language) -> Iterator[Leak]:
    """Yield a leak for each file that was recorded for a hidden test.

    It tells so by its path, or in its text where its folder or suffix says that it is a record.
    """
    files = without_git(task.workspace)
    tests = [path for path in task.layout.test_files if path in files]
    names = {path: language.identifiers(files[path].data) for path in tests}
    hidden = {_stem(test.partition("::")[0]) for test in task.recipe.feature_tests}
    for path, entry in files.items():
        *folders, name = PurePosixPath(path).parts
        around = {*folders, _stem(name)}
        is_record = suffix(name) == ".ambr" or any(map(_RECORDS.search, folders))
        if name.endswith(_CODE) or not (is_record or around & hidden):
            continue
        owners = [path for path in tests if _stem(path) in around]
        told = owners if owners or around & hidden else tests
        staying = frozenset().union(*(names[owner] for owner in told))
        found = _named_in_path((*folders, name), secrets.test_names, staying)
        found |= secrets.test_names & _words(name, entry.data) if is_record else frozenset()
        for test in sorted(found - staying):
            yield Leak("hidden_test", path, f"recorded for the hidden test {test}")


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _words(name: str, data: bytes) -> frozenset[str]:
    """Return the words that may be names of tests: in snapshot files of syrupy, of the titles."""
    told = b"\n".join(_TITLE.findall(data)) if suffix(name) == ".ambr" else data
    return frozenset(word.decode("utf-8", "replace") for word in _WORD.findall(told))


def _named_in_path(
    parts: Collection[str], tests: Collection[str], staying: Collection[str]
) -> frozenset[str]:
    """Return the tests that a part of a path is made of; not where it is made of a longer name."""
    found = set()
    for part in parts:
        for test in tests:
            if re.search(rf"(?<![^\W_]){re.escape(test)}(?![^\W_])", part):
                longer = (name for name in staying if test in name and name in part)
                found |= set() if any(longer) else {test}
    return frozenset(found)
