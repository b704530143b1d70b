"""``codeenv tasks list|show|stats``: look at tasks without running anything."""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median

from rich.text import Text

from codeenv.cli.options import Subparsers, add_json, add_tasks, command
from codeenv.cli.parser import Parser
from codeenv.cli.terminal import Terminal, table
from codeenv.materialise import materialise
from codeenv.tasks.digest import canonical
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset


def add(subparsers: Subparsers) -> None:
    """Add the command and its three verbs."""
    parser = command(subparsers, "tasks", show_list)
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    for name, run, summary in (
        ("list", show_list, "one line per task"),
        ("show", show_one, "the facts of each task"),
        ("stats", show_stats, "how many, from where, how hard"),
    ):
        verb = verbs.add_parser(name, help=summary, description=summary)
        add_tasks(verb)
        add_json(verb)
        verb.set_defaults(run=run)
        if name == "show":
            verb.add_argument(
                "--instruction",
                action="store_true",
                help="also write the statement the agent gets (fetches the source)",
            )


def show_list(args: argparse.Namespace) -> int:
    """Write one line (or JSON line) per task."""
    terminal = Terminal(args.json)
    recipes = Taskset.load(args.tasks).recipes
    for recipe in recipes:
        terminal.data(_row(recipe))
    headings = ("task", "source", "level", "tier", "lines", "tests", "prior")
    rows = ([*_row(recipe).values()] for recipe in recipes)
    terminal.show(table(headings, rows))
    return 0


def show_one(args: argparse.Namespace) -> int:
    """Write each task's facts."""
    terminal = Terminal(args.json)
    taskset = Taskset.load(args.tasks)
    for recipe in taskset.recipes:
        instruction = _instruction(taskset, recipe) if args.instruction else None
        facts = recipe.model_dump(mode="json")
        terminal.data(facts if instruction is None else {**facts, "instruction": instruction})
        terminal.show(Text(recipe.title, "bold"))
        terminal.show(table(("", ""), _facts(recipe)))
        if instruction is not None:
            terminal.show(Text("\n" + instruction))
    return 0


def show_stats(args: argparse.Namespace) -> int:
    """Write counts over the tasks."""
    terminal = Terminal(args.json)
    recipes = Taskset.load(args.tasks).recipes
    stats = summarise(recipes)
    terminal.data(stats)
    terminal.show(table(("", ""), ((name, _short(value)) for name, value in stats.items())))
    return 0


def summarise(recipes: Sequence[Recipe]) -> dict[str, object]:
    """Return counts and middle values over recipes."""
    lines = [recipe.difficulty.lines for recipe in recipes]
    tests = [len(recipe.fail_to_pass) for recipe in recipes]
    priors = [recipe.difficulty.prior for recipe in recipes]
    return {
        "tasks": len(recipes),
        "sources": _count(_source(recipe) for recipe in recipes),
        "levels": _count(recipe.level for recipe in recipes),
        "tiers": _count(recipe.tier for recipe in recipes),
        "modes": _count(mode for recipe in recipes for mode in _modes(recipe)),
        "kinds": _count(kind for recipe in recipes for kind in _kinds(recipe)),
        "features": _count(recipe.provenance.kind for recipe in recipes),
        "several_symbols": _share(recipe.difficulty.symbols > 1 for recipe in recipes),
        "several_files": _share(recipe.difficulty.files > 1 for recipe in recipes),
        "mean_bytes": round(fmean(len(canonical(recipe)) for recipe in recipes)) if recipes else 0,
        "median_lines": median(lines) if lines else 0,
        "median_tests": median(tests) if tests else 0,
        "mean_prior": round(fmean(priors), 3) if priors else 0.0,
    }


def _row(recipe: Recipe) -> dict[str, object]:
    return {
        "id": recipe.id,
        "source": _source(recipe),
        "level": recipe.level,
        "tier": recipe.tier,
        "lines": recipe.difficulty.lines,
        "fail_to_pass": len(recipe.fail_to_pass),
        "prior": recipe.difficulty.prior,
    }


def _share(found: Iterable[bool]) -> float:
    every = list(found)
    return round(sum(every) / len(every), 3) if every else 0.0


def _facts(recipe: Recipe) -> list[tuple[str, object]]:
    symbols = sorted({o.symbol for o in recipe.deletions if o.symbol and o.mode != "clean"})
    return [
        ("id", recipe.id),
        ("source", f"{_source(recipe)} ({recipe.source.licence})"),
        ("deleted", ", ".join(symbols)),
        ("files", ", ".join(sorted({o.path for o in recipe.deletions}))),
        ("mode", ", ".join(_modes(recipe))),
        ("tests", f"{len(recipe.fail_to_pass)} must pass again"),
        *([("held out", f"{len(recipe.held_out)} of them")] if recipe.held_out else []),
        ("level", recipe.level),
        ("grading", recipe.tier),
        ("replays", f"{len(recipe.replays)} calls that no test makes"),
        ("prior", f"{recipe.difficulty.prior:.2f}"),
    ]


def _instruction(taskset: Taskset, recipe: Recipe) -> str:
    lock = taskset.environment(recipe.environment)
    return materialise(recipe, taskset.baseline(recipe.baseline), lock).instruction


def _source(recipe: Recipe) -> str:
    version = recipe.source.version
    if recipe.source.kind == "git":
        version = version[:12]
    return f"{recipe.source.kind}:{recipe.source.name}" + (f"=={version}" if version else "")


def _modes(recipe: Recipe) -> list[str]:
    return sorted({o.mode for o in recipe.deletions if o.mode in ("remove", "stub")})


def _kinds(recipe: Recipe) -> list[str]:
    return sorted({o.kind for o in recipe.deletions if o.mode in ("remove", "stub")})


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _short(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return value
