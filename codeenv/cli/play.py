"""``codeenv play``: a person plays in the terminal, or watches an agent play."""

import argparse
import sys
from collections.abc import Callable
from functools import partial

from rich.text import Text

from codeenv.cli import stage
from codeenv.cli.options import (
    Subparsers,
    add_backend,
    add_grading,
    backend_options,
    command,
    grading_options,
    positive,
)
from codeenv.cli.terminal import Terminal, printable
from codeenv.cli.typed import HELP, parse_line
from codeenv.cli.watch import watch
from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.errors import UsageError
from codeenv.materialise import Task
from codeenv.tasks.taskset import Taskset
from codeenv.tools import ToolResult

AGENTS = ("oracle", "nop")
PROMPT = "codeenv> "
END_OF_TEXT = "."
ReadLine = Callable[[str], str | None]
"""Prompts for one line; None at the end of input."""


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


def run(args: argparse.Namespace) -> int:
    """Play one episode; 1 if the machine failed it."""
    terminal = Terminal(args.json)
    taskset = Taskset.load(args.task)
    recipe = taskset.recipe(args.id) if args.id else taskset.recipes[0]
    with Runtime(
        args.backend, options=backend_options(args), grading=grading_options(args)
    ) as runtime:
        with terminal.progress(f"preparing {recipe.id}"):
            task = runtime.task(recipe, taskset)
            episode = runtime.open(task, limits=EpisodeLimits(max_steps=args.max_steps))
        with episode:
            terminal.tell(stage.statement(recipe.title, episode.instruction))
            if args.agent:
                watch(terminal, args.agent, episode)
            else:
                play(terminal, episode, read_line)
            return _finish(terminal, task, episode)


def play(terminal: Terminal, episode: Episode, read: ReadLine) -> None:
    """Let a person type calls until the episode ends or the person leaves."""
    terminal.note(HELP, "dim")
    while episode.outcome is None:
        line = read(PROMPT)
        if line is None or line.strip() == "quit":
            return
        if not line.strip():
            continue
        if line.strip() in ("help", "task"):
            terminal.note(HELP if line.strip() == "help" else episode.instruction)
            continue
        result = _typed(terminal, episode, line, read)
        if result is not None:
            terminal.tell(Text(printable(result.text), "" if result.ok else "red"))


def read_line(prompt: str) -> str | None:
    """Read one line from standard input; the prompt goes to standard error."""
    if sys.stdin.isatty():
        sys.stderr.write(prompt)
        sys.stderr.flush()
    line = sys.stdin.readline()
    return line.removesuffix("\n") if line else None


def _typed(terminal: Terminal, episode: Episode, line: str, read: ReadLine) -> ToolResult | None:
    try:
        call = parse_line(line, partial(_ask, read))
    except UsageError as error:
        terminal.note(f"error: {error.message}", "red")
        terminal.note(f"hint: {error.hint}")
        return None
    return episode.call(call)


def _ask(read: ReadLine, what: str) -> str:
    """Ask for lines up to a line with a single full stop."""
    lines: list[str] = []
    prompt = f"{what}, then a line with {END_OF_TEXT!r}\n"
    while (line := read(prompt)) not in (None, END_OF_TEXT):
        lines.append(str(line))
        prompt = ""
    return "\n".join(lines)


def _finish(terminal: Terminal, task: Task, episode: Episode) -> int:
    outcome = episode.outcome
    if outcome is None:
        terminal.note("left without handing in; nothing was graded")
        terminal.data({"task_id": task.id, "reason": "left", "n_steps": episode.steps})
        return 0
    terminal.tell(stage.verdict(outcome))
    terminal.data(outcome)
    return 0 if outcome.reward_valid else 1
