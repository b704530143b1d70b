"""The parser: every command's name, and the options of the one that is asked for.

Only the chosen command's module is imported, so that ``codeenv --help`` stays fast.
"""

import argparse
import importlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NoReturn

from codeenv.errors import UsageError

COMMANDS = {
    "doctor": "say what works on this machine, and how to get the rest",
    "demo": "turn a real library into tasks and play one, here in the terminal",
    "generate": "turn a repository into tasks",
    "tasks": "list, show and count tasks",
    "verify": "check that doing nothing scores 0 and the original code scores 1",
    "audit": "look for traces of the deleted code in what the agent can read",
    "play": "play a task yourself, or watch an agent play it",
    "run": "let an agent play tasks and record what it did",
    "report": "tell what runs gave, as Markdown and as a page with plots",
    "view": "read what agents did, step by step, in a browser",
    "compare": "compare a run with the one before, and fail if it is worse",
    "monitor": "look for reward hacking in the episodes of a run",
    "feedback": "write the mistakes of a run as pairs that a trainer can distil",
    "export": "write a run's rollouts as rows for a trainer",
    "images": "plan, build, explain, list or prune environment images",
    "gc": "remove what dead processes left behind",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are ``UsageError`` with a hint."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and exiting."""
        raise UsageError(message, hint=f"{self.prog} --help")


def build_parser(words: Sequence[str] = ()) -> Parser:
    """Return the parser for a command line; commands it does not name have no options yet."""
    parser = Parser(
        prog="codeenv",
        description="Turn any test-heavy repository into verifiable-reward episodes.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"codeenv {distribution_version()}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    chosen = next((word for word in words if not word.startswith("-")), "")
    for name, summary in COMMANDS.items():
        if name == chosen:
            importlib.import_module(f"codeenv.cli.{name}").add(commands)
        else:
            commands.add_parser(name, help=summary)
    return parser


def distribution_version() -> str:
    """Return the installed version."""
    try:
        return version("codeenv-gym")
    except PackageNotFoundError:
        return "0+unknown"
