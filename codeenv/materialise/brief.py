"""Gathers what a statement may say of a deleted feature, from the pristine tree."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codeenv.languages.base import Language, Layout, SymbolDoc, Unit
from codeenv.materialise.common import PLAIN_METHODS
from codeenv.materialise.numbers import expected_numbers
from codeenv.materialise.secrets import vanished_names
from codeenv.materialise.texts import expected_texts
from codeenv.tasks.models import Recipe
from codeenv.tree import Tree

_UNIT_KINDS = frozenset({"function", "method", "class", "parameter"})
_DELETING = frozenset({"remove", "stub"})
_QUOTED_LINE = 25
_SIGNATURE = re.compile(r"^(async\s+def|def|class)\b|^@")
_PLAIN_WORD = re.compile(r"^[a-z]{1,11}$")


@dataclass(frozen=True)
class Brief:
    """What is known of a feature, already free of code and of hidden tests' names.

    Attributes:
        title: Of the task.
        paths: Files the feature is taken from.
        gone: The ones among them that do not exist any more.
        exports: Other files from which imports or exports of the feature were taken.
        symbols: What is missing, by path and position.
        stubbed: Whether the signatures are still in place.
        behaviours: What the tests speak of, one phrase each.
        messages: Texts that tests expect: in errors, and where nobody could guess them.
        numbers: Numbers that tests use and nobody could guess.
        names: Vanished names that the tests use, those in ``symbols`` excepted.
        examples: Some calls with their results.
        partial: Ids of the ``symbols`` that are still defined, with a part of their code.
        registered: Entries of registries that the feature had: the registry, its file, the entry.
        tests: Ids of the feature's tests that the agent sees.
        unseen: Whether there are others.
    """

    title: str
    paths: tuple[str, ...]
    gone: tuple[str, ...]
    exports: tuple[str, ...]
    symbols: tuple[SymbolDoc, ...]
    stubbed: bool
    behaviours: tuple[str, ...]
    messages: tuple[str, ...]
    names: tuple[str, ...]
    tests: tuple[str, ...] = ()
    unseen: bool = True
    examples: tuple[str, ...] = ()
    partial: frozenset[str] = frozenset()
    registered: tuple[tuple[str, str, str], ...] = ()
    numbers: tuple[complex, ...] = ()


def gather(recipe: Recipe, pristine: Tree, damaged: Tree, language: Language) -> Brief:
    """Return the brief of a recipe; ``damaged`` is what the agent gets."""
    layout = language.layout(pristine)
    facts = language.test_facts(pristine, recipe.feature_tests)
    deleted = deleted_units(recipe, all_units(pristine, layout, language))
    registered = tuple(_registered(recipe, pristine, language))
    stubbed = all(o.mode != "remove" for o in recipe.deletions)
    words = _words(entry for _, _, entry in registered)
    told_of = told_units(deleted, facts.names | words, every=stubbed)
    units = sorted((*_deleted_files(recipe, layout), *told_of), key=lambda unit: unit.path)
    described = [language.describe(pristine, unit) for unit in units]
    docs = _merged([doc for doc in described if doc.unit.kind != "module" or _says(doc)])
    told = _words(
        text for d in docs for text in (d.unit.name, d.signature, *d.decorators, *d.raises)
    )
    vanished = names_to_tell(recipe, pristine, damaged, language)
    expected = texts_to_tell(recipe, pristine, damaged, language)
    visible = language.visible_tests(pristine, damaged, recipe.feature_tests)
    allowed = _Filter(deleted_code(deleted, pristine), hidden_names(recipe, visible))
    paths = _paths(recipe, layout)
    return Brief(
        title=recipe.title,
        paths=paths,
        gone=tuple(p for p in paths if p not in damaged),
        exports=_exports(recipe, layout, paths, pristine, language),
        symbols=docs,
        stubbed=bool(docs) and stubbed,
        behaviours=allowed.of(facts.behaviours),
        messages=allowed.of((*facts.messages, *(texts[0] for texts in expected.values()))),
        names=tuple(sorted(vanished - told)),
        tests=visible,
        unseen=len(visible) < len(recipe.feature_tests),
        examples=_fitting(allowed.of(facts.examples), docs),
        partial=still_defined(recipe, damaged, layout, language),
        registered=registered,
        numbers=numbers_to_tell(recipe, pristine, damaged, language),
    )


def names_to_tell(
    recipe: Recipe, pristine: Tree, damaged: Tree, language: Language
) -> frozenset[str]:
    """Return the names that the feature's tests use and that only deleted code used."""
    vanished = vanished_names(pristine, damaged, language)
    used = language.test_facts(pristine, recipe.feature_tests).names
    return used & vanished - PLAIN_METHODS


def texts_to_tell(
    recipe: Recipe, pristine: Tree, damaged: Tree, language: Language
) -> dict[str, tuple[str, ...]]:
    """Return the texts that tests expect and only the deleted code held (``expected_texts``)."""
    pieces = (piece for doc in _deleted_docs(recipe, pristine, language) for piece in doc.texts)
    texts = language.test_facts(pristine, recipe.feature_tests).texts
    return expected_texts(pieces, texts, damaged)


def numbers_to_tell(
    recipe: Recipe, pristine: Tree, damaged: Tree, language: Language
) -> tuple[complex, ...]:
    """Return the numbers that tests use and only the deleted code held (``expected_numbers``)."""
    deleted = (n for doc in _deleted_docs(recipe, pristine, language) for n in doc.numbers)
    tested = language.test_facts(pristine, recipe.feature_tests).numbers
    return expected_numbers(deleted, tested, damaged, language)


def _deleted_docs(recipe: Recipe, pristine: Tree, language: Language) -> Iterator[SymbolDoc]:
    layout = language.layout(pristine)
    units = deleted_units(recipe, all_units(pristine, layout, language))
    for unit in (*_deleted_files(recipe, layout), *units):
        yield language.describe(pristine, unit)


def _deleted_files(recipe: Recipe, layout: Layout) -> list[Unit]:
    return [
        Unit(o.path, o.symbol, "module", 1, 1, 1, ())
        for o in recipe.deletions
        if o.kind == "module" and o.path in layout.source_files
    ]


def all_units(tree: Tree, layout: Layout, language: Language) -> tuple[Unit, ...]:
    """Return everything that a recipe can delete and that has a name."""
    return (*language.units(tree, layout), *language.parameters(tree, layout))


def deleted_units(recipe: Recipe, units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the units a recipe deletes, members of deleted classes among them, in file order.

    A parameter is one where it goes and its function stays.
    """
    edits = [o for o in recipe.deletions if o.mode in _DELETING]
    symbols = {(o.path, o.symbol) for o in edits if o.kind in _UNIT_KINDS}
    modules = {o.path for o in edits if o.kind == "module"}
    whole = [u for u in units if u.kind != "parameter"]
    named = [u for u in units if (u.path, u.name) in symbols]
    named += [u for u in whole if u.path in modules]
    classes = [u for u in named if u.kind == "class"]
    members = [u for u in whole if any(_inside(u, c) for c in classes)]
    return tuple(sorted({*named, *members}, key=lambda u: (u.path, u.start, u.name)))


def still_defined(
    recipe: Recipe, damaged: Tree, layout: Layout, language: Language
) -> frozenset[str]:
    """Return the ids of units that lose a part of their code, and no more."""
    removed = {f"{o.path}::{o.symbol}" for o in recipe.deletions if o.mode == "remove"}
    left = replace(layout, source_files=tuple(p for p in layout.source_files if p in damaged))
    return frozenset(u.id for u in language.units(damaged, left) if u.id in removed)


def told_units(deleted: Sequence[Unit], used: frozenset[str], *, every: bool) -> tuple[Unit, ...]:
    """Return the deleted units a statement names: public ones, those the tests use, or every one.

    What is still declared must be written again in its place; how else a feature is divided into
    private parts is nobody's concern.
    """
    functions = [u for u in deleted if u.kind != "class"]
    outer = [u for u in deleted if not any(_inside(u, f) for f in functions)]
    told = [u for u in outer if every or u.public or _spoken(u) in used or _is_special(u, used)]
    return tuple(told or outer)


def deleted_code(deleted: Iterable[Unit], pristine: Tree) -> frozenset[str]:
    """Return the stripped lines of at least 25 characters of deleted bodies.

    Signatures and docstrings are no code in this sense: a statement may tell them.
    """
    bodies: set[str] = set()
    headers: set[str] = set()
    for unit in deleted:
        text = pristine[unit.path].data.decode("utf-8", "replace").split("\n")
        headers.update(line.strip() for line in text[unit.start - 1 : unit.body - 1])
        if unit.kind != "class":
            bodies.update(line.strip() for line in text[unit.body - 1 : unit.end])
    code = bodies - headers
    return frozenset(t for t in code if len(t) >= _QUOTED_LINE and not _SIGNATURE.match(t))


def hidden_names(recipe: Recipe, visible: Iterable[str]) -> frozenset[str]:
    """Return the function names of the feature's tests that no visible test gives away."""
    told = frozenset(word for test in visible for word in re.findall(r"\w+", test))
    names = {test.partition("[")[0].rpartition("::")[2] for test in recipe.feature_tests}
    return frozenset(name for name in names - told if not _PLAIN_WORD.match(name))


class _Filter:
    """Drops phrases that quote deleted code or name a hidden test."""

    def __init__(self, code: frozenset[str], hidden: frozenset[str]) -> None:
        self._code, self._hidden = code, hidden

    def of(self, phrases: Iterable[str]) -> tuple[str, ...]:
        """Return the phrases that may be told, each once, in order."""
        return tuple(p for p in dict.fromkeys(phrases) if p.strip() and self._may(p))

    def _may(self, phrase: str) -> bool:
        if self._hidden & frozenset(re.findall(r"\w+", phrase)):
            return False
        return not any(line in phrase for line in self._code)


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", " ".join(texts)))


def _registered(
    recipe: Recipe, pristine: Tree, language: Language
) -> Iterator[tuple[str, str, str]]:
    """Yield what registries lost: like a decorator, an entry is told as it was written."""
    for edit in recipe.deletions:
        entry = language.registration(pristine, edit)
        if entry:
            yield edit.symbol, edit.path, entry


def _paths(recipe: Recipe, layout: Layout) -> tuple[str, ...]:
    deleting = {o.path for o in recipe.deletions if o.mode in _DELETING}
    return tuple(sorted(deleting & frozenset(layout.source_files) or deleting))


def _says(doc: SymbolDoc) -> bool:
    return bool(doc.signature or doc.docstring)


def _merged(docs: Sequence[SymbolDoc]) -> tuple[SymbolDoc, ...]:
    """Return the docs without those whose signatures a later one of the same name repeats."""
    kept: list[SymbolDoc] = []
    for doc in reversed(docs):
        later = [d.signature.splitlines() for d in kept if d.unit.id == doc.unit.id]
        if not any(set(doc.signature.splitlines()) <= set(lines) for lines in later):
            kept.append(doc)
    return tuple(reversed(kept))


def _fitting(examples: Sequence[str], docs: Sequence[SymbolDoc]) -> tuple[str, ...]:
    """Return the examples that name what is missing; all of them if none does."""
    names = {_spoken(doc.unit) for doc in docs}
    naming = tuple(e for e in examples if not names.isdisjoint(re.findall(r"\w+", e)))
    return naming or tuple(examples)


def _exports(
    recipe: Recipe, layout: Layout, paths: Sequence[str], pristine: Tree, language: Language
) -> tuple[str, ...]:
    cleaned = {
        o.path
        for o in recipe.deletions
        if (o.kind == "export" and not language.registration(pristine, o))
        or (o.kind == "import" and o.path not in paths)
    }
    return tuple(sorted(cleaned & frozenset(layout.source_files)))


def _inside(unit: Unit, outer: Unit) -> bool:
    nested = unit.name.startswith(f"{outer.name}.") and unit.path == outer.path
    return nested and outer.start <= unit.start and unit.end <= outer.end


def _last(unit: Unit) -> str:
    return unit.name.rsplit(".", 1)[-1]


def _is_special(unit: Unit, used: frozenset[str]) -> bool:
    """Return whether a unit is a special method of a class that is told of."""
    name, owners = _last(unit), unit.parent.split(".")
    known = owners[-1] in used or not any(owner.startswith("_") for owner in owners)
    return unit.kind == "method" and known and name.startswith("__") and name.endswith("__")


def _spoken(unit: Unit) -> str:
    """Return what a test calls a unit; it gives a parameter by its own name."""
    return (
        unit.name.removesuffix(")").rpartition("(")[2] if unit.kind == "parameter" else _last(unit)
    )
