"""``codeenv audit``: traces of the deleted code in what the agent can read."""

import argparse

from codeenv.audit import AuditReport, audit_report, look_inside
from codeenv.cli.options import (
    Subparsers,
    add_backend,
    add_jobs,
    add_tasks,
    backend_options,
    command,
)
from codeenv.cli.parallel import each
from codeenv.cli.terminal import Terminal
from codeenv.env.runtime import Runtime
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "audit", run)
    add_tasks(parser)
    add_backend(parser)
    add_jobs(parser, "tasks looked at at the same time")
    parser.add_argument(
        "--workspace-only",
        action="store_true",
        help="do not read the environment image (and so need no sandbox)",
    )
    parser.add_argument(
        "--no-box",
        action="store_true",
        help="read image and workspace on this machine only; do not look around in a box, too",
    )


def run(args: argparse.Namespace) -> int:
    """Audit every task; 1 if any leaks."""
    terminal = Terminal(args.json)
    taskset = Taskset.load(args.tasks)
    leaking = 0
    with (
        Runtime(args.backend, options=backend_options(args)) as runtime,
        terminal.progress("auditing", total=len(taskset.recipes)) as steps,
    ):

        def check(recipe: Recipe) -> AuditReport:
            task = runtime.task(recipe, taskset)
            if args.workspace_only:
                return audit_report(task)
            image = runtime.environment(task.lock, recipe).image
            report = audit_report(task, image)
            if args.no_box or runtime.backend.name == "local":
                return report
            seen = look_inside(task, image, runtime.backend)
            return AuditReport(tuple(sorted({*report.leaks, *seen.leaks})), report.warnings)

        reports = each(taskset.recipes, check, jobs=args.jobs)
        for recipe, report in zip(taskset.recipes, reports, strict=True):
            leaking += bool(report.leaks)
            terminal.data(
                {
                    "task_id": recipe.id,
                    "ok": not report.leaks,
                    "leaks": report.leaks,
                    "warnings": report.warnings,
                }
            )
            steps.advance(_lines(recipe.id, report))
    terminal.note(f"{leaking} of {len(taskset.recipes)} tasks leak")
    return 1 if leaking else 0


def _lines(task_id: str, report: AuditReport) -> str:
    lines = [f"{'LEAKS ' if report.leaks else 'ok    '}  {task_id}"]
    lines += [f"          {leak.kind} {leak.path}: {leak.detail}" for leak in report.leaks]
    lines += [f"  warning {leak.kind} {leak.path}: {leak.detail}" for leak in report.warnings]
    return "\n".join(lines)
