"""``codeenv view``: a local page to read the trajectories of a run."""

import argparse
import re
import webbrowser
from pathlib import Path

from codeenv.cli.options import Subparsers, command
from codeenv.cli.recorded import PlayedTasks, add_tasks
from codeenv.cli.terminal import Terminal
from codeenv.monitor import TaskFacts, facts_of
from codeenv_harness.viewer import Library, ViewerServer

_PORTS = 65535


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "view", run)
    parser.add_argument(
        "run_folder",
        metavar="RUN",
        type=Path,
        help="folder of a run, or of a benchmark's runs; it may still be played",
    )
    parser.add_argument(
        "--port", type=_port, default=0, help="of this machine (default: a free one)"
    )
    parser.add_argument("--open", action="store_true", help="open it in a browser at once")
    add_tasks(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    terminal = Terminal(args.json)
    facts = _Facts(args.tasks)
    library = Library(args.run_folder, facts)
    for place in library.places().values():
        facts.played(place.folder.folder)  # what is wrong with --tasks is told now
    with ViewerServer(library, args.port) as server:
        terminal.data({"url": server.url, "runs": sorted(library.places())})
        terminal.document(server.url + "\n")
        terminal.note("Ctrl-C ends it")
        if args.open:
            webbrowser.open(server.url)
        server.serve_forever()
    return 0


class _Facts:
    """What is known of the tasks that were played; each run's are looked up once."""

    def __init__(self, tasks: str | None) -> None:
        self._tasks = tasks
        self._played: dict[Path, PlayedTasks] = {}

    def __call__(self, folder: Path, task_id: str) -> TaskFacts | None:
        """Return the facts of a task, or None if it cannot be had."""
        task = self.played(folder).task(task_id)
        return facts_of(task) if task else None

    def played(self, folder: Path) -> PlayedTasks:
        """Return the tasks of a run.

        Raises:
            TaskError: If there are no such tasks.
        """
        if folder not in self._played:
            self._played[folder] = PlayedTasks(self._tasks, folder)
        return self._played[folder]


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > _PORTS:
        raise argparse.ArgumentTypeError(f"must be from 0 to {_PORTS}: {text!r}")
    return int(text)
