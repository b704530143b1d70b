"""The facts of a task as frozen models: everything that is written to a taskset folder.

A recipe names source, environment, deletion and tests; it never holds the repository's code.
"""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
SpanDigest = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Tier = Literal["sealed", "guarded", "open"]
"""How a test is graded: split from the code under test, with negative controls, or just run."""
Level = Literal["L1", "L2", "L3", "L4", "L5"]


class Model(BaseModel):
    """Base of all persisted models: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourcePin(Model):
    """Which bytes of which repository: enough to fetch them again and to know they are the same."""

    kind: Literal["git", "path", "pypi", "bundled"]
    location: str
    """Git URL, absolute folder, distribution name, or the bundled repository's name."""
    version: str = ""
    """Commit hash (git, and a path that is a work tree), version (pypi), empty otherwise."""
    sha256: Sha256
    """Of the sdist file (pypi); of the tree (``Tree.digest``) otherwise."""
    subdir: str = ""
    tree: Sha256
    """``Tree.digest`` of the pristine tree below ``subdir``, version files of a build included."""
    licence: str = "unknown"
    """SPDX identifier where it could be told."""

    @property
    def name(self) -> str:
        """A short name for people and file names."""
        last = self.location.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
        return last.lower() or "repository"


class LockedPackage(Model):
    """One installed distribution of an environment."""

    name: str
    version: str
    sha256: str = ""
    """Of the installed archive; empty for what was copied from the host (bundled environment)."""


class EnvironmentLock(Model):
    """What an environment image holds beside the base: exact and hash-pinned."""

    schema_version: Literal[1] = 1
    base: str
    """Kind of base (``debian``, ``registry``, ``host``) and its pin, e.g. ``debian:trixie``."""
    python: str
    """Full version of the interpreter, e.g. ``3.13.5``."""
    platform: str
    """Machine architecture, e.g. ``x86_64``."""
    packages: tuple[LockedPackage, ...]
    import_roots: tuple[str, ...] = (".",)
    """Folders of the repository put on the import path, relative to its root."""
    metadata: tuple[str, ...] = ()
    """``name==version`` of distributions present as metadata only: the repository's own."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Environment variables that tests and agents run with."""
    test_options: tuple[str, ...] = ()
    """Extra arguments for the test runner, e.g. to switch a missing plug-in's options off."""
    services: tuple[str, ...] = ()
    """Servers that every box starts, e.g. ``redis``."""
    memory: Annotated[int, Field(ge=0)] = 0
    """MiB that the tests need in a box, if that is more than boxes have by default."""

    @model_serializer(mode="wrap")
    def _without_rarities(self, inner: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave out what few environments have: locks without it keep their digests."""
        values: dict[str, object] = inner(self)
        return {k: v for k, v in values.items() if k not in ("services", "memory") or v}


def span_digest(data: bytes) -> str:
    """Return the digest of bytes that an operation replaces.

    It is short, since the whole source is pinned as well: it tells where an offset is wrong.
    """
    return hashlib.sha256(data).hexdigest()[:16]


class Operation(Model):
    """One edit of one file, as byte offsets into the *pristine* file: no code is in it."""

    path: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    sha256: SpanDigest
    """Of the bytes ``[start, end)`` that are replaced (``span_digest``)."""
    replacement: str = ""
    """Our own text only: ``pass``, ``...``, ``raise NotImplementedError``, ``return None``, blanks."""
    symbol: str = ""
    """Qualified name of what is deleted, as far as the operation belongs to one."""
    kind: Literal[
        "function", "method", "class", "parameter", "module", "import", "export", "test", "text"
    ]
    mode: Literal["remove", "stub", "clean", "hide"]

    @model_validator(mode="after")
    def _ordered(self) -> "Operation":
        if self.end < self.start:
            raise ValueError("an operation ends before it starts")
        return self


class Difficulty(Model):
    """Static facts that predict how hard the task is, and a prior in [0, 1] made from them."""

    lines: int
    symbols: int
    files: int
    tests: int
    prior: float
    branches: int = 0
    """Decisions in the deleted code."""
    call_sites: int = 0
    """Uses of it in the code that stays."""
    joint: float = 0.0
    """Share of the tests that run more than one of its functions."""


class Provenance(Model):
    """How the recipe was made; no clock, so that the same run gives the same bytes."""

    generator: str
    """``codeenv-gym`` and its version."""
    seed: int
    seed_symbol: str
    """The symbol the feature grew from."""
    kind: str = ""
    """How the feature was found, e.g. ``method``, ``tests`` or ``merged``."""
    parent_id: str = ""


class Replay(Model):
    """A call that no test makes, and a digest of what the known-good solution answers."""

    script: str
    """JSON: see ``guest/replay_values``."""
    answer: SpanDigest
    """First half of the sha256 of the answer's canonical text."""

    @model_validator(mode="after")
    def _of_steps(self) -> "Replay":
        steps = json.loads(self.script)
        targets = [step[0] for step in steps if 1 <= len(step) <= 3]
        for number, target in enumerate(targets):
            if not isinstance(target, str) and target[0] not in range(number):
                raise ValueError("a step refers to none before it")
        if not targets or len(targets) < len(steps):
            raise ValueError("a script is not made of steps")
        return self


class Recipe(Model):
    """A whole task as facts."""

    schema_version: Literal[2] = 2
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=160)]
    title: str
    source: SourcePin
    language: str
    environment: Sha256
    """Digest of the ``EnvironmentLock`` (see ``digest_of``), kept beside the recipes."""
    baseline: Sha256
    """Digest of the ``Baseline``, kept beside the recipes."""
    deletions: tuple[Operation, ...]
    hidden: tuple[Operation, ...] = ()
    """Edits that take the tests of the feature out of the agent's tree."""
    fail_to_pass: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    """Stable tests that fail without the feature and are no F2P tests: they are too weak to reward,
    or there are enough others, so a solution must pass them all the same; or they are doctests that
    a submission can change."""
    held_out: tuple[str, ...] = ()
    """F2P tests that the agent does not see, where it sees others."""
    level: Level = "L3"
    tier: Tier = "open"
    """The weakest of the F2P tests'."""
    licences: tuple[str, ...] | None = None
    """What objects of a submission may be asked by sealed tests; None: no test is sealed."""
    unsplit: tuple[str, ...] = ()
    """Feature tests that are not sealed."""
    guards: dict[str, tuple[str, ...]] = {}
    """Negative controls that feature tests must fail: of those that ask objects of a submission for
    their opinion, and of those that are not sealed."""
    orders: tuple[int | None, ...] = ()
    """Seeds of orders that these tests pass in; None is the order of collection."""
    replays: tuple[Replay, ...] = ()
    """Calls of the feature that a submission must mostly answer as the known-good solution does."""
    difficulty: Difficulty
    damaged_tree: Sha256
    """Digest of the tree the agent gets (without its ``.git``)."""
    secrets: tuple[str, ...] = ()
    """Salted hashes of vanished identifiers, for the audit and the monitor."""
    provenance: Provenance

    @property
    def feature_tests(self) -> tuple[str, ...]:
        """Every stable test that fails without the feature: the rewarding ones first."""
        return (*self.fail_to_pass, *self.excluded)

    def tier_of(self, test: str) -> Tier:
        """Return the strongest way in which a test of the feature can be graded."""
        if self.licences is not None and test not in self.unsplit:
            return "sealed"
        return "guarded" if self.guards.get(test) else "open"


class Baseline(Model):
    """A repository's tests in its environment: the stable set, and why the others are not in it."""

    schema_version: Literal[1] = 1
    source: SourcePin
    environment: Sha256
    runs: int
    stable: tuple[str, ...]
    """Ids that passed in every run, in collection order."""
    quarantined: dict[str, str]
    """Id -> one reason."""
    timeout: float
    """Seconds the whole suite may take when graded."""
    test_timeout: float = 0.0
    """Seconds one test may take when graded; 0 for no limit of its own."""
    test_timeouts: dict[str, float] = {}
    """The same for single tests that take long; not written where there are none."""

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = write(self)
        if not self.test_timeouts:
            values.pop("test_timeouts", None)
        return values
