"""``codeenv feedback``: write the mistakes of a run as pairs that a trainer can distil."""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from codeenv.cli.options import Subparsers, command
from codeenv.cli.recorded import PlayedTasks, add_tasks, rollouts_of, write_lines
from codeenv.cli.terminal import Terminal, table
from codeenv.errors import UsageError
from codeenv.export import Rollout
from codeenv.feedback import (
    FeedbackEvent,
    LeakCheck,
    build_teacher_pair,
    feedback_of,
    leak_check,
    merge_events,
    message_pair,
)
from codeenv.feedback.judge import renumbered
from codeenv.feedback.models import Placement
from codeenv.feedback.render import ChatTokenizer
from codeenv.materialise.models import Task
from codeenv.monitor import TaskFacts, facts_of
from codeenv.trajectory import Trajectory
from codeenv.wrappers.artefacts import artefact_events
from codeenv_harness.metrics import recorded_events


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "feedback", run)
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="folder of a finished run")
    parser.add_argument("--out", type=Path, required=True, help="file for the pairs, JSON lines")
    parser.add_argument(
        "--placement",
        choices=get_args(Placement),
        help="where the hints go (default: where each event says)",
    )
    parser.add_argument(
        "--merge", action="store_true", help="one pair for each turn, with all of its hints"
    )
    add_tasks(parser)
    parser.add_argument(
        "--tokenizer",
        metavar="FOLDER",
        type=Path,
        help="a Hugging Face tokenizer with a chat template: write token ids as well",
    )


def run(args: argparse.Namespace) -> int:
    """Write the pairs."""
    terminal = Terminal(args.json)
    making = _Making(
        args.placement,
        args.merge,
        _tokenizer(args.tokenizer) if args.tokenizer else None,
        _Events(PlayedTasks(args.tasks, args.run_folder)),
    )
    rollouts = rollouts_of(args.run_folder)
    kinds: Counter[str] = Counter()
    with terminal.progress("making pairs", total=len(rollouts)) as steps:

        def rows() -> Iterator[dict[str, Any]]:
            for rollout in rollouts:
                for row in making.rows(rollout):
                    kinds[row["event"]["kind"]] += 1
                    yield row
                steps.advance()

        count = write_lines(args.out, rows())
    refused, blind = making.events.refused, making.events.blind
    counts = {"rollouts": len(rollouts), "pairs": count, "refused": refused, "unchecked": blind}
    terminal.data({**counts, "kinds": dict(kinds)})
    terminal.show(table(("event", "pairs"), sorted(kinds.items())))
    terminal.note(f"{count} pairs of {len(rollouts)} rollouts are in {args.out}")
    if refused:
        terminal.note(f"{refused} hints were refused: they tell the solution or hidden tests")
    if blind:
        terminal.note(
            f"{blind} rollouts were read without their tasks, so no hint was checked for leaks: "
            "name them with --tasks"
        )
    return 0


@dataclass(frozen=True)
class _Making:
    placement: Placement | None
    merge: bool
    tokenizer: ChatTokenizer | None
    events: "_Events"

    def rows(self, rollout: Rollout) -> Iterator[dict[str, Any]]:
        """Yield a row for each event of a rollout."""
        trajectory = rollout.trajectory
        if trajectory is None:
            return
        events = self.events.of(rollout.task_id, trajectory)
        for event in merge_events(events) if self.merge else events:
            pair = message_pair(trajectory, event, placement=self.placement)
            row = {
                "task_id": rollout.task_id,
                "rollout": rollout.rollout,
                "reward_valid": rollout.reward_valid,
                "ok": rollout.ok,
                "event": event.model_dump(mode="json"),
                **asdict(pair),
                "tools": trajectory.agent.tool_definitions or [],
            }
            if self.tokenizer is not None:
                built = build_teacher_pair(
                    trajectory, event, self.tokenizer, placement=self.placement
                )
                row["tokens"] = asdict(built)
            yield row


class _Events:
    """The events of rollouts: of all that can be known, without hints that tell too much.

    Attributes:
        refused: How many hints told the solution or hidden tests, so far.
        blind: How many rollouts were read without their task, so far.
    """

    def __init__(self, tasks: PlayedTasks) -> None:
        self.refused = self.blind = 0
        self._tasks = tasks
        self._task_id: str | None = None
        self._known: tuple[Task, TaskFacts, LeakCheck] | None = None

    def of(self, task_id: str, trajectory: Trajectory) -> tuple[FeedbackEvent, ...]:
        if task_id != self._task_id:  # rollouts are sorted by their tasks
            made = self._tasks.task(task_id)
            self._known = (made, facts_of(made), leak_check(made)) if made else None
            self._task_id = task_id
        if self._known is None:
            self.blind += 1
            return _events(trajectory, None, None)
        task, facts, check = self._known
        kept, refused = check.sorted_out(_events(trajectory, task, facts))
        self.refused += len(refused)
        return kept


def _events(
    trajectory: Trajectory, task: Task | None, facts: TaskFacts | None
) -> tuple[FeedbackEvent, ...]:
    """Return the events that were recorded (a judge's), and what rules and the monitor find."""
    recorded = recorded_events(trajectory)
    known = {_place(event) for event in recorded}
    rules = (e for e in feedback_of(trajectory, task) if _place(e) not in known)
    seen = (e for e in artefact_events(trajectory, facts) if _place(e) not in known)
    found = [*recorded, *rules]
    found += renumbered(seen, found)
    return tuple(sorted(found, key=lambda event: event.turn))


def _place(event: FeedbackEvent) -> tuple[object, ...]:
    return event.turn, event.kind, event.target


def _tokenizer(folder: Path) -> ChatTokenizer:
    """Load a tokenizer from a folder; nothing is downloaded, no code of the folder runs.

    Raises:
        UsageError: If that is not possible, or it has no chat template.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder",
            hint="save one with tokenizer.save_pretrained(FOLDER)",
        )
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise UsageError(
            "--tokenizer needs transformers", hint="pip install transformers"
        ) from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:
        raise UsageError(
            f"{folder} holds no tokenizer that transformers can load: {error}",
            hint="save one with tokenizer.save_pretrained(FOLDER)",
        ) from error
    if not tokenizer.chat_template:
        raise UsageError(
            f"the tokenizer in {folder} has no chat template",
            hint="set tokenizer.chat_template and save it again, or build pairs in Python with "
            "PlainRenderer",
        )
    chosen: ChatTokenizer = tokenizer
    return chosen
