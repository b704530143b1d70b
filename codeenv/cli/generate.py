"""``codeenv generate``: turn a repository into tasks."""

import argparse
from contextlib import closing
from pathlib import Path
from typing import get_args

from codeenv.cli.explain import explain
from codeenv.cli.generate_many import read_list, run_many
from codeenv.cli.generate_options import check_together, difficulty, kinds, load_parents
from codeenv.cli.options import (
    Subparsers,
    add_backend,
    add_checkout,
    add_jobs,
    chosen_backend,
    command,
    natural,
    positive,
)
from codeenv.cli.parser import Parser
from codeenv.cli.terminal import Steps, Terminal, table
from codeenv.errors import UsageError
from codeenv.generate import (
    Event,
    GenerateOptions,
    GenerationResult,
    generate,
    generate_harder,
)
from codeenv.generate.models import ANY_DIFFICULTY, KINDS, TestMode, tried_of
from codeenv.tasks.models import Level, Tier

LEVELS: tuple[str, ...] = get_args(Level)
TEST_MODES: tuple[str, ...] = get_args(TestMode)


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "generate", run)
    add_backend(parser)
    _add_sources(parser)
    add_checkout(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("codeenv-tasks"),
        help="folder for the tasks (default: codeenv-tasks)",
    )
    parser.add_argument("--limit", type=positive, help="stop after this many tasks (default: all)")
    _add_choices(parser)
    parser.add_argument("--seed", type=natural, default=0, help="of the order tried (default: 0)")
    add_jobs(parser, "boxes at work", each=2)  # many tests of damaged code only wait
    parser.add_argument(
        "--explain",
        metavar="CANDIDATE",
        help="only tell what became of a candidate of an earlier run: its key, symbol or task",
    )
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")


def _add_choices(parser: Parser) -> None:
    """Add what says which tasks are wanted."""
    parser.add_argument(
        "--kinds",
        type=kinds,
        help=f"kinds of features, separated by commas (default: {','.join(KINDS)})",
    )
    parser.add_argument(
        "--level", choices=LEVELS, help="how much the statement tells (default: L3)"
    )
    parser.add_argument(
        "--difficulty",
        metavar="LO:HI",
        type=difficulty,
        default=ANY_DIFFICULTY,
        help="keep only tasks whose prior lies there; either end may be left out (default: 0:1)",
    )
    parser.add_argument(
        "--tier",
        choices=get_args(Tier),
        default="guarded",
        help="refuse tasks whose tests can only be graded weaker (default: guarded)",
    )
    parser.add_argument(
        "--tests",
        choices=TEST_MODES,
        help="which of a feature's tests the agent sees: none (hidden), two thirds (split) or all "
        "(visible); default: split at level L5, else hidden",
    )


def _add_sources(parser: Parser) -> None:
    """Add what says where tasks come from."""
    parser.add_argument(
        "--repo",
        metavar="SRC",
        help="git URL, local path, pypi:NAME==VERSION or bundled:toy",
    )
    parser.add_argument(
        "--repos",
        metavar="FILE",
        type=Path,
        help="many sources, one per line, with ref=… and subdir=… where needed; each has its own "
        "folder in --out; the exit code is 1 if any of them gave no task",
    )
    parser.add_argument(
        "--harder",
        metavar="TASK",
        nargs="+",
        help="make harder children of tasks: recipe files, shipped tasks, or folders with --id",
    )
    parser.add_argument(
        "--id", action="append", help="with --harder: a task of a folder or suite (repeatable)"
    )
    parser.add_argument(
        "--proposal",
        metavar="FILE",
        type=Path,
        action="append",
        help="with --repo: try only this deletion, a unified diff against the untouched repository "
        "(repeatable)",
    )


def run(args: argparse.Namespace) -> int:
    """Generate, and write what came of every candidate."""
    terminal = Terminal(args.json)
    if args.explain is not None:
        explain(terminal, args.out, args.explain)
        return 0
    check_together(args)
    options = _options(args)
    repositories = read_list(args.repos) if args.repos else ()
    parents = load_parents(args.harder, args.id or ()) if args.harder else None
    with closing(chosen_backend(args)) as backend:
        if repositories:
            return run_many(terminal, repositories, options, backend)
        title = f"generating from {args.repo}" if args.repo else "making harder tasks"
        with terminal.progress(title) as steps:

            def on_event(event: Event) -> None:
                follow(steps, event)

            if parents:
                result = generate_harder(parents, options, backend=backend, on_event=on_event)
            else:
                result = generate(args.repo, options, backend=backend, on_event=on_event)
    report(terminal, result, options.out)
    return 0


def follow(steps: Steps, event: Event) -> None:
    """Show one event of the pipeline."""
    total, done = event.data.get("total"), event.data.get("done")
    if isinstance(total, int) and isinstance(done, int):
        steps.doing("trying candidates", total=total, done=done)
    steps.say(f"{event.kind:<12}{event.text}")


def report(terminal: Terminal, result: GenerationResult, out: Path) -> None:
    """Write the tasks and the funnel."""
    terminal.data(
        {
            "out": out,
            "tasks": [recipe.id for recipe in result.recipes],
            "candidates": len(result.verdicts),
            "funnel": result.funnel,
        }
    )
    rows = ((r.id, r.difficulty.lines, len(r.fail_to_pass)) for r in result.recipes)
    terminal.show(table(("task", "lines", "tests"), rows))
    counts = ", ".join(f"{count} {reason}" for reason, count in result.funnel.items())
    terminal.note(f"{len(result.verdicts)} candidates: {counts}")
    made, tried = len(result.recipes), tried_of(result.funnel)
    terminal.note(f"{made} of the {tried} that were tried became tasks ({made / tried:.0%})")
    terminal.note(f"{made} tasks in {out}; next: codeenv verify {out}")


def _options(args: argparse.Namespace) -> GenerateOptions:
    if args.out.exists() and not args.out.is_dir():
        raise UsageError(f"--out {str(args.out)!r} is a file", hint="name a folder")
    return GenerateOptions(
        out=args.out,
        ref=args.ref,
        subdir=args.subdir,
        limit=args.limit,
        kinds=args.kinds or KINDS,
        level=args.level or "L3",
        tests=args.tests,
        seed=args.seed,
        jobs=args.jobs,
        resume=args.resume,
        difficulty=args.difficulty,
        tier=args.tier,
        proposals=tuple(args.proposal or ()),
    )
