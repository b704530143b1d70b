"""``codeenv generate --repos``: many repositories, one line and one JSON object for each."""

from collections.abc import Sequence
from pathlib import Path

from codeenv.cli.terminal import Terminal, table
from codeenv.errors import UsageError
from codeenv.generate import Event, GenerateOptions, RepositoryEnd, generate_many
from codeenv.generate.many import Repository, parse_repositories
from codeenv.sandbox.base import Backend


def read_list(path: Path) -> tuple[Repository, ...]:
    """Read the list of repositories.

    Raises:
        UsageError: If it is no such list.
        OSError: If it cannot be read.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not text: {error.reason}", hint="write UTF-8") from None
    return parse_repositories(str(path), text)


def run_many(
    terminal: Terminal,
    repositories: Sequence[Repository],
    options: GenerateOptions,
    backend: Backend,
) -> int:
    """Generate from each; 1 if any gave no task."""
    ends: list[RepositoryEnd] = []
    title = f"generating from {len(repositories)} repositories"
    try:
        with terminal.progress(title, total=len(repositories)) as steps:

            def follow(event: Event) -> None:
                if event.kind != "judging":
                    steps.say(f"{event.kind:<12}{event.text}")

            for end in generate_many(repositories, options, backend=backend, on_event=follow):
                ends.append(end)
                terminal.data(facts(end))
                steps.advance(f"{'failed' if end.error else 'done':<12}{_line(end)}")
    finally:
        _summarise(terminal, ends, len(repositories))
    return int(any(end.error for end in ends))


def facts(end: RepositoryEnd) -> dict[str, object]:
    """Return what became of a repository, for a program."""
    return {
        "source": end.source,
        "out": end.out,
        "tasks": end.tasks,
        "candidates": end.candidates,
        "funnel": end.funnel or {},
        "yield": round(end.share, 3),
        "seconds": end.seconds,
        "finished_before": end.known,
        "error": end.error,
        "hint": end.hint,
    }


def _line(end: RepositoryEnd) -> str:
    if end.error:
        return f"{end.source}: {end.error}"
    return f"{end.source}: {len(end.tasks)} tasks in {end.out}"


def _summarise(terminal: Terminal, ends: Sequence[RepositoryEnd], total: int) -> None:
    """Write the table, also of a run that was interrupted."""
    if not ends:
        return
    headings = ("source", "tasks", "candidates", "yield", "seconds", "")
    terminal.show(table(headings, map(_row, ends)))
    good = sum(not end.error for end in ends)
    tasks = sum(len(end.tasks) for end in ends)
    terminal.note(f"{tasks} tasks from {good} of {total} repositories")


def _row(end: RepositoryEnd) -> tuple[object, ...]:
    told = "finished before" if end.known else end.error
    share = f"{100 * end.share:.0f} %" if end.candidates else "-"
    return end.source, len(end.tasks), end.candidates, share, round(end.seconds), told
