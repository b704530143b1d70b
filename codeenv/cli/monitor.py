"""``codeenv monitor``: look for reward hacking in the episodes of a run."""

import argparse
from pathlib import Path

from codeenv.cli.options import Subparsers, command
from codeenv.cli.recorded import PlayedTasks, add_tasks
from codeenv.cli.terminal import Terminal, table
from codeenv.errors import UsageError
from codeenv.monitor import Monitor, TaskFacts, Verdict, facts_of
from codeenv.trajectory import Trajectory, read_trajectory

_SHOWN = 60


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "monitor", run)
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="folder of a finished run")
    add_tasks(parser)


def run(args: argparse.Namespace) -> int:
    """Examine every trajectory of a run; 1 if a reward must be taken away."""
    terminal = Terminal(args.json)
    paths = _trajectories(args.run_folder)
    knowing = _Knowledge(PlayedTasks(args.tasks, args.run_folder))
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

    def __init__(self, tasks: PlayedTasks) -> None:
        self._tasks = tasks
        self._known: dict[str, TaskFacts | None] = {}

    def facts(self, trajectory: Trajectory) -> TaskFacts | None:
        task_id = str((trajectory.extra or {}).get("task_id", ""))
        if task_id not in self._known:
            task = self._tasks.task(task_id)
            self._known[task_id] = facts_of(task) if task else None
        return self._known[task_id]


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
