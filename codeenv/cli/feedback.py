"""``codeenv feedback``: write the mistakes of a run as pairs that a trainer can distil."""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from codeenv.cli.options import Subparsers, command
from codeenv.cli.recorded import rollouts_of, write_lines
from codeenv.cli.terminal import Terminal, table
from codeenv.errors import UsageError
from codeenv.export import Rollout
from codeenv.feedback import (
    FeedbackEvent,
    build_teacher_pair,
    feedback_of,
    merge_events,
    message_pair,
)
from codeenv.feedback.models import Placement
from codeenv.feedback.render import ChatTokenizer
from codeenv.trajectory import Trajectory


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
        args.placement, args.merge, _tokenizer(args.tokenizer) if args.tokenizer else None
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
    terminal.data({"rollouts": len(rollouts), "pairs": count, "kinds": dict(kinds)})
    terminal.show(table(("event", "pairs"), sorted(kinds.items())))
    terminal.note(f"{count} pairs of {len(rollouts)} rollouts are in {args.out}")
    return 0


@dataclass(frozen=True)
class _Making:
    placement: Placement | None
    merge: bool
    tokenizer: ChatTokenizer | None

    def rows(self, rollout: Rollout) -> Iterator[dict[str, Any]]:
        """Yield a row for each event of a rollout."""
        trajectory = rollout.trajectory
        if trajectory is None:
            return
        events = _events(trajectory)
        for event in merge_events(events) if self.merge else events:
            pair = message_pair(trajectory, event, placement=self.placement)
            row = {
                "task_id": rollout.task_id,
                "rollout": rollout.rollout,
                "reward_valid": rollout.reward_valid,
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


def _events(trajectory: Trajectory) -> tuple[FeedbackEvent, ...]:
    """Return the events that were recorded (a judge's, a monitor's), and those that rules find."""
    holders = [*(step.extra for step in trajectory.steps), trajectory.extra]
    facts = [event for extra in holders for event in (extra or {}).get("feedback", ())]
    try:
        recorded = [FeedbackEvent.model_validate(event) for event in facts]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{trajectory.trajectory_id}: cannot read its feedback: {where}: {first['msg']}",
            hint="record the run again with this version of codeenv",
        ) from error
    known = {(event.turn, event.kind, event.target) for event in recorded}
    found = [e for e in feedback_of(trajectory) if (e.turn, e.kind, e.target) not in known]
    return tuple(sorted([*recorded, *found], key=lambda event: event.turn))


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
