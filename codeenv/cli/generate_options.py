"""The options of ``codeenv generate``: their values, and which of them go together."""

import argparse
from collections.abc import Sequence

from codeenv.errors import UsageError
from codeenv.generate.models import KINDS, FeatureKind
from codeenv.tasks.taskset import Taskset

_SOURCES = ("repo", "repos", "harder")
_ONLY_WITH = {
    "ref": ("repo",),
    "subdir": ("repo",),
    "proposal": ("repo",),
    "kinds": ("repo", "repos"),
    "level": ("repo", "repos"),
    "id": ("harder",),
}


def kinds(text: str) -> tuple[FeatureKind, ...]:
    """Parse a list of kinds."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = sorted(set(words) - set(KINDS))
    chosen = tuple(kind for kind in KINDS if kind in words)
    if unknown or not chosen:
        raise argparse.ArgumentTypeError(
            f"invalid choice: {', '.join(unknown) or text!r} (choose from {', '.join(KINDS)})"
        )
    return chosen


def difficulty(text: str) -> tuple[float, float]:
    """Parse ``lo:hi``; either may be left out."""
    low, colon, high = text.partition(":")
    try:
        found = float(low or 0), float(high or 1)
    except ValueError:
        found = (-1.0, -1.0)
    if not colon or not 0 <= found[0] <= found[1] <= 1:
        raise argparse.ArgumentTypeError(
            f"not a range within 0 and 1: {text!r} (for example 0.3:0.7, 0.3: or :0.7)"
        )
    return found


def check_together(args: argparse.Namespace) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: If there is not exactly one of ``--repo``, ``--repos`` and ``--harder``, or an
            option is for another of them.
    """
    given = [name for name in _SOURCES if getattr(args, name) is not None]
    if not given or getattr(args, given[0]) == "":
        raise UsageError(
            "--repo is missing", hint="give --repo SRC, or --repos FILE, or --harder TASK"
        )
    if len(given) > 1:
        both = " and ".join(f"--{name}" for name in given)
        raise UsageError(f"{both} do not go together", hint="one of them in one run")
    for name, sources in _ONLY_WITH.items():
        if getattr(args, name) and given[0] not in sources:
            raise UsageError(f"--{name} does not go with --{given[0]}", hint=_why(name, given[0]))
    if args.proposal and args.kinds:
        raise UsageError("--kinds does not go with --proposal", hint="only proposals are tried")


def load_parents(tasks: Sequence[str], ids: Sequence[str]) -> Taskset:
    """Return the tasks that are named, one way or the other.

    Raises:
        TaskError: If there is no such task.
        UsageError: If a folder is named, but none of its tasks.
    """
    every = [Taskset.load(task) for task in tasks]
    whole = Taskset(
        tuple({r.id: r for taskset in every for r in taskset.recipes}.values()),
        {d: b for taskset in every for d, b in taskset.baselines.items()},
        {d: e for taskset in every for d, e in taskset.environments.items()},
    )
    if ids:
        return whole.select(ids)
    for name, taskset in zip(tasks, every, strict=True):
        if len(taskset.recipes) > 1:
            raise UsageError(
                f"{name} holds {len(taskset.recipes)} tasks",
                hint="say which by --id, or name recipe files",
            )
    return whole


def _why(name: str, source: str) -> str:
    if name == "id":
        return "it names a task for --harder"
    if name == "proposal":
        return "give it with --repo"
    if source == "harder":
        return "a child takes it from its parent"
    return f"write {name}=… in the line of the repository"
