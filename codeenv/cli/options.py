"""Options that several commands share, and the checks of their values."""

import argparse
import os
from collections.abc import Callable
from typing import TypeAlias, get_args

from codeenv.cli.parser import COMMANDS, Parser
from codeenv.grading import GradingOptions
from codeenv.sandbox.base import Backend
from codeenv.sandbox.capacity import DEFAULT_CAPACITY
from codeenv.sandbox.select import open_backend
from codeenv.tasks.models import Tier

BACKENDS = ("auto", "docker", "bubblewrap", "local")
_MOST_JOBS = 16
"""By default: every one of them takes memory."""

Subparsers: TypeAlias = "argparse._SubParsersAction[Parser]"
Run = Callable[[argparse.Namespace], int]


def command(subparsers: Subparsers, name: str, run: Run) -> Parser:
    """Add a command with ``--json`` and its one-line summary."""
    summary = COMMANDS[name]
    description = summary[0].upper() + summary[1:] + "."
    parser = subparsers.add_parser(name, help=summary, description=description, allow_abbrev=False)
    parser.set_defaults(run=run)
    add_json(parser)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="write JSON to standard output")


def add_backend(parser: argparse.ArgumentParser, default: str = "auto") -> None:
    """Add ``--backend``."""
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default=default,
        help=f"the sandbox's wall; local has no isolation (default: {default})",
    )
    add_docker(parser)


def add_docker(parser: argparse.ArgumentParser) -> None:
    """Add the options of the ``docker`` backend."""
    parser.add_argument(
        "--docker-runtime", metavar="NAME", help="a runtime of the engine, e.g. runsc or kata"
    )
    parser.add_argument(
        "--docker-isolation",
        choices=("box", "container"),
        help="container: a fresh one per episode, where an engine refuses nested namespaces",
    )


def backend_options(args: argparse.Namespace) -> dict[str, str]:
    """Return what ``open_backend`` is to be told beside the name."""
    given = {"runtime": args.docker_runtime, "isolation": args.docker_isolation}
    return {name: value for name, value in given.items() if value is not None}


def chosen_backend(args: argparse.Namespace) -> Backend:
    """Open the backend that ``add_backend``'s options name."""
    return open_backend(args.backend, capacity=DEFAULT_CAPACITY, **backend_options(args))


def add_grading(parser: argparse.ArgumentParser) -> None:
    """Add ``--tier`` and ``--controls``."""
    parser.add_argument(
        "--tier",
        choices=get_args(Tier),
        help="the strongest way to grade that is used (default: sealed as far as a test can be; "
        "open with the local backend)",
    )
    parser.add_argument(
        "--controls",
        type=share,
        default=1.0,
        metavar="P",
        help="probability with which each kind of negative control runs (default: 1)",
    )


def grading_options(args: argparse.Namespace) -> GradingOptions:
    """Return what ``add_grading``'s options say."""
    return GradingOptions(args.tier, args.controls)


def share(text: str) -> float:
    """Parse a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to 1: {text!r}")
    return number


def add_jobs(parser: argparse.ArgumentParser, does: str, *, each: int = 1) -> None:
    """Add ``--jobs``.

    Args:
        parser: Of the command.
        does: What a job is, for the help text.
        each: Jobs for every processor, if none are asked for.
    """
    jobs = min(each * processors(), _MOST_JOBS)
    parser.add_argument("--jobs", type=positive, default=jobs, help=f"{does} (default: {jobs})")


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def add_checkout(parser: argparse.ArgumentParser) -> None:
    """Add ``--ref`` and ``--subdir``: what of a repository is taken."""
    parser.add_argument("--ref", default="", help="git branch, tag or commit (default: HEAD)")
    parser.add_argument("--subdir", default="", help="folder of the repository to use as its root")


def add_tasks(parser: argparse.ArgumentParser, or_else: str = "") -> None:
    """Add the positional ``TASKS``, and say what else it may be."""
    kinds = ["folder", "recipe file", "suite name", "task id"] + [or_else] * bool(or_else)
    told = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
    parser.add_argument("tasks", metavar="TASKS", help=told)


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    return _at_least(text, 1)


def natural(text: str) -> int:
    """Parse a whole number of at least 0."""
    return _at_least(text, 0)


def size(text: str) -> int:
    """Parse a number of bytes: a whole number with K, M, G or T behind it, powers of 1024."""
    power = "KMGT".find(text[-1:].upper()) + 1 if text else 0
    number = text[:-1] if power else text
    try:
        return natural(number) * int(1024**power)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"not a size like 500M or 20G: {text!r}") from None


def _at_least(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a whole number: {text!r}") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}: {text!r}")
    return number
