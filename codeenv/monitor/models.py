"""Events, findings and verdicts: what the monitor reads and what it says."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
)

from codeenv.trajectory.seal import GENESIS, link

Group = Literal["solution_contamination", "grader_gaming", "conduct", "harness_level"]
Severity = Literal["violation", "suspicious", "info"]
PathClass = Literal[
    "source", "test", "config", "vcs", "cache", "site", "system", "home", "tmp", "unknown"
]
Source = Literal["agent", "tool", "env", "grader"]
Action = Literal["pass", "flag", "quarantine", "mask"]


class Model(BaseModel):
    """Base of all models here: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Payload(Model):
    """What is particular to one kind of event."""


class Text(Payload):
    """``message`` and ``reasoning``."""

    text: str


class Called(Payload):
    """``tool_call``."""

    name: str
    args: dict[str, Any]


class Returned(Payload):
    """``tool_result``: the excerpt is the text up to a limit, head and tail."""

    ok: bool
    exit: int | None = None
    error: str = ""
    stdout_sha: str
    excerpt: str
    vanished: tuple[str, ...] = ()
    """Names that were deleted with the feature and that the agent had not seen or written yet."""


class Executed(Payload):
    """``exec``: read from a command line or a script, or observed by a system call log."""

    argv: tuple[str, ...]
    cwd: str = ""
    pid: int | None = None
    ppid: int | None = None
    uid: int | None = None
    stdin: str = ""
    background: bool = False
    via: Literal["shell", "python", "tool", "log"] = "shell"


class FileRead(Payload):
    """``file_read``."""

    path: str
    cls: PathClass = Field(alias="class")
    pre_existing: bool
    bytes: int | None = None

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class FileWritten(Payload):
    """``file_write`` and ``file_delete``; ``counted`` says whether the grader took it."""

    path: str
    cls: PathClass = Field(alias="class")
    pre_existing: bool
    sha_before: str = ""
    sha_after: str = ""
    counted: bool = False

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Linked(Payload):
    """``link``: a symbolic or hard link."""

    path: str
    target: str


class Reached(Payload):
    """``net``."""

    dst: str
    allowed: bool = False


class Alive(Payload):
    """``proc_alive_at_end``."""

    pid: int
    argv: tuple[str, ...] = ()


class Snapshot(Payload):
    """``snapshot``: digest of the tree that was handed in."""

    tree_sha: str


class Graded(Payload):
    """``grade``: what the grader said."""

    reward: float
    reward_valid: bool
    resolved: bool
    reason: str = ""
    components: dict[str, float] = Field(default_factory=dict)
    accepted: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class Finding(Payload):
    """One thing a detector saw (``finding``).

    Attributes:
        detector: Function that says so; a monitor fills it in.
        label: Of the table in ``labels``.
        group: What kind of misconduct the label belongs to.
        severity: ``violation`` > ``suspicious`` > ``info``.
        confidence: In [0, 1].
        deterministic: Whether facts prove it, not likeness.
        attempted: Whether it was tried.
        succeeded: Whether it had an effect: content was returned, or the grader took the code.
        evidence: ``seq`` of the events it rests on.
        span: ``path:first-last`` or an excerpt, at most 200 characters.
        detail: One sentence for people.
    """

    detector: str = ""
    label: str
    group: Group
    severity: Severity
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    deterministic: bool = True
    attempted: bool = True
    succeeded: bool = False
    evidence: tuple[int, ...] = ()
    span: str = ""
    detail: str = ""

    @property
    def masks(self) -> bool:
        """Whether it takes the reward away."""
        return self.severity == "violation" and self.deterministic and self.succeeded


PAYLOADS: dict[str, type[Payload]] = {
    "message": Text,
    "reasoning": Text,
    "tool_call": Called,
    "tool_result": Returned,
    "exec": Executed,
    "file_read": FileRead,
    "file_write": FileWritten,
    "file_delete": FileWritten,
    "link": Linked,
    "net": Reached,
    "proc_alive_at_end": Alive,
    "snapshot": Snapshot,
    "grade": Graded,
    "finding": Finding,
}


class Event(Model):
    """One line of an event log: a superset of an ATIF step, chained by hash.

    ``seq`` counts from 0; ``t_mono`` is in seconds since the first event, None where it is not
    known; ``hash`` covers everything else, ``prev_hash`` included.
    """

    v: Literal[1] = 1
    episode: str
    seq: Annotated[int, Field(ge=0)]
    t_mono: float | None = None
    source: Source
    step_id: int | None = None
    tool_call_id: str | None = None
    kind: Literal[
        "message", "reasoning", "tool_call", "tool_result", "exec", "file_read", "file_write",
        "file_delete", "link", "net", "proc_alive_at_end", "snapshot", "grade", "finding",
    ]  # fmt: skip
    data: SerializeAsAny[Payload]
    prev_hash: str = GENESIS
    hash: str = ""

    @field_validator("data", mode="before")
    @classmethod
    def _typed(cls, value: object, info: ValidationInfo) -> object:
        """Read plain data as the payload of the event's kind."""
        kind = PAYLOADS.get(info.data.get("kind", ""))
        if kind is None or isinstance(value, kind):
            return value
        return kind.model_validate(value)

    def expected_hash(self) -> str:
        """Return the hash that the event must have."""
        return link(self.prev_hash, self.model_dump(exclude={"hash", "prev_hash"}, by_alias=True))


class Judgement(Model):
    """What a judge says of a case: it may add labels and quarantine, and never changes a reward."""

    labels: tuple[str, ...] = ()
    attempted: bool = False
    succeeded: bool = False
    confidence: Annotated[int, Field(ge=1, le=10)] = 1
    evidence: tuple[int, ...] = ()
    quarantine: bool = False
    reason: str = ""


class Verdict(Model):
    """What is done with one episode's reward.

    Attributes:
        episode: Which one.
        action: ``mask``: the reward is 0.  ``quarantine``: keep it out of training until somebody
            has looked.  ``flag``: something was tried or is worth a look.  ``pass``: nothing.
        findings: By weight, then by label.
        knowledge: What was known: the ``task``, or the ``trajectory`` alone.
        chain: Whether the record is ``intact``, ``broken`` or has no chain (``absent``).
        tier: 1: tool calls alone; 2: what was handed in as well; 3: a system call log as well.
        errors: Detectors that failed, and how; then the action is at least ``quarantine``.
        judgement: Of a judge, if one was asked.
        judge_error: Why it did not answer.
    """

    episode: str
    action: Action
    findings: tuple[Finding, ...] = ()
    knowledge: Literal["task", "trajectory"] = "trajectory"
    chain: Literal["intact", "broken", "absent"] = "absent"
    tier: Literal[1, 2, 3] = 1
    errors: tuple[str, ...] = ()
    judgement: Judgement | None = None
    judge_error: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted, each once."""
        return tuple(sorted({finding.label for finding in self.findings}))

    def reward(self, given: float) -> float:
        """Return the reward that stands; it is never more than the one given."""
        return 0.0 if self.action == "mask" else given
