"""Tests whose ids tell the day: they would be others next year."""

import datetime
import re
from collections.abc import Iterable, Iterator

from codeenv.languages.base import Layout
from codeenv.tree import Tree

_ESCAPED = re.compile(r"\\(x\w{2}|u\w{4}|U\w{8})")


def dated_ids(
    ids: Iterable[str], tree: Tree, layout: Layout, today: datetime.date
) -> Iterator[str]:
    """Yield the ids with a year of about now in their parameters that no test file spells out.

    Such a year was asked of the clock when the tests were collected.  Smaller parts of a date come
    with the year, or change between two runs often enough to be seen.
    """
    years = {str(today.year + offset) for offset in (-1, 0, 1)}
    files = [tree[path].data for path in (*layout.test_files, *layout.support_files)]
    written = {year for year in years if any(year.encode() in data for data in files)}
    for test in ids:
        parameters = _ESCAPED.sub(" ", test.partition("[")[2])
        if any(year in years - written for year in re.findall(r"\d+", parameters)):
            yield test
