"""One agent's attempt at one task: tool calls in a box, then the verdict.

Owns: limits, the one reason an episode ends with, the order export - close - grade.  Does not own:
how a submission is graded (``grading``), how tasks and boxes are made (``runtime``).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from types import TracebackType
from typing import Self

from codeenv.errors import PathError, SandboxError, UsageError
from codeenv.feedback import FeedbackEvent, Observer, Turn, options_for, said, turn_of
from codeenv.feedback.turns import said_instead
from codeenv.grading import Grade, Outcome, to_outcome
from codeenv.grading.collect import FILE_LIMIT, counted_places
from codeenv.grading.models import Reason
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Sandbox
from codeenv.tools import Profile, ToolCall, ToolContext, ToolResult, parse_action, perform, schemas
from codeenv.tools.action import reasoning_of, words_of
from codeenv.tree import Tree

GradeTree = Callable[[Task, Tree], Grade]
"""Grades the exported workspace of a task."""


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """When an episode ends although the agent has not submitted; the work is graded all the same.

    Attributes:
        max_steps: Tool calls, malformed ones included.
        wall_time: Seconds since the episode was opened; 0 for none, and then no clock is read.
        output_budget: Characters of tool results; 0 for none.
    """

    max_steps: int = 100
    wall_time: float = 0.0
    output_budget: int = 0


@dataclass
class Episode:
    """One attempt.  Not thread-safe, but ``close`` may come from any thread.

    Attributes:
        task: What is attempted.
        sandbox: The agent's box; closed before grading.
        grade: Grades an exported workspace.
        limits: When it ends by itself.
        profile: Which tools there are.
        outcome: How it ended, or None while it goes on.
        steps: Tool calls so far.
        exported: The workspace as it was handed in, once the episode is over; None where it could
            not be read.
        noticed: The mistakes of the last call.
        concluded: The mistakes that only the end showed, at whatever call.
        turn: The last action with its answer, or None before the first.
        summary_due: Whether the agent was asked for a summary: until it comes, calls are refused.
    """

    task: Task
    sandbox: Sandbox
    grade: GradeTree
    limits: EpisodeLimits = EpisodeLimits()
    profile: Profile = "core4"
    outcome: Outcome | None = field(default=None, init=False)
    steps: int = field(default=0, init=False)
    exported: Tree | None = field(default=None, init=False)
    noticed: tuple[FeedbackEvent, ...] = field(default=(), init=False)
    concluded: tuple[FeedbackEvent, ...] = field(default=(), init=False)
    turn: Turn | None = field(default=None, init=False)
    summary_due: bool = field(default=False, init=False)
    _next: tuple[int, int] = field(default=(1, 1), init=False)  # number and message of a turn
    _spent: int = field(default=0, init=False)
    _closed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Note when time began, if time is limited."""
        self._deadline = time.monotonic() + self.limits.wall_time if self.limits.wall_time else 0.0
        self._context = ToolContext(self.sandbox, start=self.task.workspace)
        self._observer = Observer(options_for(self.task, schemas(self.profile)))

    @property
    def instruction(self) -> str:
        """What the agent is told."""
        return self.task.instruction

    @property
    def tools(self) -> list[dict[str, object]]:
        """The schemas of the tools there are."""
        return schemas(self.profile)

    @property
    def steps_left(self) -> int:
        """Tool calls until ``max_steps``."""
        return max(0, self.limits.max_steps - self.steps)

    def call(self, action: object) -> ToolResult:
        """Carry one action out, in any form ``parse_action`` takes; it may end the episode.

        Nothing an agent sends raises.  If the sandbox fails, the episode ends with ``infra_error``
        and the result says only that it is over.
        """
        self.noticed = ()
        if self.outcome is not None or self._closed:
            return _over("")
        self.steps += 1
        parsed = _due() if self.summary_due else parse_action(action)
        try:
            if isinstance(parsed, ToolResult):
                result = parsed
            else:
                result = perform(parsed, self._context, self.profile)
        except SandboxError as error:
            self.abort(str(error))
            return _over(parsed.tool if not isinstance(parsed, ToolResult) else "")
        self._spent += len(result.text)
        made = said_instead(action) if self.summary_due else said(action)
        self._observe(made, result, words_of(action), reasoning_of(action))
        if (reason := self._ends(result)) is not None:
            self.finish(reason)
        return result

    def take_step(self) -> bool:
        """Count a step of an agent that acts in the box by itself.

        Returns:
            Whether it may be done; if not, the episode is over.
        """
        if self.is_over():
            return False
        if self.steps >= self.limits.max_steps:
            self.finish("max_steps")
            return False
        self.steps += 1
        return True

    def is_over(self) -> bool:
        """Return whether there is an outcome; there is one from when time is up."""
        if self.outcome is None and not self._closed and self._late():
            self.finish("wall_time")
        return self.outcome is not None or self._closed

    def time_left(self) -> float:
        """Return the seconds until time is up, infinite without a limit."""
        return max(0.0, self._deadline - time.monotonic()) if self._deadline else inf

    def ask_summary(self) -> None:
        """Note that the agent gets a message of its own that asks for a summary."""
        self.summary_due = True
        number, message = self._next
        self._next = (number, message + 1)

    def take_summary(self, text: str, reasoning: str = "") -> None:
        """Note a summary, and that a new context begins with it; it costs no step.

        Raises:
            UsageError: If none was asked for, or the episode is over.
        """
        if not self.summary_due or self.outcome is not None:
            raise UsageError("no summary is due")
        self.summary_due = False
        self._observe(text, ToolResult("", ""), "", reasoning)  # the new context's opening answers
        self._observer.cut()

    def finish(self, reason: Reason = "submitted") -> Outcome:
        """End the episode: export the workspace, close the box, grade.  Idempotent."""
        if self.outcome is not None:
            return self.outcome
        try:
            exported, problem = self._export()
        except SandboxError as error:
            return self.abort(str(error))
        self.close()
        self.exported = exported
        return self._end(self._graded(exported), reason, problem)

    def abort(self, error: str) -> Outcome:
        """End the episode without grading, for a failure that is not the agent's.  Idempotent."""
        self.close()
        return self.outcome or self._end(None, "infra_error", error)

    def fork(self) -> "Episode":
        """Return another episode that goes on from here, in a box of its own.

        It has the files, the steps and what is left of the limits; processes that run in the
        background stay behind.

        Raises:
            PathError: If the files are beyond the box's limits.
            UsageError: If the episode is over, or its environment starts servers.
        """
        if self.outcome is not None or self._closed:
            raise UsageError("the episode is over: there is nothing to fork")
        other = replace(self, sandbox=self.sandbox.fork())
        other.steps, other._spent, other._deadline = self.steps, self._spent, self._deadline
        other.turn, other._observer = self.turn, self._observer.fork()
        other.summary_due, other._next = self.summary_due, self._next
        return other

    def close(self) -> None:
        """Drop the box.  Idempotent; an outcome stays."""
        self._closed = True
        self.sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _observe(
        self, made: ToolCall | str, result: ToolResult, words: str, reasoning: str
    ) -> None:
        """Look at a turn: one message of the agent's, and one that answers it."""
        number, message = self._next
        self._next = (number + 1, message + 2)
        self.turn = turn_of(number, made, result, message=message, words=words, reasoning=reasoning)
        self.noticed = self._observer.observe(self.turn)

    def _export(self) -> tuple[Tree, str]:
        """Return the workspace, and why that is not all of it, if it is not."""
        try:
            return self.sandbox.export(), ""
        except PathError:  # too large to be read: what may count of it can be small
            places = counted_places(self.task)
        try:
            return self.sandbox.export(only=places, largest=FILE_LIMIT), ""
        except PathError as error:
            return self.task.workspace, str(error)

    def _ends(self, result: ToolResult) -> Reason | None:
        if result.name == "submit" and result.ok:
            return "submitted"
        if self.steps >= self.limits.max_steps:
            return "max_steps"
        if 0 < self.limits.output_budget <= self._spent:
            return "output_budget"
        return "wall_time" if self._late() else None

    def _late(self) -> bool:
        return self.time_left() <= 0

    def _graded(self, exported: Tree) -> Grade:
        try:
            return self.grade(self.task, exported)
        except SandboxError as error:
            return Grade(False, {}, {}, valid=False, error=str(error))

    def _end(self, grade: Grade | None, reason: Reason, error: str = "") -> Outcome:
        self.outcome = to_outcome(
            self.task.id, grade, reason=reason, n_steps=self.steps, error=error
        )
        resolved = grade is not None and grade.valid and grade.resolved
        self.concluded = self._observer.finish(resolved=resolved)
        return self.outcome


def _due() -> ToolResult:
    problem = "a summary is asked for, as plain text; no tool was called"
    return ToolResult.failed("", "summary_due", problem)


def _over(tool: str) -> ToolResult:
    return ToolResult.failed(tool, "episode_over", "the episode is over")
