"""What ``codeenv run`` shows while it goes on: how far it is, what it took, how long it takes.

Owns: counting events and drawing the counts.  The lines of single rollouts go above, into a pipe
as well as into a terminal.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from codeenv.cli.terminal import Terminal, printable
from codeenv.grading.models import Outcome
from codeenv_harness.events import EpisodeEnded, EpisodeStarted, Event, OnEvent
from codeenv_harness.metrics import Usage
from codeenv_harness.records import Key

_UNKNOWN = "—"
_NEWEST = 0.1
"""Least weight of the newest rollout in the mean duration: so it follows what changes."""
_BAR = 24


@dataclass
class Tally:
    """The numbers of a run that goes on.  Not thread-safe.

    Attributes:
        total: Rollouts that are wanted.
        concurrency: How many are played at the same time.
        clock: Gives seconds.
        done: Rollouts that ended, those before a resumed run began again included.
        solved: Of these, how many pass every test.
        invalid: Of these, how many have no valid reward.
        again: Episodes without a valid reward that were played again.
        prompt_tokens: Of every episode that told them; None if none did.
        completion_tokens: Likewise.
        cost_usd: Likewise.
        unpriced: Whether an episode told its tokens and not its cost.
    """

    total: int
    concurrency: int
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    solved: int = 0
    invalid: int = 0
    again: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    unpriced: bool = False
    _since: dict[Key, float] = field(default_factory=dict, init=False)
    _free: deque[float] = field(default_factory=deque, init=False)
    _mean: float = field(default=0.0, init=False)
    _timed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Note when it began."""
        self._began = self.clock()

    def before(self, solved: Iterable[bool], usages: Iterable[Usage | None]) -> None:
        """Take what a resumed run has from before: what is solved, and what it took."""
        for one in solved:
            self.done += 1
            self.solved += one
        for usage in usages:
            self._use(usage)

    def take(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, EpisodeStarted):
            self._start((event.task_id, event.rollout))
        elif isinstance(event, EpisodeEnded):
            self._end(event)

    @property
    def running(self) -> int:
        """Rollouts that are being played."""
        return len(self._since)

    @property
    def elapsed(self) -> float:
        """Seconds since it began, or was resumed."""
        return self.clock() - self._began

    @property
    def remaining(self) -> float | None:
        """Seconds that the rest takes, by the mean duration; None while that is not known."""
        if not self._timed:
            return None
        now, waiting = self.clock(), max(0, self.total - self.done - self.running)
        rests = [max(0.0, self._mean - (now - since)) for since in self._since.values()]
        slots = max(1, min(self.concurrency, self.total - self.done))
        return max((sum(rests) + self._mean * waiting) / slots, max(rests, default=0.0))

    def _start(self, key: Key) -> None:
        """Note since when a rollout has its place: opening its box is a part of what it takes."""
        if key not in self._since:
            self._since[key] = self._free.popleft() if self._free else self.clock()

    def _end(self, event: EpisodeEnded) -> None:
        self._use(event.usage)
        if not event.final:
            self.again += 1
            return
        self.done += 1
        self.solved += _solved(event.outcome)
        self.invalid += not event.outcome.reward_valid
        since = self._since.pop((event.task_id, event.rollout), None)
        if since is not None:
            now = self.clock()
            self._free.append(now)
            self._timed += 1
            self._mean += (now - since - self._mean) * max(1 / self._timed, _NEWEST)

    def _use(self, usage: Usage | None) -> None:
        if usage is None:
            return
        told = usage.prompt_tokens is not None or usage.completion_tokens is not None
        self.unpriced |= told and usage.cost_usd is None
        self.prompt_tokens = _sum(self.prompt_tokens, usage.prompt_tokens)
        self.completion_tokens = _sum(self.completion_tokens, usage.completion_tokens)
        if usage.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + usage.cost_usd


@dataclass
class Board:
    """Draws a tally as it is at that moment, as wide as the terminal."""

    title: str
    tally: Tally

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a line with the bar, and the numbers on as many as they need."""
        tally = self.tally
        head = Table.grid(padding=(0, 1))
        for _ in range(3):
            head.add_column(no_wrap=True, overflow="ellipsis")
        width = min(_BAR, max(4, options.max_width // 3))
        bar = ProgressBar(total=max(1, tally.total), completed=tally.done, width=width)
        count = Text(f"{tally.done}/{tally.total}", "bold")
        head.add_row(Text(printable(self.title), "bold cyan"), bar, count)
        yield head
        for line in _packed([f"{tally.running} running", *numbers(tally)], options.max_width):
            yield Text(line, no_wrap=True, overflow="ellipsis")


def numbers(tally: Tally) -> list[str]:
    """Return what is known of a run, in pieces of a few words."""
    valid = tally.done - tally.invalid
    share = f" ({tally.solved / valid:.0%})" if valid else ""
    pieces = [f"solved {tally.solved}{share}"]
    pieces += [f"not valid {tally.invalid}"] if tally.invalid else []
    pieces += [f"played again {tally.again}"] if tally.again else []
    if tally.prompt_tokens is not None or tally.completion_tokens is not None:
        read, written = _amount(tally.prompt_tokens), _amount(tally.completion_tokens)
        pieces.append(f"tokens {read} in, {written} out")
    if tally.cost_usd is not None:
        pieces.append(f"cost {'over ' if tally.unpriced else ''}${tally.cost_usd:.4f}")
    left = tally.remaining
    pieces.append(f"{_clock(tally.elapsed)} gone")
    pieces.append(f"{_UNKNOWN if left is None else _clock(left)} to go")
    return pieces


class Follower:
    """Counts the events of a run, and says what single rollouts gave.  Thread-safe."""

    def __init__(self, terminal: Terminal, tally: Tally) -> None:
        """Begin with a tally; where nobody looks, it is told in between as a line."""
        self._terminal, self._tally = terminal, tally
        self._lock = threading.Lock()
        self._every = 0 if terminal.lively else max(10, -(-tally.total // 10))

    def __call__(self, event: Event) -> None:
        """Take an event."""
        with self._lock:
            self._tally.take(event)
            if not isinstance(event, EpisodeEnded):
                return
            self._terminal.note(_told(event))
            done = self._tally.done
            if self._every and event.final and done % self._every == 0 and done < self._tally.total:
                pieces = "  ".join(numbers(self._tally))
                self._terminal.note(f"{done}/{self._tally.total}      {pieces}")


@contextmanager
def following(terminal: Terminal, title: str, tally: Tally) -> Iterator[OnEvent]:
    """Give what follows a run; in a terminal its numbers stay below the lines of rollouts."""
    with terminal.live(Board(title, tally)):
        yield Follower(terminal, tally)


def _told(event: EpisodeEnded) -> str:
    outcome, name = event.outcome, f"{event.task_id} #{event.rollout}"
    if not event.final:
        return f"again      {name}: {outcome.error}"
    if outcome.reward_valid:
        return f"reward {outcome.reward:g}   {name}: {outcome.reason}, {outcome.n_steps} steps"
    return f"not valid  {name}: {outcome.error}"


def _solved(outcome: Outcome) -> bool:
    grade = outcome.grade
    return outcome.reward_valid and grade is not None and grade.resolved


def _packed(pieces: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines of whole pieces."""
    line = ""
    for piece in pieces:
        if line and len(line) + 2 + len(piece) > width:
            yield line
            line = ""
        line = f"{line}  {piece}" if line else piece
    yield line


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _amount(tokens: int | None) -> str:
    if tokens is None:
        return _UNKNOWN
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if tokens >= size:
            return f"{tokens / size:.1f}{unit}"
    return str(tokens)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
