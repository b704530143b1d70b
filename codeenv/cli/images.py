"""``codeenv images``: what environments take on disk, taking it back, and making new ones."""

import argparse
import time
from collections.abc import Sequence

from codeenv.cli.images_build import BUILD, EXPLAIN, add_build, add_explain
from codeenv.cli.images_plan import PLAN, add_plan
from codeenv.cli.options import Subparsers, add_json, command, natural, size
from codeenv.cli.parser import Parser
from codeenv.cli.terminal import Terminal, table
from codeenv.images.store import StoredImage, list_images, prune

_DAY = 86400


def add(subparsers: Subparsers) -> None:
    """Add the command and its verbs."""
    parser = command(subparsers, "images", run_list)
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    summary = "what there is, the most recently used first"
    listing = verbs.add_parser("ls", help=summary, description=summary)
    listing.set_defaults(run=run_list)
    summary = "remove images; they are made again when they are needed"
    pruning = verbs.add_parser("prune", help=summary, description=summary)
    pruning.set_defaults(run=run_prune)
    pruning.add_argument(
        "--older-than",
        type=natural,
        default=0,
        metavar="DAYS",
        help="only what was not used for so many days (default: 0, everything)",
    )
    pruning.add_argument(
        "--to",
        type=size,
        default=0,
        metavar="SIZE",
        help="stop when all take no more than this, e.g. 20G; what was used last stays longest",
    )
    pruning.add_argument(
        "--keep", action="append", default=[], metavar="NAME", help="leave this alone (repeatable)"
    )
    pruning.add_argument("--dry-run", action="store_true", help="only say what would go")
    planning = verbs.add_parser("plan", help=PLAN, description=PLAN)
    add_plan(planning)
    building = verbs.add_parser("build", help=BUILD, description=BUILD)
    add_build(building)
    explaining = verbs.add_parser("explain", help=EXPLAIN, description=EXPLAIN)
    add_explain(explaining)
    for verb in (listing, pruning, planning, building, explaining):
        add_json(verb)


def run_list(args: argparse.Namespace) -> int:
    """List everything."""
    terminal = Terminal(args.json)
    found = list_images()
    _show(terminal, found)
    terminal.note(f"{len(found)} images, {_size(sum(image.size for image in found))}")
    return 0


def run_prune(args: argparse.Namespace) -> int:
    """Remove, or say what would be removed."""
    terminal = Terminal(args.json)
    with terminal.progress("removing images"):
        gone = prune(
            keep=args.keep,
            max_age=args.older_than * _DAY,
            budget=args.to,
            dry_run=args.dry_run,
        )
    _show(terminal, gone)
    freed = _size(sum(image.size for image in gone))
    terminal.note(f"{len(gone)} images, {freed}, {'would go' if args.dry_run else 'are gone'}")
    return 0


def _show(terminal: Terminal, images: Sequence[StoredImage]) -> None:
    for image in images:
        terminal.data(image)
    rows = ((i.kind, i.name[:40], _size(i.size), _age(i.used)) for i in images)
    terminal.show(table(("kind", "name", "size", "last used"), rows))


def _size(size: int) -> str:
    return f"{size / 1024**2:.1f} MiB"


def _age(used: float) -> str:
    days = int((time.time() - used) / _DAY)
    return "today" if days <= 0 else f"{days} days ago"
