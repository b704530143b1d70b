"""``codeenv report``: what runs gave, side by side."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from codeenv.cli.agents import add_prices, read_prices
from codeenv.cli.options import Subparsers, command
from codeenv.cli.recorded import PlayedTasks, add_tasks, check_target
from codeenv.cli.terminal import Terminal
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import write_atomic
from codeenv_harness.report import RunPlace, collect, find_runs, markdown
from codeenv_harness.report.drawing import check_installed
from codeenv_harness.report.html import page


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "report", run)
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        type=Path,
        help="folder of a run, or of a benchmark's runs",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with plots that works offline"
    )
    add_tasks(parser)
    add_prices(parser)


def run(args: argparse.Namespace) -> int:
    """Report."""
    terminal = Terminal(args.json)
    if args.html is not None:
        check_target(args.html)
        check_installed()
    prices = read_prices(args)
    places = find_runs(args.runs)
    recipes = {place.name: _recipes(place, args.tasks) for place in places}
    report = collect(places, recipes, prices)
    if args.html is not None:
        write_atomic(args.html, page(report).encode())
        terminal.note(f"the page is in {args.html}")
    terminal.data(report)
    terminal.document(markdown(report))
    return 0


def _recipes(place: RunPlace, tasks: str | None) -> Mapping[str, Recipe]:
    """Return the recipes of a run's tasks, as far as they are known."""
    played = PlayedTasks(tasks, place.folder.folder)
    ids = sorted({record.task_id for record in place.folder.records()})
    found = {task_id: played.recipe(task_id) for task_id in ids}
    return {task_id: recipe for task_id, recipe in found.items() if recipe is not None}
