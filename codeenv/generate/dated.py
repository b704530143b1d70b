"""Tests whose ids tell the day: they would be others next year."""

import datetime
import re
from collections.abc import Iterable, Iterator

from codeenv.languages.base import Language, Layout
from codeenv.tree import Tree

_ESCAPED = re.compile(r"\\(x\w{2}|u\w{4}|U\w{8})")

_DAY = r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_YEAR = re.compile(rf"(?<!\d)(\d{{4}})(?:{_DAY}(?:\d{{4}}|\d{{6}})?)?(?!\d)")
"""A year, alone or at the beginning of a date without hyphens."""


def dated_ids(
    ids: Iterable[str], tree: Tree, layout: Layout, language: Language, today: datetime.date
) -> Iterator[str]:
    """Yield the ids with a year of about now in their parameters that no test file spells out.

    Such a year was asked of the clock when the tests were collected.  Smaller parts of a date come
    with the year, or change between two runs often enough to be seen.  The year in a comment or a
    docstring is nothing that an id is made of.
    """
    years = {str(today.year + offset) for offset in (-1, 0, 1)}
    files = (*layout.test_files, *layout.support_files)
    written = {year for path in files for year in _written(path, tree, language, years)}
    for test in ids:
        parameters = _ESCAPED.sub(" ", test.partition("[")[2])
        if not (years - written).isdisjoint(_YEAR.findall(parameters)):
            yield test


def _written(path: str, tree: Tree, language: Language, years: Iterable[str]) -> Iterator[str]:
    data = tree[path].data
    held = language.literals(path, data)
    text = data if held is None else "\n".join(map(str, held)).encode("utf-8", "surrogatepass")
    yield from (year for year in years if year.encode() in text)
