"""``codeenv export``: write a run's rollouts as rows for a trainer."""

import argparse
from pathlib import Path

from codeenv.cli.options import Subparsers, command
from codeenv.cli.recorded import rollouts_of, write_lines
from codeenv.cli.terminal import Terminal
from codeenv.export import FORMATS, rollout_rows


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "export", run)
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="folder of a finished run")
    parser.add_argument(
        "--format", choices=FORMATS, required=True, help="whose names the columns have"
    )
    parser.add_argument("--out", type=Path, required=True, help="file for the rows, JSON lines")


def run(args: argparse.Namespace) -> int:
    """Write the rows."""
    terminal = Terminal(args.json)
    rollouts = rollouts_of(args.run_folder)
    count = write_lines(args.out, rollout_rows(rollouts, args.format))
    invalid = sum(not rollout.reward_valid for rollout in rollouts)
    terminal.data({"rollouts": len(rollouts), "invalid": invalid, "rows": count})
    terminal.note(f"{count} rows of {len(rollouts)} rollouts are in {args.out}")
    if invalid:
        terminal.note(f"{invalid} rollouts were not graded: their rows have reward_valid false")
    return 0
