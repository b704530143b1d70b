"""How large the tasks of a run are, and what its agents changed."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from codeenv.tasks.models import Recipe
from codeenv_harness.metrics import Usage
from codeenv_harness.report.facts import Sizes

_MOST = 1e15


def sizes_of(usage: Sequence[Usage], words: Mapping[str, int], recipes: Iterable[Recipe]) -> Sizes:
    """Return the medians.

    Args:
        usage: Of each valid rollout.
        words: Task -> words of its instruction.
        recipes: Of the tasks, as far as they are known.
    """
    hard = [recipe.difficulty for recipe in recipes]
    return Sizes(
        instruction_words=_median(words.values()),
        deleted_lines=_median(one.lines for one in hard),
        deleted_files=_median(one.files for one in hard),
        failing_tests=_median(one.tests for one in hard),
        lines_added=_median(one.lines_added for one in usage),
        lines_removed=_median(one.lines_removed for one in usage),
        files_changed=_median(one.files_changed for one in usage),
        seconds=_median(one.seconds for one in usage),
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None and abs(value) <= _MOST]
    return statistics.median(known) if known else None
