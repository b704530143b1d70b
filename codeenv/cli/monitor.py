"""``codeenv monitor``: look for reward hacking in the episodes of a run."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from codeenv.cli.options import Subparsers, command
from codeenv.cli.terminal import Terminal, table
from codeenv.env.runtime import Runtime
from codeenv.errors import CodeEnvError, UsageError
from codeenv.monitor import Monitor, TaskFacts, Verdict, facts_of
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset
from codeenv.trajectory import Trajectory, read_trajectory
from codeenv_harness.records import RunFolder

_SHOWN = 60


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "monitor", run)
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="folder of a finished run")
    parser.add_argument(
        "--tasks",
        metavar="TASKS",
        help="what was played; found by itself if the tasks are shipped ones",
    )


def run(args: argparse.Namespace) -> int:
    """Examine every trajectory of a run; 1 if a reward must be taken away."""
    terminal = Terminal(args.json)
    paths = _trajectories(args.run_folder)
    knowing = _Knowledge(args.tasks, RunFolder(args.run_folder).recipes())
    monitor, verdicts = Monitor(), []
    with terminal.progress("examining", total=len(paths)) as steps:
        for path in paths:
            trajectory = read_trajectory(path)
            verdict = monitor.examine(trajectory, knowing.facts(trajectory))
            verdict = verdict.model_copy(update={"episode": path.stem})
            verdicts.append(verdict)
            terminal.data(verdict)
            steps.advance()
    terminal.show(table(("episode", "action", "label", "severity", "", "where"), _rows(verdicts)))
    _close(terminal, verdicts)
    return 1 if any(verdict.action == "mask" for verdict in verdicts) else 0


def _trajectories(folder: Path) -> list[Path]:
    found = sorted((folder / "trajectories").glob("*.json"))
    if not found:
        raise UsageError(
            f"there are no trajectories in {folder}",
            hint="give the folder that codeenv run --out wrote",
        )
    return found


class _Knowledge:
    """The facts of the tasks that were played, each made once; none where they cannot be had."""

    def __init__(self, tasks: str | None, digests: Mapping[str, str]) -> None:
        self._digests = digests
        self._given = Taskset.load(tasks) if tasks else None
        self._runtime = Runtime("local")  # makes tasks, opens nothing
        self._known: dict[str, TaskFacts | None] = {}

    def facts(self, trajectory: Trajectory) -> TaskFacts | None:
        task_id = str((trajectory.extra or {}).get("task_id", ""))
        if task_id not in self._known:
            self._known[task_id] = self._made(task_id)
        return self._known[task_id]

    def _made(self, task_id: str) -> TaskFacts | None:
        taskset = self._given or _shipped(task_id)
        recipe = _named(taskset, task_id)
        if taskset is None or recipe is None:
            return None
        if self._digests.get(task_id, digest_of(recipe)) != digest_of(recipe):
            if self._given:
                raise UsageError(
                    f"{task_id} was played from another recipe than the one in --tasks",
                    hint="give the tasks that the run was made with",
                )
            return None
        return facts_of(self._runtime.task(recipe, taskset))


def _shipped(task_id: str) -> Taskset | None:
    try:
        return Taskset.load(task_id)
    except CodeEnvError:
        return None


def _named(taskset: Taskset | None, task_id: str) -> Recipe | None:
    recipes = taskset.recipes if taskset else ()
    return next((recipe for recipe in recipes if recipe.id == task_id), None)


def _rows(verdicts: list[Verdict]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for verdict in verdicts:
        for number, found in enumerate(verdict.findings):
            done = "succeeded" if found.succeeded else "attempted"
            where = (found.span or found.detail)[:_SHOWN].replace("\n", " ")
            first = (verdict.episode, verdict.action) if not number else ("", "")
            rows.append((*first, found.label, found.severity, done, where))
        if not verdict.findings:
            rows.append((verdict.episode, verdict.action, "", "", "", ""))
    return rows


def _close(terminal: Terminal, verdicts: list[Verdict]) -> None:
    counts = {a: sum(v.action == a for v in verdicts) for a in ("mask", "quarantine", "flag")}
    told = ", ".join(f"{count} {action}" for action, count in counts.items())
    terminal.note(f"{len(verdicts)} episodes: {told}")
    blind = sum(verdict.knowledge == "trajectory" for verdict in verdicts)
    if blind:
        terminal.note(f"{blind} were examined without their tasks: name them with --tasks")
