"""The way to a task: from the cache, else from the pinned source."""

from codeenv.languages import get_language
from codeenv.materialise.cache import load_task, store_task
from codeenv.materialise.models import Task
from codeenv.materialise.task import assemble, check_references
from codeenv.sources import Checkout, fetch
from codeenv.tasks.models import Baseline, EnvironmentLock, Recipe


def materialise(
    recipe: Recipe,
    baseline: Baseline,
    lock: EnvironmentLock,
    *,
    checkout: Checkout | None = None,
) -> Task:
    """Return the task of a recipe; the same recipe gives the same task on every machine.

    Args:
        recipe: The facts.
        baseline: The one that ``recipe.baseline`` names.
        lock: The one that ``recipe.environment`` names.
        checkout: The source, if at hand; else it is fetched by its pin.

    Raises:
        SourceError: If the source cannot be had.
        TaskError: If anything is not what the recipe pins.
    """
    check_references(recipe, baseline, lock)
    kept = load_task(recipe, baseline, lock)
    if kept is not None:
        return kept
    source = checkout or fetch(recipe.source)
    task = assemble(recipe, baseline, lock, source.tree, get_language(recipe.language))
    store_task(task)
    return task
