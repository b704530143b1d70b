"""Answers a sampler's requests with the generator, and tells the sampler what was made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from codeenv.errors import GenerationError
from codeenv.generate import Event, GenerateOptions, generate_harder, generate_richer
from codeenv.generate.models import OnEvent
from codeenv.generate.richer import tells_more
from codeenv.sandbox.base import Backend
from codeenv.sources import fetch
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset
from codeenv_harness.curriculum.recipes import facts_of
from codeenv_harness.curriculum.requests import Request, RicherStatement
from codeenv_harness.curriculum.sampler import TaskSampler

_CHILDREN = 4


@dataclass(frozen=True)
class Answer:
    """What became of a request.

    Attributes:
        request: What was asked for.
        children: The tasks that were asked for, all in the folder, some perhaps since before.
        problem: Why there are none, or "".
    """

    request: Request
    children: tuple[Recipe, ...] = ()
    problem: str = ""


def fulfil(
    requests: Sequence[Request],
    folder: Path,
    *,
    backend: Backend,
    children: int = _CHILDREN,
    jobs: int = 2,
    on_event: OnEvent = lambda _: None,
) -> tuple[Answer, ...]:
    """Make the tasks that a sampler asks for, and add them to its taskset folder.

    Every child has passed the generator's gates: it is told enough and leaks nothing; doing nothing
    scores 0 and the known-good solution 1.  A task that cannot be made is an answer with a problem.
    Where the level that was asked for tells nothing new, the next one that does is made.

    Tasks that the folder has already stay as they are, and a sampler repeats its requests until
    they are settled (``adopt`` does it): after an error, simply begin again.

    Args:
        requests: From ``TaskSampler.requests``.
        folder: The taskset that the sampler draws from.
        backend: Where repositories' code runs.
        children: Most harder children of the parents of one repository, per request.
        jobs: Boxes at work at the same time.
        on_event: Told of every step.

    Raises:
        TaskError: If the folder is no taskset, or has no task of a request.
        SourceError: If a source cannot be had.
        BuildError: If an environment cannot be restored.
        SandboxError: If the sandbox failed.
    """

    def answer(request: Request) -> Answer:
        with TemporaryDirectory(prefix="codeenv-children-") as out:
            options = GenerateOptions(out=Path(out), limit=children, jobs=jobs)
            return _answer(request, folder, options, backend, on_event)

    return tuple(map(answer, requests))


def _answer(
    request: Request, folder: Path, options: GenerateOptions, backend: Backend, on_event: OnEvent
) -> Answer:
    known = Taskset.load(folder)
    if isinstance(request, RicherStatement):
        parents = known.select([request.task_id])
        if twin := _twin(parents.recipes[0], request, known):
            return Answer(request, (twin,))
    else:
        parents = known.select(request.parents)
    try:
        made = _made(request, parents, options, backend, on_event)
    except GenerationError as error:
        return Answer(request, problem=f"{error.message}: {error.hint}")
    new = Taskset.load(options.out).select({r.id for r in made}.difference(known.ids))
    Taskset.write(folder, new.recipes, new.baselines.values(), new.environments.values())
    kept = known.select({r.id for r in made}.intersection(known.ids))
    return Answer(request, tuple(sorted((*new.recipes, *kept.recipes), key=lambda r: r.id)))


def _made(
    request: Request,
    parents: Taskset,
    options: GenerateOptions,
    backend: Backend,
    on_event: OnEvent,
) -> tuple[Recipe, ...]:
    if not isinstance(request, RicherStatement):
        return generate_harder(parents, options, backend=backend, on_event=on_event).recipes

    def tell(text: str) -> None:
        on_event(Event("richer", text))

    level = request.level
    return generate_richer(parents, options.out, backend=backend, level=level, on_task=tell)


def _twin(parent: Recipe, request: RicherStatement, taskset: Taskset) -> Recipe | None:
    """Return the task with the same edits at that level: a child told less has its parent there.

    One that is told nothing new is no answer.
    """
    same = (parent.source.tree, parent.deletions, request.level)
    twins = [r for r in taskset.recipes if (r.source.tree, r.deletions, r.level) == same]
    source = fetch(parent.source).tree if twins else None
    return next((r for r in twins if source and tells_more(r, parent, source)), None)


def adopt(sampler: TaskSampler, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Add the children to the sampler: they start from what is known of their parents.

    Returns:
        The ids of the tasks that the sampler did not have.
    """
    added: list[str] = []
    for answer in answers:
        request = answer.request
        new = [child for child in answer.children if child.id not in sampler]
        richer = isinstance(request, RicherStatement)
        sampler.add(
            [child.id for child in new],
            parents=[_parent(child, request) for child in new],
            shift=sampler.options.richer_shift if richer else -sampler.options.harder_shift,
            **facts_of(new),
        )
        sampler.settle(request)
        added += [child.id for child in new]
    return tuple(added)


def _parent(child: Recipe, request: Request) -> str:
    """Return whose child it is; of the first parent, if others had it before."""
    if isinstance(request, RicherStatement):
        return request.task_id
    named = child.provenance.parent_id
    return named if named in request.parents else request.parents[0]
