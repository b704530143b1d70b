"""Whether a statement says enough to pass the tests.

That it says no more than it may is part of the leak audit.
"""

import re

from codeenv.generate.models import Reason, Rejected
from codeenv.languages.base import Language
from codeenv.materialise.brief import names_to_tell, numbers_to_tell, texts_to_tell
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.materialise.numbers import spelt, untold_numbers
from codeenv.materialise.texts import untold_texts
from codeenv.tree import Tree

_TOLD = 5


def check_sufficient(task: Task, pristine: Tree, language: Language) -> None:
    """Refuse a task whose tests need what neither statement nor code gives: a name, text or number.

    Raises:
        Rejected: ``underspecified``.
    """
    if task.recipe.level < "L3":
        return  # these levels leave names to be found out, by design
    damaged = without_git(task.workspace)
    stated = frozenset(re.findall(r"\w+", task.instruction))
    missing = sorted(names_to_tell(task.recipe, pristine, damaged, language) - stated)
    if missing:
        raise Rejected(Reason.UNDERSPECIFIED, f"tests use {', '.join(missing[:_TOLD])}")
    expected = texts_to_tell(task.recipe, pristine, damaged, language)
    if texts := untold_texts(expected, task.instruction):
        raise Rejected(Reason.UNDERSPECIFIED, f"a test expects the text {texts[0]!r}"[:300])
    used = numbers_to_tell(task.recipe, pristine, damaged, language)
    if numbers := untold_numbers(used, task.instruction):
        raise Rejected(Reason.UNDERSPECIFIED, f"a test expects the number {spelt(numbers[0])}")
