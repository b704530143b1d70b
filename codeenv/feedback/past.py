"""What rules remember of an episode's earlier turns."""

import posixpath
import re
from dataclasses import dataclass, field

from codeenv.feedback.options import Options, inside
from codeenv.feedback.plans import Plans
from codeenv.feedback.selections import covers
from codeenv.feedback.shell import only_reads, runs_code, runs_tests
from codeenv.feedback.testruns import TestRun, read_run
from codeenv.feedback.turns import Turn
from codeenv.feedback.writes import Write, written

Key = tuple[str, ...]
_CHARACTERS = 4  # of a token, about
_UNIT = 1000
_WHATEVER_IS_THERE = frozenset({"unknown_tool", "invalid_action", "outside_repo"})
"""Errors that no change of a file can mend."""
_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?m?s\b")


@dataclass
class Past:
    """The memory; it grows with the episode and is never searched from the start.

    Attributes:
        reads: A range of a file -> the turn that read it first as it is, and what it gave.
        failures: A call and its error -> the turn of the first such.
        edits: Path -> the turn of the last edit.
        counted: The turn of the last edit that can count, by a command where that is plain; 0 for
            none.
        commands: Turn and text of the commands that were run and may have changed something.
        tested: The last run of tests.
        checked: The turn of the last run of the agent's own code that succeeded; 0 for none.
        submitted: The submission.
        plans: The agent's own lists.
        effort: Thousand tokens or their equivalent so far; counted on easy tasks only.
        crossed: The turn in which it passed the limit.
    """

    reads: dict[Key, tuple[int, str]] = field(default_factory=dict)
    failures: dict[Key, int] = field(default_factory=dict)
    edits: dict[str, int] = field(default_factory=dict)
    counted: int = 0
    commands: list[tuple[int, str]] = field(default_factory=list)
    tested: TestRun | None = None
    checked: int = 0
    submitted: Turn | None = None
    plans: Plans = field(default_factory=Plans)
    effort: float = 0.0
    crossed: Turn | None = None

    def add(self, turn: Turn, options: Options) -> None:
        """Remember a turn; rules have looked at it before."""
        if not turn.ok or turn.exit_code:
            self._add_failure(turn)
        if turn.tool == "read_file" and turn.ok:
            self._add_read(turn)
        elif turn.tool == "edit_file" and turn.ok:
            self._add_edit(turn, options)
        elif turn.tool == "run_command":
            self._add_command(turn, options)
        elif turn.tool == "submit" and turn.ok:
            self.submitted = turn
        if options.is_easy:
            self._add_effort(turn, options)

    def unchanged_read(self, turn: Turn) -> int:
        """Return the turn that gave what this one gave again; 0 if there is none.

        A command in between that may have changed the file makes it unknown.
        """
        known = self.reads.get(range_of(turn))
        if known is None or known[1] != turn.text:
            return 0
        if self.edits.get(inside(turn.value("path")), 0) > known[0] or self._ran(known[0]):
            return 0
        return known[0]

    def same_failure(self, turn: Turn) -> int:
        """Return the turn in which the same call failed in the same way first; 0 if there is none.

        Where the files decide, it is the same call if none of them was changed since: of a call
        that names a path that one, of others any, and all by another command.
        """
        first = self.failures.get(failure_of(turn), 0)
        if not first or not turn.tool or turn.error in _WHATEVER_IS_THERE:
            return first
        changed = self._edited(turn) > first
        return 0 if changed or self._ran(first, turn.value("command")) else first

    def _edited(self, turn: Turn) -> int:
        """Return the turn of the last edit that a call can depend on; 0 for none."""
        path = inside(turn.value("path"))
        if turn.tool == "run_command" or path in ("", "."):
            return max(self.edits.values(), default=0)
        below = (turn for edited, turn in self.edits.items() if edited.startswith(f"{path}/"))
        return max(self.edits.get(path, 0), *below, 0)

    def _ran(self, since: int, but: str | None = None) -> bool:
        """Return whether a command ran since a turn that may have changed something."""
        for number, command in reversed(self.commands):
            if number <= since:
                return False
            if command != but:
                return True
        return False

    def _add_failure(self, turn: Turn) -> None:
        if not self.same_failure(turn):
            self.failures[failure_of(turn)] = turn.number

    def _add_read(self, turn: Turn) -> None:
        if not self.unchanged_read(turn):
            self.reads[range_of(turn)] = (turn.number, turn.text)

    def _add_edit(self, turn: Turn, options: Options) -> None:
        path = inside(turn.value("path"))
        self.edits[path] = turn.number
        self.plans.edit(path, turn.value("old_str"), turn.value("new_str"))
        if options.may_count(path):
            self.counted = turn.number

    def _add_command(self, turn: Turn, options: Options) -> None:
        command = turn.value("command")
        if not only_reads(command):
            self.commands.append((turn.number, command))
        if (turn.ok or turn.error == "timeout") and runs_tests(command):
            self._add_run(turn, command)
            return
        if succeeded(turn) and runs_code(command):
            self.checked = turn.number
        if any(options.may_count(write.path) for write in written_by(turn)):
            self.counted = turn.number

    def _add_run(self, turn: Turn, command: str) -> None:
        stopped = turn.error == "timeout"
        run = read_run(turn.number, turn.text, turn.exit_code, stopped=stopped)
        if run is not None:
            self.tested = run.after(self.tested, covers(command, failed=run.failed))

    def _add_effort(self, turn: Turn, options: Options) -> None:
        self.effort += effort_of(turn)
        if self.crossed is None and self.effort > options.effort_limit:
            self.crossed = turn


def succeeded(turn: Turn) -> bool:
    """Return whether a command came to its end and did not say that it failed."""
    return turn.ok and turn.exit_code in (0, None)


def written_by(turn: Turn) -> tuple[Write, ...]:
    """Return what a command plainly wrote: nothing if it failed, for who knows how far it came."""
    if turn.tool != "run_command" or not succeeded(turn):
        return ()
    folder = inside(turn.value("workdir"))
    return written(turn.value("command"), posixpath.join(folder, ""))


def range_of(turn: Turn) -> Key:
    """Return which lines of which file a call reads."""
    lines = (str(turn.arguments.get(key) or 0) for key in ("start_line", "end_line"))
    return (inside(turn.value("path")), *lines)


def failure_of(turn: Turn) -> Key:
    """Return a call and how it failed; of a command its output counts, durations in it do not."""
    how = turn.error or f"{turn.exit_code}\n{_DURATION.sub('', turn.text)}"
    return (turn.tool, turn.written if turn.tool else turn.content, how)


def effort_of(turn: Turn) -> float:
    """Return a turn's effort: what was written, a tenth of what was read, and the turn itself."""
    wrote = len(turn.reasoning) + len(turn.content) + (len(turn.written) if turn.tool else 0)
    tokens = (wrote + 0.1 * len(turn.text)) / _CHARACTERS
    return tokens / _UNIT + 0.05 + (0.05 if turn.tool else 0.0)
