"""Options that several commands share, and the checks of their values."""

import argparse
from collections.abc import Callable
from typing import TypeAlias

from codeenv.cli.parser import COMMANDS, Parser

BACKENDS = ("auto", "docker", "bubblewrap", "local")

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


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add ``--jobs``."""
    parser.add_argument(
        "--jobs", type=positive, default=2, help="tasks looked at at the same time (default: 2)"
    )


def add_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the positional ``TASKS``."""
    parser.add_argument("tasks", metavar="TASKS", help="folder, recipe file, suite name or task id")


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    return _at_least(text, 1)


def natural(text: str) -> int:
    """Parse a whole number of at least 0."""
    return _at_least(text, 0)


def _at_least(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a whole number: {text!r}") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}: {text!r}")
    return number
