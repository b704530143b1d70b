"""``codeenv verify``: doing nothing scores 0 and the original code scores 1, every time."""

import argparse

from codeenv.audit import Verification, verify_task
from codeenv.cli.options import (
    Subparsers,
    add_backend,
    add_grading,
    add_jobs,
    add_tasks,
    backend_options,
    command,
    grading_options,
    positive,
)
from codeenv.cli.parallel import each
from codeenv.cli.terminal import Terminal
from codeenv.env.runtime import Runtime
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "verify", run)
    add_tasks(parser)
    add_backend(parser)
    add_grading(parser)
    add_jobs(parser, "tasks graded at the same time")
    parser.add_argument(
        "--repeat", type=positive, default=1, help="fresh boxes per task (default: 1)"
    )


def run(args: argparse.Namespace) -> int:
    """Grade nothing and the oracle on every task; 1 if any task is not calibrated."""
    terminal = Terminal(args.json)
    taskset = Taskset.load(args.tasks)
    good = 0
    with (
        Runtime(
            args.backend, options=backend_options(args), grading=grading_options(args)
        ) as runtime,
        terminal.progress("verifying", total=len(taskset.recipes)) as steps,
    ):

        def check(recipe: Recipe) -> Verification:
            return verify_task(runtime.task(recipe, taskset), runtime.grader, args.repeat)

        for found in each(taskset.recipes, check, jobs=args.jobs):
            good += found.ok
            terminal.data(_facts(found))
            steps.advance(_line(found))
    terminal.note(f"{good} of {len(taskset.recipes)} tasks: nop 0 and oracle 1")
    return 0 if good == len(taskset.recipes) else 1


def _facts(found: Verification) -> dict[str, object]:
    return {
        "task_id": found.task_id,
        "ok": found.ok,
        "nop_rewards": found.nop_rewards,
        "oracle_rewards": found.oracle_rewards,
        "problems": found.problems,
    }


def _line(found: Verification) -> str:
    if found.ok:
        return f"ok      {found.task_id}"
    return f"FAILED  {found.task_id}: {'; '.join(found.problems)}"
