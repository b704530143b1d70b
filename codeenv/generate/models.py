"""The values that pass from stage to stage, and the reasons a candidate can end with."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from codeenv.languages.base import Unit
from codeenv.tasks.models import Level, Operation, Recipe, Tier
from codeenv.tree import Tree


class Reason(StrEnum):
    """How a candidate ended, exactly one each; ``description`` says what that means."""

    EMITTED = "emitted"
    NOT_TRIED = "not_tried"
    NOT_DELETABLE = "not_deletable"
    NOT_HIDABLE = "not_hidable"
    NO_FAILURE = "no_failure"
    BREAKS_COLLECTION = "breaks_collection"
    BREAKS_OTHERS = "breaks_others"
    CRASHES = "crashes"
    WEAK_TESTS = "weak_tests"
    UNSTABLE = "unstable"
    UNDERSPECIFIED = "underspecified"
    TELLS_TOO_MUCH = "tells_too_much"
    LEAK = "leak"
    FORGEABLE = "forgeable"
    DUPLICATE = "duplicate"
    DIFFICULTY = "difficulty"
    INFRASTRUCTURE = "infrastructure"
    INTERNAL = "internal"

    @property
    def description(self) -> str:
        """What it means, for people."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    Reason.EMITTED: "it became a task",
    Reason.NOT_TRIED: "the limit was reached first",
    Reason.NOT_DELETABLE: "no mode can delete it without leaving the code inconsistent",
    Reason.NOT_HIDABLE: "its tests cannot be taken out of their files",
    Reason.NO_FAILURE: "no test that runs it fails without it",
    Reason.BREAKS_COLLECTION: "a test module no longer imports without it",
    Reason.BREAKS_OTHERS: "a test that never runs it fails without it",
    Reason.CRASHES: "the suite ends early or runs out of time without it",
    Reason.WEAK_TESTS: "lazy or wrong code passes every test of it, or of a part of it",
    Reason.UNSTABLE: "the nop did not score 0, or the oracle not 1, in a fresh box",
    Reason.UNDERSPECIFIED: "a test needs a name, text or number that nothing gives",
    Reason.TELLS_TOO_MUCH: "the statement quotes deleted code or names a hidden test",
    Reason.LEAK: "the deleted code can still be read somewhere",
    Reason.FORGEABLE: "its tests cannot be graded so that code which forges verdicts fails",
    Reason.DUPLICATE: "too much of it is in an earlier task",
    Reason.DIFFICULTY: "it looks easier or harder than what was asked for",
    Reason.INFRASTRUCTURE: "the sandbox failed, twice",
    Reason.INTERNAL: "a fault of codeenv itself: please report it",
}

FeatureKind = Literal[
    "function", "method", "class", "module", "plugin", "parameter", "tests", "merged"
]
"""A closure of one unit (of one that is registered: a plug-in), a whole file, a parameter with the
arms that it chooses, code that one group of tests has to itself, or two features in one."""
KINDS: tuple[FeatureKind, ...] = get_args(FeatureKind)
Origin = FeatureKind | Literal["proposal", "widened", "restated"]
"""Also what somebody proposed, a task with more around it, and a task told at a lower level."""


ANY_DIFFICULTY = (0.0, 1.0)


TestMode = Literal["hidden", "split", "visible"]


@dataclass(frozen=True)
class GenerateOptions:
    """What to generate.

    Attributes:
        out: Taskset folder to write to.
        ref: Git reference.
        subdir: Folder of the repository to use as root.
        limit: Stop after this many tasks (None: all).
        kinds: Kinds of features to propose.
        level: Statement level.
        tests: Which of the tests the agent may see (None: two thirds at level L5, else none).
        seed: Of the order in which candidates are tried.
        jobs: Boxes at work at the same time.
        resume: Take over what an interrupted run of the same command has proven.
        min_lines: Fewest executable lines a feature may have.
        max_lines: Most lines a feature may have.
        max_share: Largest share of the stable tests that may run the feature, where there are
            enough such features.
        difficulty: Lowest and highest prior of a task.
        tier: The weakest tier that a task may have.
        proposals: Files with diffs that are the only candidates.
    """

    out: Path
    ref: str = ""
    subdir: str = ""
    limit: int | None = None
    kinds: tuple[FeatureKind, ...] = KINDS
    level: Level = "L3"
    tests: TestMode | None = None
    seed: int = 0
    jobs: int = 2
    resume: bool = False
    min_lines: int = 3
    max_lines: int = 400
    max_share: float = 0.3
    difficulty: tuple[float, float] = ANY_DIFFICULTY
    proposals: tuple[Path, ...] = ()
    tier: Tier = "guarded"

    @property
    def digest(self) -> str:
        """What is asked for: not where it is written to, nor how the work goes on."""
        facts = replace(self, out=Path(), jobs=1, resume=False)
        return hashlib.sha256(str(facts).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Event:
    """Something the pipeline did, for people and for ``events.jsonl``."""

    kind: str
    text: str
    data: Mapping[str, object] = field(default_factory=dict)


OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Given:
    """A deletion that is not to be worked out: somebody proposed it, or a task has it.

    Attributes:
        operations: Its edits.
        lines: (path, line) of all that is deleted.
        cut: The feature's members of which only a part goes.
        problem: Why what is left is not consistent, or "".
        name: Of the file it was proposed in, or "".
    """

    operations: tuple[Operation, ...]
    lines: frozenset[tuple[str, int]]
    cut: frozenset[Unit] = frozenset()
    problem: str = ""
    name: str = ""


@dataclass(frozen=True)
class Feature:
    """A seed and all code that only the seed's tests reach.

    Attributes:
        seed: The unit it grew from.
        members: All units to delete, the seed included, in file order; none lies in another.
        tests: Stable ids that run any member, in stable order: the tests predicted to fail; of a
            parameter those that run its function, for a caller may just name the parameter.
        line_count: Executable lines of all members, nested units included.
        kind: How it was found.
        joint: Those of ``tests`` that run more than one of its functions.
        given: Its deletion, if that is known.
        level: How much its statement tells, if not what the run's options say.
        parent_id: Task that it is a harder child of.
        inner: The outermost units of a member that is a whole file.
    """

    seed: Unit
    members: tuple[Unit, ...]
    tests: tuple[str, ...]
    line_count: int
    kind: Origin
    joint: frozenset[str] = frozenset()
    given: Given | None = None
    level: Level | None = None
    parent_id: str = ""
    inner: tuple[Unit, ...] = ()

    @cached_property
    def key(self) -> str:
        """A short content hash of what is deleted, and of the level if it is its own."""
        names = [f"{u.id}:{u.start}" for u in self.members]
        edits = self.given.operations if self.given else ()
        names += [f"{o.path}:{o.start}:{o.end}:{o.replacement}" for o in edits]
        names += [self.level] if self.level else []
        return hashlib.sha256("\n".join(names).encode()).hexdigest()[:10]

    @property
    def told(self) -> str:
        """Its symbol, with what tells it from others of the same symbol, for people."""
        if self.given and self.given.name:
            return f"{self.given.name}: {self.seed.id}"
        return f"{self.seed.id} ({self.kind}, {self.level})" if self.parent_id else self.seed.id

    @cached_property
    def lines(self) -> frozenset[tuple[str, int]]:
        """(path, line) of all that is deleted, blank lines and comments included."""
        if self.given:
            return self.given.lines
        return frozenset[tuple[str, int]]().union(*map(lines_in, self.members))

    @cached_property
    def test_set(self) -> frozenset[str]:
        """``tests`` without their order."""
        return frozenset(self.tests)


def lines_in(unit: Unit) -> frozenset[tuple[str, int]]:
    """Return (path, line) of a unit, blank lines and comments included."""
    return frozenset((unit.path, line) for line in range(unit.start, unit.end + 1))


@dataclass(frozen=True)
class Deletion:
    """A feature's edits in one mode, and the tree they leave."""

    feature: Feature
    mode: str
    operations: tuple[Operation, ...]
    damaged: Tree


@dataclass(frozen=True)
class Proof:
    """What the suite said about a deletion.

    Attributes:
        deletion: What is deleted.
        fail_to_pass: Tests that reward.
        excluded: Tests that fail without the code and do not reward: lazy code passes them, or
            a submission can change them.
    """

    deletion: Deletion
    fail_to_pass: tuple[str, ...]
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One candidate's end: a recipe, or the reason why not."""

    feature: Feature
    reason: Reason
    detail: str = ""
    recipe: Recipe | None = None


def tried_of(funnel: Mapping[str, int]) -> int:
    """Return how many candidates were tried: not those too like a task, nor past the limit."""
    return sum(funnel.values()) - sum(funnel.get(reason, 0) for reason in _NEVER_TRIED)


_NEVER_TRIED = (Reason.DUPLICATE, Reason.NOT_TRIED)


@dataclass(frozen=True)
class GenerationResult:
    """What a run gave."""

    recipes: tuple[Recipe, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def funnel(self) -> dict[str, int]:
        """Return reason -> number of candidates, in the order of ``Reason``."""
        counts = dict.fromkeys(Reason, 0)
        for verdict in self.verdicts:
            counts[verdict.reason] += 1
        return {reason.value: count for reason, count in counts.items() if count}


class Rejected(Exception):
    """Ends one candidate with a reason; never leaves the pipeline."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        """Keep the reason."""
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
