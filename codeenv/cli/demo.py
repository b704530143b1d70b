"""``codeenv demo``: the whole way on a real library - generate, verify, play - in the terminal."""

import argparse
import re
import shutil
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from codeenv._paths import cache_folder
from codeenv.audit import verify_task
from codeenv.cli import stage
from codeenv.cli.doctor import package_index
from codeenv.cli.generate import follow
from codeenv.cli.options import BACKENDS, Subparsers, command, positive
from codeenv.cli.terminal import Terminal, table
from codeenv.cli.watch import watch
from codeenv.env.runtime import Runtime
from codeenv.errors import GenerationError, MachineError, SourceError
from codeenv.generate import GenerateOptions, GenerationResult, generate
from codeenv.grading.models import Outcome
from codeenv.materialise import Task
from codeenv.sandbox.base import Backend
from codeenv.sandbox.select import open_backend, probe
from codeenv.tasks.taskset import Taskset

REPOSITORY = "pypi:itsdangerous==2.2.0"
TOY = "bundled:toy"
AGENTS = {"oracle": 1.0, "nop": 0.0}
"""Agent -> the reward it must get."""


@dataclass(frozen=True)
class Made:
    """What the first half gave."""

    repository: str
    folder: Path
    result: GenerationResult


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "demo", run)
    parser.add_argument(
        "--backend", choices=BACKENDS, help="the sandbox's wall (default: bubblewrap, else auto)"
    )
    parser.add_argument(
        "--repo", help=f"what to make tasks from (default: {REPOSITORY}; without network, {TOY})"
    )
    parser.add_argument("--limit", type=positive, default=3, help="tasks to make (default: 3)")


def run(args: argparse.Namespace) -> int:
    """Show everything; 1 unless oracle gets 1 and nop 0."""
    terminal = Terminal(args.json)
    started = time.monotonic()
    name = args.backend or ("bubblewrap" if probe("bubblewrap").ok else "auto")
    with closing(open_backend(name)) as backend, Runtime(backend) as runtime:
        made = _make(terminal, backend, args.repo, args.limit)
        taskset = Taskset.load(made.folder)
        tasks = [runtime.task(recipe, taskset) for recipe in taskset.recipes]
        verified = _verify(terminal, runtime, tasks)
        outcomes = _play(terminal, runtime, _showpiece(tasks))
    seconds = time.monotonic() - started
    good = verified == len(tasks) and all(
        outcome.reward_valid and outcome.reward == AGENTS[agent]
        for agent, outcome in outcomes.items()
    )
    terminal.data(
        {
            "ok": good,
            "repository": made.repository,
            "backend": backend.name,
            "tasks": [task.id for task in tasks],
            "funnel": made.result.funnel,
            "verified": verified,
            "episodes": outcomes,
        }
    )
    _close(terminal, made, outcomes, seconds)
    return 0 if good else 1


def _make(terminal: Terminal, backend: Backend, repository: str | None, limit: int) -> Made:
    """Generate from the wanted repository, or from the toy where that cannot be had."""
    if repository is not None:
        return _generate(terminal, backend, repository, limit)
    index = package_index()
    if index.status != "ok":
        _say_toy(terminal, f"no package index answers ({index.detail})")
        return _generate(terminal, backend, TOY, limit)
    try:
        return _generate(terminal, backend, REPOSITORY, limit)
    except (SourceError, MachineError) as error:
        _say_toy(terminal, f"{REPOSITORY} cannot be used here ({error.message})")
        return _generate(terminal, backend, TOY, limit)


def _generate(terminal: Terminal, backend: Backend, repository: str, limit: int) -> Made:
    _heading(terminal, 1, f"Delete features from {repository}, behind {backend.name}")
    name = re.sub(r"\W+", "-", repository.partition(":")[2]).strip("-")
    folder = cache_folder("demo") / name
    shutil.rmtree(folder, ignore_errors=True)
    options = GenerateOptions(out=folder, limit=limit)
    with terminal.progress(f"generating from {repository}") as steps:
        result = generate(
            repository, options, backend=backend, on_event=lambda event: follow(steps, event)
        )
    if not result.recipes:
        raise GenerationError(f"{repository} gave no task")
    rows = ((r.title, r.difficulty.lines, len(r.fail_to_pass)) for r in result.recipes)
    terminal.tell(table(("task", "lines deleted", "tests that must pass again"), rows))
    return Made(repository, folder, result)


def _verify(terminal: Terminal, runtime: Runtime, tasks: list[Task]) -> int:
    _heading(terminal, 2, "Verify: doing nothing scores 0, the original code scores 1")
    good = 0
    with terminal.progress("verifying", total=len(tasks)) as steps:
        for task in tasks:
            found = verify_task(task, runtime.grader)
            good += found.ok
            steps.advance(f"{'ok' if found.ok else 'FAILED':<8}{task.recipe.title}")
    return good


def _play(terminal: Terminal, runtime: Runtime, task: Task) -> dict[str, Outcome]:
    _heading(terminal, 3, "Play: what an agent is told, and what two agents do about it")
    terminal.tell(stage.statement(task.recipe.title, task.instruction))
    outcomes = {}
    for agent in AGENTS:
        terminal.tell(Text(f"\n{agent}", "bold"))
        with runtime.open(task) as episode:
            outcomes[agent] = watch(terminal, agent, episode)
        terminal.tell(stage.verdict(outcomes[agent]))
    return outcomes


def _showpiece(tasks: list[Task]) -> Task:
    """Return the task that fits a screen best."""
    return min(tasks, key=lambda task: (len(task.instruction.splitlines()), task.id))


def _close(terminal: Terminal, made: Made, outcomes: dict[str, Outcome], seconds: float) -> None:
    rewards = ", ".join(f"{agent} {outcome.reward:g}" for agent, outcome in outcomes.items())
    terminal.tell(Text(f"\nrewards: {rewards}   ({seconds:.0f} s)", "bold"))
    terminal.tell(Text(f"your turn: codeenv play {made.folder}"))


def _heading(terminal: Terminal, number: int, text: str) -> None:
    terminal.tell(Text(f"\n{number}  {text}\n", "bold blue"))


def _say_toy(terminal: Terminal, reason: str) -> None:
    terminal.note(f"{reason}: playing the bundled toy instead", "yellow")
