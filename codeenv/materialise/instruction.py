"""The task statement, from a template: the same recipe gives the same text.

Levels, each saying all that the one before says and more: L1 the symptom, L2 every behaviour and
error message, L3 names, places and signatures, L4 docstrings, L5 the tests themselves are visible.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from codeenv.languages.base import Language, SymbolDoc
from codeenv.materialise.brief import Brief, gather
from codeenv.materialise.numbers import spelt
from codeenv.tasks.models import Level, Recipe
from codeenv.tree import Tree

_SYMPTOMS = 5
_MOST = 80
_SOME_TESTS = 10
"""Visible tests that are named where the tests are not what the statement is about."""
_SENTENCE = 4
"""Phrases of fewer words are told in a row."""
_CHECKED = (
    "Your work is checked by running the repository's own tests for this feature{seen}; "
    "everything else must keep passing."
)
_UNSEEN = ", which you do not see"
_PARTLY_SEEN = ", of which you see only some"
_COUNTS = (
    "Only changes to the project's own code count: changes to tests, to their configuration and to "
    "packaging files are ignored.  There is no network; all that is needed is installed."
)


def write_instruction(
    recipe: Recipe, pristine: Tree, damaged: Tree, language: Language, *, level: Level | None = None
) -> str:
    """Return the statement of a recipe.

    Args:
        recipe: The task as facts.
        pristine: The original tree, of which signatures and summaries are told.
        damaged: What the agent gets.
        language: Of the repository.
        level: How much is told; the recipe's level if None.
    """
    return render(gather(recipe, pristine, damaged, language), level or recipe.level)


def render(brief: Brief, level: Level) -> str:
    """Return the statement that a brief gives at a level."""
    parts = [_opening(brief, level)]
    if level >= "L3":
        parts.append(_missing(brief, docstrings=level >= "L4"))
    parts += [_behaviours(brief, level), _messages(brief, level), _numbers(brief, level)]
    if level >= "L3":
        parts += [_examples(brief), _names(brief)]
    parts.append(_checking(brief, _MOST if level >= "L5" else _SOME_TESTS))
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(brief: Brief, level: Level) -> str:
    if level < "L3":
        amount = "All" if set(brief.paths) == set(brief.gone) else "Part"
        return (
            "# A feature is missing\n\n"
            f"{amount} of {_listed(brief.paths)} was taken out of this repository, and what it did "
            "does not work any more.  Find out what is missing and implement it again."
        )
    if brief.symbols and all(doc.unit.kind == "parameter" for doc in brief.symbols):
        state = (
            "The function is there, but it neither takes the parameter nor does what that asks for."
        )
    elif brief.stubbed:
        state = "Its functions are still declared, but their bodies only raise an error."
    else:
        state = "Its code was deleted, with the imports and exports that belong to it."
    return (
        f"# {brief.title}\n\n"
        f"One feature is missing from this repository.  {state}  Implement it again, in the "
        "places named here, so that it behaves as described and fits the code around it."
    )


def _missing(brief: Brief, *, docstrings: bool) -> str:
    lines = ["## What is missing"]
    for path, docs in groupby(brief.symbols, key=lambda doc: doc.unit.path):
        gone = " (the whole file is gone)" if path in brief.gone else ""
        lines += ["", f"In `{path}`{gone}:"]
        for doc in docs:
            left = (
                " (still there; a part of it was deleted)" if doc.unit.id in brief.partial else ""
            )
            lines += ["", f"- `{doc.unit.name}`{left}", "", *_symbol(doc, docstrings=docstrings)]
    silent = [p for p in brief.gone if p not in {d.unit.path for d in brief.symbols}]
    if silent:
        lines += ["", f"These files are gone as a whole: {_listed(silent)}."]
    if brief.exports:
        lines += ["", f"Imports or exports of it are also gone from {_listed(brief.exports)}."]
    if brief.registered:
        lines += ["", "It was registered, and is not any more:"]
        lines += [
            "",
            *(
                f"- `{where}` in `{path}`: {_code(entry)}"
                for where, path, entry in brief.registered
            ),
        ]
    return "\n".join(lines) if len(lines) > 1 else ""


def _symbol(doc: SymbolDoc, *, docstrings: bool) -> Iterator[str]:
    code = dict.fromkeys((*doc.decorators, *doc.signature.splitlines()))
    yield from ("  ```", *(f"  {line}".rstrip() for line in code), "  ```") if code else ()
    if doc.bases and not all(base in doc.signature for base in doc.bases):
        yield f"  Derives from {_listed(doc.bases)}."
    if docstrings and doc.docstring.strip():
        yield "  Its documentation:"
        yield ""
        yield from (f"      {line}".rstrip() for line in doc.docstring.strip().splitlines())
        yield ""
    elif doc.summary:
        yield f"  {' '.join(doc.summary.split())}"
    if doc.raises:
        yield f"  Raises {_listed(doc.raises)}."


def _behaviours(brief: Brief, level: Level) -> str:
    """Render what tests are about: sentences one by one, bare words in a row."""
    most = _SYMPTOMS if level == "L1" else _MOST
    if not brief.behaviours:
        return ""
    title = "## What does not work" if level < "L3" else "## What it must do"
    told = brief.behaviours[:most]
    bare = [b for b in told if len(b.split()) < _SENTENCE]
    lines = [f"- {b[0].upper()}{b[1:]}." for b in told if b not in bare]
    if bare:
        lines.append(f"- Tests cover: {'; '.join(bare)}.")
    more = len(brief.behaviours) - most
    if more > 0 and level != "L1":
        lines.append(f"- … and {more} more of this kind")
    return "\n".join([title, "", *lines])


def _examples(brief: Brief) -> str:
    if not brief.examples:
        return ""
    title = "## Examples\n\nSome of what the tests expect:"
    return "\n".join([title, "", "```", *brief.examples, "```"])


def _messages(brief: Brief, level: Level) -> str:
    if not brief.messages or level < "L2":
        return ""
    title = "## Messages\n\nThese texts (some are regular expressions) are expected:"
    return "\n".join([title, "", *(f"- {_code(text)}" for text in brief.messages[:_MOST])])


def _numbers(brief: Brief, level: Level) -> str:
    if not brief.numbers or level < "L2":
        return ""
    told = "Tests of the feature also use these numbers, which the code that is left does not have"
    return f"## Numbers\n\n{told}: {_listed(map(spelt, brief.numbers))}."


def _names(brief: Brief) -> str:
    if not brief.names:
        return ""
    told = "Tests of the feature also use these names, which the code that is left does not have"
    return f"## Names\n\n{told}: {_listed(brief.names)}."


def _checking(brief: Brief, most: int) -> str:
    seen = (_PARTLY_SEEN if brief.tests else _UNSEEN) if brief.unseen else ""
    told = f"{_CHECKED.format(seen=seen)}  {_COUNTS}"
    tests = [f"- {_code(test)}" for test in brief.tests[:most]]
    more = len(brief.tests) - most
    tests += [f"- … and {more} more that you see"] if more > 0 else []
    return "\n".join(["## How it is checked", "", told, *([""] if tests else []), *tests])


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _code(text: str) -> str:
    """Return a Markdown code span of any text on one line."""
    flat = text.replace("\n", "\\n").replace("\r", "\\r")
    fence = "``" if "`" in flat else "`"
    pad = " " if "`" in flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"
