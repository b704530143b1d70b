"""The same task told one level richer: for an agent that never solves it as it is told.

Nothing is deleted anew and no test is measured: deletion, environment and rewarding tests are the
parent's.  What a task may leak is relative to its statement, so lint, leak audit and calibration
are done again.
"""

import hashlib
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import get_args

from codeenv.audit import audit_task, verify_task
from codeenv.audit.secrets import secret_hashes
from codeenv.errors import GenerationError, UsageError
from codeenv.generate.candidate import demand_calibrated
from codeenv.generate.difficulty import at_level
from codeenv.generate.lint import check_sufficient
from codeenv.generate.models import Reason, Rejected
from codeenv.grading import Grader
from codeenv.images import restore_environment
from codeenv.languages import get_language
from codeenv.materialise import materialise
from codeenv.materialise.files import agent_files
from codeenv.materialise.instruction import write_instruction
from codeenv.materialise.task import agent_tree
from codeenv.sandbox.base import Backend
from codeenv.sources import Checkout, fetch
from codeenv.tasks.models import Level, Recipe
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Tree

_LEVELS: tuple[Level, ...] = get_args(Level)
_ALL_SEEN: Level = "L5"
_FRAME = "Its documentation:"
"""What L4 puts before a docstring, of which L3 tells the first line without a word."""
_MARKUP = str.maketrans("", "", "`*#")
OnTask = Callable[[str], None]


def generate_richer(
    parents: Taskset,
    out: Path,
    *,
    backend: Backend,
    level: Level | None = None,
    on_task: OnTask = lambda _: None,
) -> tuple[Recipe, ...]:
    """Tell tasks one statement level richer, and write what becomes of them to a taskset folder.

    A level that tells no more of a task than its parent, as L4 does where there are no docstrings,
    is passed over for the next one.  At L5 the agent sees all tests of the feature.

    Args:
        parents: Tasks of any repositories.
        out: Folder to write to.
        backend: Where the tasks are graded.
        level: The least level of the children (None: the one after each parent's).
        on_task: Told of each parent that cannot be told so, and why.

    Raises:
        UsageError: If a level is not richer than a parent's.
        SourceError: If a source cannot be had.
        BuildError: If an environment cannot be restored.
        SandboxError: If a child could not be graded.
        GenerationError: If nothing became a task.
    """
    wanted = [(parent, level or _next(parent)) for parent in parents.recipes]
    for parent, richer in wanted:
        _demand_richer(parent, richer)
    made: list[Recipe] = []
    reasons: list[str] = []
    for parent, richer in wanted:
        try:
            child = _prove(parent, parents, _first_that_tells_more(parent, richer), backend)
        except Rejected as rejected:
            reasons.append(f"{parent.id} at {richer}: {rejected}")
            on_task(reasons[-1])
        else:
            lock, baseline = parents.environment(child.environment), child.baseline
            Taskset.write(out, [child], [parents.baseline(baseline)], [lock])
            made.append(child)
    if not made:
        raise GenerationError("no task can be told richer", hint="; ".join(reasons))
    return tuple(sorted(made, key=lambda recipe: recipe.id))


def restated(parent: Recipe, source: Tree, level: Level) -> Recipe:
    """Return the recipe of the same task at another level; the same input gives the same bytes.

    Args:
        parent: The recipe as it is.
        source: The tree it is pinned to.
        level: How much the child's statement tells.

    Raises:
        UsageError: If the level is not richer than the parent's.
    """
    _demand_richer(parent, level)
    language, pristine = get_language(parent.language), agent_files(source)
    facts: dict[str, object] = {
        "id": _id_of(parent, level),
        "level": level,
        "difficulty": at_level(parent.difficulty, level, parent.deletions),
        "provenance": parent.provenance.model_copy(
            update={
                "generator": f"codeenv-gym {version('codeenv-gym')}",
                "kind": "restated",
                "parent_id": parent.id,
            }
        ),
    }
    if level == _ALL_SEEN:
        damaged = agent_tree(pristine, parent.deletions, ())
        facts |= {"hidden": (), "held_out": (), "damaged_tree": damaged.digest}
        facts["secrets"] = secret_hashes(pristine, damaged, language)
    return parent.model_copy(update=facts)


def tells_more(child: Recipe, parent: Recipe, source: Tree) -> bool:
    """Return whether a task tells or shows an agent anything that the same task did not.

    White space and mark-up are nothing new.

    Args:
        child: The task at a richer level.
        parent: The same edits at another level.
        source: The tree both are pinned to.
    """
    if child.damaged_tree != parent.damaged_tree:
        return True  # more of the tests are there to be read
    return _told(child, source) != _told(parent, source)


def _first_that_tells_more(parent: Recipe, least: Level) -> Recipe:
    """Return the parent at the first level from ``least`` on that tells more.

    Raises:
        Rejected: If none does.
    """
    source = fetch(parent.source).tree
    levels = _LEVELS[_LEVELS.index(least) :]
    for child in (restated(parent, source, level) for level in levels):
        if tells_more(child, parent, source):
            return child
    raise Rejected(Reason.DUPLICATE, f"up to {_ALL_SEEN} it is told nothing new")


def _told(recipe: Recipe, source: Tree) -> str:
    """Return what a statement says, without the form it says it in."""
    pristine = agent_files(source)
    damaged = agent_tree(pristine, recipe.deletions, recipe.hidden)
    told = write_instruction(recipe, pristine, damaged, get_language(recipe.language))
    return "".join(told.replace(_FRAME, "").translate(_MARKUP).split())


def _prove(parent: Recipe, parents: Taskset, child: Recipe, backend: Backend) -> Recipe:
    """Return the child, if it passes what depends on the statement, and is calibrated."""
    source = fetch(parent.source)
    lock, baseline = parents.environment(child.environment), parents.baseline(child.baseline)
    image = restore_environment(lock, backend, pin=source.pin).image
    task = materialise(child, baseline, lock, checkout=Checkout(source.pin, source.tree))
    check_sufficient(task, agent_files(source.tree), get_language(child.language))
    if leaks := audit_task(task, image):
        reason = Reason.TELLS_TOO_MUCH if leaks[0].kind == "statement" else Reason.LEAK
        raise Rejected(reason, f"{leaks[0].kind}: {leaks[0].path} {leaks[0].detail}"[:300])
    demand_calibrated(verify_task(task, Grader(backend, environments=lambda _: image)))
    return child


def _next(parent: Recipe) -> Level:
    """Return the level after the parent's, or its own if it is the last."""
    return dict(pairwise(_LEVELS)).get(parent.level, parent.level)


def _demand_richer(parent: Recipe, level: Level) -> None:
    if level <= parent.level:
        told = f"{parent.id} is told at {parent.level}, and {level} is not richer"
        raise UsageError(told, hint="L5 tells most")


def _id_of(parent: Recipe, level: Level) -> str:
    """Return the parent's id with a hash of its own; the same for all ways to this level."""
    stem = parent.id.rpartition("-")[0] or parent.id
    edits = [f"{o.path}:{o.start}:{o.end}:{o.replacement}" for o in parent.deletions]
    facts = " ".join((parent.source.tree, *edits, level))
    return f"{stem}-{hashlib.sha256(facts.encode()).hexdigest()[:8]}"
