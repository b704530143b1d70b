"""``codeenv play``: a person plays in the terminal, or watches an agent play."""

import argparse
import shlex
import sys
import time
from pathlib import Path

from codeenv.cli import stage
from codeenv.cli.editing import editor_command, in_editor
from codeenv.cli.keyboard import ReadLine, keyboard, read_anything, read_plain
from codeenv.cli.options import (
    Subparsers,
    add_backend,
    add_grading,
    backend_options,
    command,
    grading_options,
    positive,
)
from codeenv.cli.person import HUMAN, Hands, Left, Person
from codeenv.cli.terminal import Terminal
from codeenv.cli.watch import watched
from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.errors import UsageError
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset
from codeenv_harness.episode import Played
from codeenv_harness.episode import play as play_agent
from codeenv_harness.playing import Plan, RunOptions
from codeenv_harness.records import Manifest, RolloutRecord, RunFolder
from codeenv_harness.rollout import manifest_of

AGENTS = ("oracle", "nop")


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "play", run)
    add_backend(parser)
    add_grading(parser)
    parser.add_argument(
        "task",
        metavar="TASK",
        nargs="?",
        default="toy",
        help="recipe file or task id; of a folder or suite the first task (default: toy)",
    )
    parser.add_argument("--id", default="", help="another task of the folder or suite")
    parser.add_argument("--agent", choices=AGENTS, help="watch this agent instead of playing")
    parser.add_argument(
        "--max-steps", type=positive, default=100, help="tool calls allowed (default: 100)"
    )
    parser.add_argument(
        "--out", type=Path, help="new folder for what was done, in the form of codeenv run"
    )


def run(args: argparse.Namespace) -> int:
    """Play one episode; 1 if the machine failed it."""
    terminal = Terminal(args.json)
    taskset = Taskset.load(args.task)
    recipe = taskset.recipe(args.id) if args.id else taskset.recipes[0]
    folder = _folder(args.out)
    with Runtime(
        args.backend, options=backend_options(args), grading=grading_options(args)
    ) as runtime:
        with terminal.progress(f"preparing {recipe.id}"):
            task = runtime.task(recipe, taskset)
            episode = runtime.open(task, limits=EpisodeLimits(max_steps=args.max_steps))
        started = time.monotonic()
        with episode:
            if args.agent:
                terminal.tell(stage.statement(recipe.title, episode.instruction))
                played: Played | None = watched(terminal, args.agent, episode)
            else:
                paths = {path for path in task.workspace if not path.startswith(".git/")}
                played = play(terminal, episode, _hands(terminal, paths), paths)
        if played is None:
            terminal.note("left without handing in; nothing was graded")
            terminal.data({"task_id": task.id, "reason": "left", "n_steps": episode.steps})
            return 0
        terminal.tell(stage.verdict(played.outcome, time.monotonic() - started))
        if folder is not None:
            options = RunOptions(args.agent or HUMAN, limits=episode.limits)
            plan = Plan(taskset.select([recipe.id]), options, runtime)
            _record(folder, manifest_of(plan, runtime.backend.name), played)
    terminal.data(played.outcome)
    _whats_next(terminal, args, taskset, recipe)
    return 0 if played.outcome.reward_valid else 1


def play(
    terminal: Terminal, episode: Episode, hands: Hands | ReadLine, paths: set[str] | None = None
) -> Played | None:
    """Let a person play an open episode; None if the person leaves without handing in.

    Args:
        terminal: Where it is shown.
        episode: What is played.
        hands: How the person types; a plain function reads lines.
        paths: What completion knows of; files that are made are added.
    """
    hands = hands if isinstance(hands, Hands) else Hands(hands)
    person = Person(terminal, episode, hands, set() if paths is None else paths)
    try:
        return play_agent(person, episode, on_step=person.show)
    except Left:
        return None


def _hands(terminal: Terminal, paths: set[str]) -> Hands:
    """Return line editing and the person's editor where there is a terminal, else plain lines."""
    read_anything()
    if terminal.json_wanted or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Hands(read_plain)
    return Hands(keyboard(paths), in_editor if editor_command() else None, confirms=True)


def _folder(out: Path | None) -> RunFolder | None:
    """Return where to record, before anything is played.

    Raises:
        UsageError: If something is there already.
    """
    if out is not None and (out.is_file() or (out.is_dir() and any(out.iterdir()))):
        raise UsageError(f"{out} is there already", hint="another --out, for a folder of its own")
    return None if out is None else RunFolder(out)


def _record(folder: RunFolder, manifest: Manifest, played: Played) -> None:
    folder.begin(manifest, resume=False)
    record = RolloutRecord.of(played.outcome, rollout=0, seed=0, attempts=1)
    folder.add(record, played.trajectory)


def _whats_next(
    terminal: Terminal, args: argparse.Namespace, taskset: Taskset, recipe: Recipe
) -> None:
    """Say how to play again, what else there is, and what a record is good for."""
    ids = [one.id for one in taskset.recipes]
    words = [
        "codeenv",
        "play",
        args.task,
        *(["--backend", args.backend] if args.backend != "auto" else []),
    ]
    again = shlex.join([*words, *(["--id", recipe.id] if len(ids) > 1 else [])])
    rows = [f"again: {again}"]
    if len(ids) > 1:
        following = ids[(ids.index(recipe.id) + 1) % len(ids)]
        rows.append(f"next:  {shlex.join([*words, '--id', following])}")
    if not args.agent:
        rows.append(f"the original code: {again} --agent oracle")
    if args.out is not None:
        replay = shlex.join(["codeenv", "run", recipe.id, "--agent", f"replay:{args.out}"])
        rows.append(f"what was done is in {args.out}; to do it again: {replay}")
    terminal.note("\n".join(rows), "dim")
