"""Whether a statement says enough to pass the tests, and no more than it may."""

import re
from collections.abc import Sequence

from codeenv.generate.models import Reason, Rejected
from codeenv.languages.base import Language, Unit
from codeenv.materialise.models import Task
from codeenv.tree import Tree

_QUOTED_LINE = 25
_SIGNATURE = re.compile(r"^\s*(?:(?:async\s+def|def|class)\b|@)")


def check_statement(
    task: Task, pristine: Tree, language: Language, members: Sequence[Unit]
) -> None:
    """Refuse a task whose statement is insufficient, quotes code or names hidden tests.

    Raises:
        Rejected: ``underspecified`` or ``tells_too_much``.
    """
    missing = _unstated_names(task, pristine, language)
    if missing:
        raise Rejected(Reason.UNDERSPECIFIED, f"tests use {', '.join(sorted(missing)[:5])}")
    quoted = _quoted(task, pristine, _documentation(pristine, language, members))
    if quoted:
        raise Rejected(Reason.TELLS_TOO_MUCH, f"deleted line in the statement: {quoted!r}"[:200])
    if task.recipe.hidden and task.recipe.level < "L5":
        named = _named_tests(task)
        if named:
            raise Rejected(Reason.TELLS_TOO_MUCH, f"hidden test in the statement: {named}")


def _unstated_names(task: Task, pristine: Tree, language: Language) -> set[str]:
    """Return names that the F2P tests use, that vanished with the feature and are not stated."""
    used = language.test_facts(pristine, task.fail_to_pass).names
    before = _names(pristine, task.layout.source_files, language)
    after = _names(task.workspace, task.layout.source_files, language)
    stated = set(re.findall(r"\w+", task.instruction))
    return {name for name in used & (before - after) if name not in stated}


def _names(tree: Tree, paths: tuple[str, ...], language: Language) -> frozenset[str]:
    found = (language.identifiers(tree[path].data) for path in paths if path in tree)
    return frozenset().union(*found)


def _documentation(pristine: Tree, language: Language, members: Sequence[Unit]) -> str:
    """Return the members' docstrings: prose that a statement may quote."""
    return "\n".join(language.describe(pristine, unit).docstring for unit in members)


def _quoted(task: Task, pristine: Tree, documentation: str) -> str:
    """Return a deleted line of code that the statement holds, or ""."""
    for operation in task.recipe.deletions:
        removed = pristine[operation.path].data[operation.start : operation.end]
        for line in removed.decode("utf-8", "replace").splitlines():
            text = line.strip()
            code = len(text) >= _QUOTED_LINE and not _SIGNATURE.match(text)
            if code and text in task.instruction and text not in documentation:
                return text
    return ""


def _named_tests(task: Task) -> str:
    for test in task.fail_to_pass:
        name = test.rsplit("::", 1)[-1].split("[", 1)[0]
        if re.search(rf"\b{re.escape(name)}\b", task.instruction):
            return name
    return ""
