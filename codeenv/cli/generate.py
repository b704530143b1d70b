"""``codeenv generate``: turn a repository into tasks."""

import argparse
from contextlib import closing
from pathlib import Path
from typing import get_args

from codeenv.cli.explain import explain
from codeenv.cli.options import Subparsers, add_backend, command, natural, positive
from codeenv.cli.terminal import Steps, Terminal, table
from codeenv.errors import UsageError
from codeenv.generate import Event, GenerateOptions, GenerationResult, generate
from codeenv.generate.models import KINDS, FeatureKind, TestMode
from codeenv.sandbox.select import open_backend
from codeenv.tasks.models import Level

LEVELS: tuple[str, ...] = get_args(Level)
TEST_MODES: tuple[str, ...] = get_args(TestMode)


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "generate", run)
    add_backend(parser)
    parser.add_argument(
        "--repo",
        metavar="SRC",
        help="git URL, local path, pypi:NAME==VERSION or bundled:toy",
    )
    parser.add_argument("--ref", default="", help="git branch, tag or commit (default: HEAD)")
    parser.add_argument("--subdir", default="", help="folder of the repository to use as its root")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("codeenv-tasks"),
        help="folder for the tasks (default: codeenv-tasks)",
    )
    parser.add_argument("--limit", type=positive, help="stop after this many tasks (default: all)")
    parser.add_argument(
        "--kinds",
        type=kinds,
        default=KINDS,
        help=f"kinds of features, separated by commas (default: {','.join(KINDS)})",
    )
    parser.add_argument(
        "--level", choices=LEVELS, default="L3", help="how much the statement tells (default: L3)"
    )
    parser.add_argument(
        "--tests",
        choices=TEST_MODES,
        help="which of a feature's tests the agent sees: none (hidden), two thirds (split) or all "
        "(visible); default: split at level L5, else hidden",
    )
    parser.add_argument("--seed", type=natural, default=0, help="of the order tried (default: 0)")
    parser.add_argument("--jobs", type=positive, default=2, help="boxes at work (default: 2)")
    parser.add_argument(
        "--explain",
        metavar="CANDIDATE",
        default="",
        help="only tell what became of a candidate of an earlier run: its key, symbol or task",
    )
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")


def run(args: argparse.Namespace) -> int:
    """Generate, and write what came of every candidate."""
    terminal = Terminal(args.json)
    if args.explain:
        explain(terminal, args.out, args.explain)
        return 0
    if not args.repo:
        raise UsageError("--repo is missing", hint="codeenv generate --repo SRC")
    options = _options(args)
    with (
        closing(open_backend(args.backend)) as backend,
        terminal.progress(f"generating from {args.repo}") as steps,
    ):
        result = generate(
            args.repo, options, backend=backend, on_event=lambda event: follow(steps, event)
        )
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
    terminal.note(f"{len(result.recipes)} tasks in {out}; next: codeenv verify {out}")


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


def _options(args: argparse.Namespace) -> GenerateOptions:
    if args.out.exists() and not args.out.is_dir():
        raise UsageError(f"--out {str(args.out)!r} is a file", hint="name a folder")
    return GenerateOptions(
        out=args.out,
        ref=args.ref,
        subdir=args.subdir,
        limit=args.limit,
        kinds=args.kinds,
        level=args.level,
        tests=args.tests,
        seed=args.seed,
        jobs=args.jobs,
        resume=args.resume,
    )
