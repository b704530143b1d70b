"""Assembles a task from a recipe and the pristine tree it is pinned to.  Pure."""

from collections.abc import Iterable

from codeenv.errors import TaskError
from codeenv.languages.base import Language, Layout
from codeenv.materialise.files import agent_files
from codeenv.materialise.git import git_folder
from codeenv.materialise.instruction import write_instruction
from codeenv.materialise.models import Task
from codeenv.materialise.operations import apply_operations
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import Baseline, EnvironmentLock, Operation, Recipe
from codeenv.tree import Delta, Tree


def agent_tree(pristine: Tree, deletions: Iterable[Operation], hidden: Iterable[Operation]) -> Tree:
    """Return what the agent gets, without ``.git``: ``Recipe.damaged_tree`` is its digest."""
    return agent_files(apply_operations(pristine, (*deletions, *hidden)))


def assemble(
    recipe: Recipe, baseline: Baseline, lock: EnvironmentLock, source: Tree, language: Language
) -> Task:
    """Return the task that a recipe means.

    Raises:
        TaskError: If baseline, environment, source or the resulting tree are not the ones that the
            recipe pins; the message names both digests.
    """
    check_references(recipe, baseline, lock)
    _same("source", recipe.source.tree, source.digest, "the repository's files were changed")
    damaged = agent_tree(source, recipe.deletions, recipe.hidden)
    hint = "the recipe was edited, or made by another version of codeenv: generate it again"
    _same("damaged tree", recipe.damaged_tree, damaged.digest, hint)
    pristine = agent_files(source)
    layout = language.layout(pristine)
    return Task(
        recipe=recipe,
        baseline=baseline,
        lock=lock,
        layout=layout,
        instruction=write_instruction(recipe, pristine, damaged, language),
        workspace=with_git(damaged),
        grading_tree=_grading_tree(source, recipe, layout),
        oracle=_oracle(pristine, damaged, recipe, language),
    )


def check_references(recipe: Recipe, baseline: Baseline, lock: EnvironmentLock) -> None:
    """Raise TaskError unless baseline and environment are the ones the recipe refers to."""
    hint = "load recipe, baseline and environment from one taskset"
    _same("baseline", recipe.baseline, digest_of(baseline), hint)
    _same("environment", recipe.environment, digest_of(lock), hint)


def with_git(files: Tree) -> Tree:
    """Return the tree with its fresh one-commit repository."""
    return Tree({**files, **git_folder(files)})


def _grading_tree(source: Tree, recipe: Recipe, layout: Layout) -> Tree:
    damaged = agent_files(apply_operations(source, recipe.deletions))
    tests = (*layout.test_files, *layout.support_files)
    return damaged.apply(Delta({path: source[path] for path in tests if path in source}))


def _oracle(pristine: Tree, damaged: Tree, recipe: Recipe, language: Language) -> Delta:
    """Return what brings the deleted back, as far as a submission may: type stubs, too."""
    layout = language.layout(pristine)
    deleted = {edit.path for edit in recipe.deletions}
    return damaged.diff(pristine).only({p for p in deleted if language.admissible(layout, p)})


def _same(what: str, expected: str, found: str, hint: str) -> None:
    if expected != found:
        message = f"the {what} is not the recipe's: expected {expected}, found {found}"
        raise TaskError(message, hint=hint)
