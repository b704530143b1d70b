"""Hints that tell what an agent must find out itself: the deleted code, the hidden tests."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from codeenv.feedback.models import FeedbackEvent
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task

RUN = 8
"""Tokens in a row that are no coincidence."""
_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\w\s]")
_LARGEST = 512 * 1024
Grams = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Refused:
    """An event that was dropped, and why; the reason does not repeat the secret."""

    event: FeedbackEvent
    reason: str

    def told(self) -> dict[str, object]:
        """Return it as plain data, without the hint."""
        return {"id": self.event.id, "kind": self.event.kind, "reason": self.reason}


@dataclass(frozen=True)
class LeakCheck:
    """Refuses hints that share a run of tokens (words, numbers, signs) with secret texts.

    Attributes:
        secret: The runs of the secret texts, less those of what the agent was given.
        run: Tokens in a run.
    """

    secret: Grams = frozenset()
    run: int = RUN

    @classmethod
    def of(cls, secrets: Iterable[str], public: Iterable[str] = (), run: int = RUN) -> "LeakCheck":
        """Make a check of secret texts and of what the agent has anyway."""
        secret = {gram for text in secrets for gram in grams(text, run)}
        for text in public if secret else ():
            secret -= grams(text, run)
        return cls(frozenset(secret), run)

    def reason(self, event: FeedbackEvent) -> str:
        """Return why an event must not be shown, or ""; a privileged one may tell anything."""
        if event.privileged or self.secret.isdisjoint(grams(event.hint, self.run)):
            return ""
        return f"the hint shares {self.run} tokens in a row with the solution or hidden tests"

    def sorted_out(
        self, events: Iterable[FeedbackEvent]
    ) -> tuple[tuple[FeedbackEvent, ...], tuple[Refused, ...]]:
        """Return the events that may be shown, and those that may not."""
        reasons = [(event, self.reason(event)) for event in events]
        kept = tuple(event for event, reason in reasons if not reason)
        return kept, tuple(Refused(event, reason) for event, reason in reasons if reason)


def grams(text: str, run: int = RUN) -> Grams:
    """Return the runs of tokens in a text, whatever its spaces and its case."""
    tokens = _TOKEN.findall(text[:_LARGEST].casefold())
    return frozenset(zip(*(tokens[n:] for n in range(run)), strict=False))


def leak_check(task: Task, more: Iterable[str] = ()) -> LeakCheck:
    """Return the check of a task: its deleted code and its hidden tests are secret.

    Args:
        task: The task; what stands in its workspace or its statement is no secret.
        more: Other secret texts.
    """
    given = without_git(task.workspace)
    tests = [e.data for p in task.layout.test_files if (e := task.grading_tree.get(p)) is not None]
    gold = [entry.data for entry in task.oracle.write.values()]
    public = [task.instruction, *(_text(entry.data) for entry in given.values())]
    return LeakCheck.of([*map(_text, [*gold, *tests]), *more], public)


def _text(data: bytes) -> str:
    return "" if b"\0" in data[:8192] else data[:_LARGEST].decode("utf-8", "replace")
