"""What an agent must not find: fingerprints of the deleted code and of the hidden tests."""

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from codeenv.audit.fingerprint import (
    Function,
    functions_of,
    shingles,
    telling_words,
    uncommented,
    words_in_order,
)
from codeenv.audit.order import telling_lines
from codeenv.languages.base import Language, Unit
from codeenv.materialise.brief import all_units, deleted_code, deleted_units, hidden_names
from codeenv.materialise.common import is_telling
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.materialise.secrets import secret_hash, secret_hashes, vanished_names
from codeenv.tasks.models import Operation, span_digest
from codeenv.tree import Tree

__all__ = ["Passage", "Secrets", "secret_hash", "secret_hashes", "secrets_of"]

LEAST_SHINGLES = 12
"""A shorter text is too common to mean anything."""
LEAST_NODES = 25
_PROBES = 3
_PACKED_BETTER = 0.7
"""Share of what zlib makes of a text that other ways of packing may make of it."""
_DELETING = frozenset({"remove", "stub"})


@dataclass(frozen=True)
class Passage:
    """A text whose copies are leaks.

    Attributes:
        owner: ``path::name`` of what it was taken from.
        shingles: Its runs of six tokens.
        words: Its telling names, the longest first.
        shape: Hash of its syntax tree, or "" where it is too small to tell.
        size: Nodes of its syntax tree.
        anchors: What every function of that shape holds.
        packed: Bytes that it takes if it is packed well.
        lines: Its longer lines, squeezed.
        order: Its names, one after the other.
    """

    owner: str
    shingles: frozenset[int]
    words: tuple[str, ...]
    shape: str = ""
    size: int = 0
    anchors: frozenset[str] = frozenset()
    packed: int = 0
    lines: tuple[bytes, ...] = ()
    order: tuple[bytes, ...] = ()

    @cached_property
    def probes(self) -> tuple[bytes, ...]:
        """The most telling names, as they are looked for."""
        return tuple(word.encode() for word in self.words[:_PROBES])

    @cached_property
    def encoded_anchors(self) -> tuple[bytes, ...]:
        """The anchors as they are looked for, the rarest most likely first."""
        return tuple(a.encode() for a in sorted(self.anchors, key=lambda a: (-len(a), a)))


@dataclass(frozen=True)
class Secrets:
    """All that must not be readable.

    Attributes:
        code: Deleted functions.
        tests: Hidden tests.
        names: Vanished names that the statement does not tell.
        lines: Deleted lines that a statement may not quote.
        test_names: Names of hidden tests, which a statement may not tell.
        test_files: Names of the files that they are in.
        declared: Deleted functions and classes whose declarations the statement may not tell.
    """

    code: tuple[Passage, ...]
    tests: tuple[Passage, ...]
    names: frozenset[str]
    lines: frozenset[str]
    test_names: frozenset[str]
    test_files: frozenset[str]
    declared: frozenset[str]

    @cached_property
    def least(self) -> int:
        """Bytes below which nothing can hold a deleted function, however it is packed."""
        sizes = [p.packed for p in self.code if len(p.shingles) >= LEAST_SHINGLES]
        return round(min(sizes, default=0) * _PACKED_BETTER)


def secrets_of(task: Task, language: Language) -> Secrets:
    """Return the secret set of a task: from the oracle and the pristine tests it carries."""
    damaged = without_git(task.workspace)
    pristine = task.grading_tree.apply(task.oracle)
    stated = frozenset(re.findall(r"\w+", task.instruction))
    vanished = vanished_names(pristine, damaged, language)
    deleted = deleted_units(task.recipe, all_units(pristine, task.layout, language))
    deletions = [o for o in task.recipe.deletions if o.mode in _DELETING]
    return Secrets(
        code=(*_passages(pristine, deletions), *_arms(pristine, deletions, deleted)),
        tests=_passages(pristine, task.recipe.hidden, nested=False),
        names=frozenset(n for n in vanished - stated if is_telling(n)),
        declared=frozenset(
            unit.name.rpartition(".")[2] for unit in deleted if task.recipe.level < "L3"
        ),
        lines=deleted_code(deleted, pristine),
        test_files=frozenset(
            test.partition("::")[0].rpartition("/")[2] for test in task.recipe.feature_tests
        ),
        test_names=hidden_names(
            task.recipe, language.visible_tests(pristine, damaged, task.recipe.feature_tests)
        ),
    )


def _passages(
    pristine: Tree, edits: Iterable[Operation], *, nested: bool = True
) -> tuple[Passage, ...]:
    spans: dict[str, list[tuple[int, int]]] = {}
    for edit in edits:
        before = pristine[edit.path].data if edit.path in pristine else b""
        if span_digest(before[edit.start : edit.end]) == edit.sha256:
            first = before.count(b"\n", 0, edit.start) + 1
            last = before.count(b"\n", 0, max(edit.end - 1, edit.start)) + 1
            spans.setdefault(edit.path, []).append((first, last))
    return tuple(
        passage_of(path, function)
        for path in sorted(spans)
        for function in _chosen(functions_of(pristine[path].data), nested=nested)
        if any(first <= function.first and function.last <= last for first, last in spans[path])
    )


def _arms(pristine: Tree, edits: Iterable[Operation], deleted: Iterable[Unit]) -> Iterator[Passage]:
    """Yield the pieces of functions that go with a parameter; its documentation is none."""
    starts = {(u.path, u.name): u.start for u in deleted if u.kind == "parameter"}
    for edit in edits:
        start = starts.get((edit.path, edit.symbol))
        before = pristine[edit.path].data if edit.path in pristine else b""
        if start is not None and before.count(b"\n", 0, edit.end) >= start - 1:
            text = before[edit.start : edit.end].decode("utf-8", "replace")
            owner = f"{edit.path}::{edit.symbol}"
            packed = len(zlib.compress(text.encode(), 9))
            yield Passage(
                owner,
                shingles(text),
                telling_words(text),
                packed=packed,
                lines=telling_lines(uncommented(text)),
                order=words_in_order(text),
            )


def _chosen(functions: tuple[Function, ...], *, nested: bool) -> tuple[Function, ...]:
    if nested:
        return functions
    spans = {(f.first, f.last) for f in functions}
    return tuple(
        f
        for f in functions
        if not any(a <= f.first and f.last <= b and (a, b) != (f.first, f.last) for a, b in spans)
    )


def passage_of(path: str, function: Function) -> Passage:
    """Return what copies and twins of a function are known by."""
    large = function.size >= LEAST_NODES
    return Passage(
        owner=f"{path}::{function.name}",
        shingles=shingles(function.body),
        words=telling_words(function.body),
        shape=function.shape if large else "",
        size=function.size,
        anchors=function.anchors,
        packed=len(zlib.compress(function.body.encode("utf-8", "surrogatepass"), 9)),
        lines=telling_lines(uncommented(function.body)),
        order=words_in_order(function.body),
    )
