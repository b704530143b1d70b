"""``codeenv gc``: remove containers, folders and mounts whose owner is dead."""

import argparse

from codeenv.cli.options import Subparsers, command
from codeenv.cli.terminal import Terminal
from codeenv.sandbox.gc import collect


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    command(subparsers, "gc", run)


def run(args: argparse.Namespace) -> int:
    """Collect, and say what went."""
    terminal = Terminal(args.json)
    removed = collect()
    terminal.data({"removed": removed})
    for name in removed:
        terminal.show(name)
    terminal.note(f"{len(removed)} leftovers removed" if removed else "nothing was left behind")
    return 0
