"""``codeenv export``: write a run's rollouts as rows for a trainer."""

import argparse
from pathlib import Path

from codeenv.cli.agents import add_prices, read_prices
from codeenv.cli.options import Subparsers, command
from codeenv.cli.recorded import check_target, no_rollouts, rollouts_of, write_lines
from codeenv.cli.terminal import Terminal
from codeenv.errors import UsageError
from codeenv.export import FORMATS, rollout_rows
from codeenv_harness.parquet import write_parquet
from codeenv_harness.records import RunFolder

PARQUET = "parquet"


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "export", run)
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="folder of a finished run")
    parser.add_argument(
        "--format",
        choices=(*FORMATS, PARQUET),
        required=True,
        help=f"whose names the columns have; {PARQUET}: outcomes as a table, a row each",
    )
    parser.add_argument("--out", type=Path, required=True, help="file for the rows (JSON lines)")
    add_prices(parser)


def run(args: argparse.Namespace) -> int:
    """Write the rows."""
    terminal = Terminal(args.json)
    if args.format == PARQUET:
        return _table(terminal, args)
    if args.prices:
        raise UsageError("--prices is for --format parquet alone", hint="leave it out")
    rollouts = rollouts_of(args.run_folder)
    count = write_lines(args.out, rollout_rows(rollouts, args.format))
    invalid = sum(not rollout.reward_valid for rollout in rollouts)
    terminal.data({"rollouts": len(rollouts), "invalid": invalid, "rows": count})
    terminal.note(f"{count} rows of {len(rollouts)} rollouts are in {args.out}")
    if invalid:
        terminal.note(f"{invalid} rollouts were not graded: their rows have reward_valid false")
    return 0


def _table(terminal: Terminal, args: argparse.Namespace) -> int:
    check_target(args.out)
    folder = RunFolder(args.run_folder)
    if not folder.exists():
        raise no_rollouts(args.run_folder)
    rows = write_parquet(folder, args.out, read_prices(args))
    terminal.data({"rows": rows})
    terminal.note(f"{rows} rows are in {args.out}")
    return 0
