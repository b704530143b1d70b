"""Many repositories in one run, one after the other, each into a folder of its own."""

import hashlib
import json
import re
import shlex
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeenv.errors import BuildError, CodeEnvError, MachineError, SandboxError, UsageError
from codeenv.generate.models import Event, GenerateOptions, OnEvent, Reason, tried_of
from codeenv.generate.pipeline import generate
from codeenv.sandbox.base import Backend

_FIELDS = ("ref", "subdir")
_LINE = "write one source per line, then ref=… and subdir=… if needed; # starts a comment"


@dataclass(frozen=True)
class Repository:
    """One line of a list.

    Attributes:
        spec: As for ``generate``.
        ref: Git reference.
        subdir: Folder of the repository to use as root.
        folder: Name of the folder for its tasks.
    """

    spec: str
    ref: str = ""
    subdir: str = ""
    folder: str = ""


@dataclass(frozen=True)
class RepositoryEnd:
    """What a repository gave.

    Attributes:
        source: As it was named.
        out: Folder of its tasks.
        tasks: Ids.
        funnel: Reason -> number of candidates.
        seconds: What it took.
        error: Why it gave no task, or "".
        hint: What can be done about it.
        known: Whether it was finished by an earlier run.
    """

    source: str
    out: Path
    tasks: tuple[str, ...] = ()
    funnel: dict[str, int] | None = None
    seconds: float = 0.0
    error: str = ""
    hint: str = ""
    known: bool = False

    @property
    def candidates(self) -> int:
        """How many candidates were tried."""
        return tried_of(self.funnel or {})

    @property
    def share(self) -> float:
        """Which share of the candidates that were tried became tasks."""
        return len(self.tasks) / (self.candidates or 1)


def parse_repositories(name: str, text: str) -> tuple[Repository, ...]:
    """Read a list of repositories.

    Args:
        name: Of the list, for messages.
        text: One source per line, optionally with ``ref=…`` and ``subdir=…``; ``#`` starts a
            comment at the beginning of a line or after white space.

    Raises:
        UsageError: If a line is malformed, a source comes twice, or there is none.
    """
    found: dict[Repository, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = _words(f"{name}, line {number}", line)
        if not words:
            continue
        repository = _repository(f"{name}, line {number}", words)
        if repository in found:
            told = f"{name}, line {number}: {words[0]} is also in line {found[repository]}"
            raise UsageError(told, hint="remove one of them")
        found[repository] = number
    if not found:
        raise UsageError(f"{name} names no repository", hint=_LINE)
    names = {repository: _folder(repository) for repository in found}
    counts = Counter(names.values())
    return tuple(
        replace(r, folder=name if counts[name] == 1 else f"{name}-{_digest(r)}")
        for r, name in names.items()
    )


def generate_many(
    repositories: Sequence[Repository],
    options: GenerateOptions,
    *,
    backend: Backend,
    on_event: OnEvent = lambda _: None,
) -> Iterator[RepositoryEnd]:
    """Generate from one repository after the other; yield what each gave as soon as it ends.

    What one repository does wrong ends only itself; what is wrong with the machine ends the run.

    Args:
        repositories: What to generate from.
        options: For each; ``out`` is the folder for the folders of all.  With ``resume``, those
            that have their tasks and their funnel are not run again, unless with other options.
        backend: Where the repositories' code runs.
        on_event: Told of every step.

    Raises:
        MachineError: If no repository could go on here.
    """
    for number, repository in enumerate(repositories, start=1):
        out = options.out / repository.folder
        on_event(Event("repository", f"{number} of {len(repositories)}: {repository.spec}"))
        one = replace(options, out=out, ref=repository.ref, subdir=repository.subdir)
        known = _finished(repository.spec, one) if options.resume else None
        if known is not None:
            on_event(Event("finished", f"{len(known.tasks)} tasks in {out}"))
            yield known
            continue
        started = time.monotonic()
        end = _generate(repository.spec, one, backend, on_event)
        yield replace(end, seconds=round(time.monotonic() - started, 1))


def _generate(
    spec: str, options: GenerateOptions, backend: Backend, on_event: OnEvent
) -> RepositoryEnd:
    try:
        result = generate(spec, options, backend=backend, on_event=on_event)
    except (BuildError, SandboxError) as error:
        return _failed(spec, options, error.message, error.hint)
    except (MachineError, OSError):
        raise
    except CodeEnvError as error:
        return _failed(spec, options, error.message, error.hint)
    except Exception as error:  # noqa: BLE001 - told in the table, and the others go on
        place = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"
        return _failed(spec, options, told, Reason.INTERNAL.description)
    ids = tuple(recipe.id for recipe in result.recipes)
    return RepositoryEnd(spec, options.out, ids, result.funnel)


def _failed(spec: str, options: GenerateOptions, error: str, hint: str) -> RepositoryEnd:
    """Return the end without tasks, with the funnel if it came as far as that."""
    return RepositoryEnd(spec, options.out, funnel=_funnel(options), error=error, hint=hint)


def _finished(spec: str, options: GenerateOptions) -> RepositoryEnd | None:
    """Return what an earlier run gave; None if it did not come to its end, or gave no task."""
    out, funnel = options.out, _funnel(options)
    tasks = tuple(sorted(path.stem for path in out.glob("[!.]*.json")))
    return RepositoryEnd(spec, out, tasks, funnel, known=True) if funnel and tasks else None


def _funnel(options: GenerateOptions) -> dict[str, int] | None:
    """Return the counts of a run with the same options, if its folder has them."""
    for path in sorted((options.out / "funnels").glob("*.json")):
        try:
            funnel = json.loads(path.read_bytes())
            if funnel["options"] == options.digest:
                return {str(reason): int(count) for reason, count in funnel["counts"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


def _words(where: str, line: str) -> list[str]:
    """Split a line like a shell: quotes keep white space together."""
    try:
        return shlex.split(re.sub(r"(^|\s)#.*", "", line))
    except ValueError as error:
        raise UsageError(f"{where}: {str(error).lower()}", hint=_LINE) from None


def _repository(where: str, words: Sequence[str]) -> Repository:
    fields: dict[str, str] = {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if key not in _FIELDS or not equals or not value or key in fields:
            raise UsageError(f"{where}: {word!r} is not understood", hint=_LINE)
        fields[key] = value
    return Repository(words[0], fields.get("ref", ""), fields.get("subdir", "").strip("/"))


def _folder(repository: Repository) -> str:
    """Return a name for people: the last part of the source, its version, ref and folder."""
    last = repository.spec.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    name = last.rpartition(":")[2].replace("==", "-")
    parts = (name, repository.ref, repository.subdir)
    slug = re.sub(r"[^a-z0-9.]+", "-", "-".join(p for p in parts if p).lower()).strip("-._")
    return slug or "repository"


def _digest(repository: Repository) -> str:
    facts = json.dumps([repository.spec, repository.ref, repository.subdir])
    return hashlib.sha256(facts.encode()).hexdigest()[:6]
