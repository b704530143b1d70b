"""Snapshots and data files of hidden tests: they hold what the deleted code returned.

Owns: which of them go.  Does not own: which tests are hidden (``hiding``).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from codeenv.languages.base import Layout
from codeenv.languages.python.data_files import unmissed_files
from codeenv.languages.python.edits import Label, applied, whole_file
from codeenv.languages.python.layout import SUPPORT_FILES
from codeenv.tasks.models import Operation, span_digest
from codeenv.tree import Tree

_GOLDEN = Label("", "test", "hide")
_SECTION = re.compile(rb"^# name: (.*?)\r?$", re.MULTILINE)
_END = re.compile(rb"^# ---[^\n]*(\n|\Z)", re.MULTILINE)
_CODE = (".py", ".pyi")
Names = tuple[str, ...]
"""Class names and the function name of a test."""


@dataclass(frozen=True)
class TestNames:
    """The test functions of one file.

    Attributes:
        path: The file.
        gone: Those that are hidden.
        kept: The others.
    """

    path: str
    gone: frozenset[Names]
    kept: frozenset[Names]

    __test__ = False

    def owns_section(self, title: str) -> bool:
        """Return whether a section, such as ``TestA.test_x[1].2``, is of a hidden test."""
        owners = _longest(title, {names: (".".join(names),) for names in self._every}, ".[")
        return bool(owners) and owners <= self.gone

    def owns_file(self, part: str, within: Collection[str]) -> bool:
        """Return whether a part of a path is made of the name of a hidden test.

        Args:
            part: A file's or folder's name, e.g. ``test_x_1_.yml``.
            within: Folders around it: the name of a class tells whose test it is.
        """
        spelt = {names: (names[-1], ".".join(names), "_".join(names)) for names in self._every}
        owners = _longest(part, spelt)
        classes = {name for names in owners for name in names[:-1]}.intersection(within)
        narrowed = {names for names in owners if classes.intersection(names)} or owners
        return bool(narrowed) and narrowed <= self.gone

    @property
    def _every(self) -> frozenset[Names]:
        return self.gone | self.kept


def hide_golden(
    tree: Tree, layout: Layout, operations: Iterable[Operation], tests: Iterable[TestNames]
) -> tuple[Operation, ...]:
    """Return the edits that take out what was recorded for tests that go.

    Args:
        tree: The tree the tests are taken out of.
        layout: Of the tree.
        operations: The edits that take them out.
        tests: The files they are in, and those of the same name.
    """
    data = _data_files(tree, layout)
    files = tuple(tests)
    found = [o for path in data if path.endswith(".ambr") for o in _sections(tree, path, files)]
    named = [p for p in data if _is_of_gone_test(p, _near(p, files))]
    cut = {o.path for o in found}
    left = _left(tree, [*operations, *found], named)
    unmissed = unmissed_files(tree, layout, left, [p for p in data if p in left and p not in cut])
    whole = sorted({*named, *unmissed} - cut)
    found += [whole_file(path, tree[path].data, _GOLDEN) for path in whole]
    return tuple(sorted(found, key=lambda o: (o.path, o.start)))


def _data_files(tree: Tree, layout: Layout) -> tuple[str, ...]:
    """Return the files of the tests that are neither code nor configuration."""
    return tuple(
        path
        for path in layout.support_files
        if not path.endswith(_CODE) and PurePosixPath(path).name not in SUPPORT_FILES
        if tree[path].mode != "link"
    )


def _left(
    tree: Tree, operations: Iterable[Operation], gone: Collection[str]
) -> Mapping[str, bytes]:
    """Return the files that stay, as they stay."""
    edits: dict[str, list[Operation]] = {}
    for operation in operations:
        edits.setdefault(operation.path, []).append(operation)
    left = {p: e.data for p, e in tree.items() if p not in gone and e.mode != "link"}
    for path, made in edits.items():
        left[path] = applied(tree[path].data, made)
        if not left[path]:
            del left[path]
    return left


def _sections(tree: Tree, path: str, files: Iterable[TestNames]) -> Iterator[Operation]:
    """Yield the edits that take the sections of hidden tests out of a file of syrupy."""
    place = PurePosixPath(path)
    test = str(place.parent.parent / f"{place.stem}.py")
    owner = next((file for file in files if file.path == test), None)
    data = tree[path].data
    titles = list(_SECTION.finditer(data)) if owner else []
    gone = []
    stops = [*(title.start() for title in titles[1:]), len(data)] if titles else []
    for title, stop in zip(titles, stops, strict=True):
        if owner and owner.owns_section(title[1].decode("utf-8", "replace")):
            gone.append((title.start(), _end(data, title.end(), stop)))
    if gone and len(gone) == len(titles):
        yield whole_file(path, data, _GOLDEN)
        return
    for start, end in gone:
        sha256 = span_digest(data[start:end])
        yield Operation(
            path=path, start=start, end=end, sha256=sha256, kind=_GOLDEN.kind, mode=_GOLDEN.mode
        )


def _end(data: bytes, start: int, following: int) -> int:
    """Return where a section ends: after its last line, or before the next one."""
    found = _END.search(data, start, following)
    return found.end() if found else following


def _near(path: str, files: Iterable[TestNames]) -> tuple[TestNames, ...]:
    """Return the test files that a folder around a file is named after, those nearest to it."""
    around = PurePosixPath(path).parts[:-1]
    ranked: dict[tuple[int, int], list[TestNames]] = {}
    for file in files:
        place = PurePosixPath(file.path)
        if place.stem in around:
            folders = place.parts[:-1]
            rank = len({*folders}.intersection(around)), -len(folders)
            ranked.setdefault(rank, []).append(file)
    return tuple(ranked[max(ranked)]) if ranked else ()


def _is_of_gone_test(path: str, files: Collection[TestNames]) -> bool:
    """Return whether a path has the names of a test file and of a hidden test of it."""
    parts = PurePosixPath(path).parts
    inner = [(f, parts[parts.index(PurePosixPath(f.path).stem) + 1 :]) for f in files]
    owned = [any(f.owns_file(part, rest[:-1]) for part in rest) for f, rest in inner]
    return bool(owned) and all(owned)


def _longest(
    text: str, spellings: Mapping[Names, Collection[str]], ends: str = ""
) -> frozenset[Names]:
    """Return whose spelling a text starts with, the longest one; all that share it.

    Args:
        text: The text.
        spellings: By what is spelt.
        ends: What may follow; anything but a letter or a digit if empty.
    """
    found: dict[str, set[Names]] = {"": set()}
    for names, every in spellings.items():
        for spelt in every:
            rest = text[len(spelt) : len(spelt) + 1]
            if text.startswith(spelt) and (rest in ends if ends else not rest.isalnum()):
                found.setdefault(spelt, set()).add(names)
    return frozenset(found[max(found, key=len)])
