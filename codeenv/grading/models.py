"""What grading says: per-test outcomes, the verdict, and an episode's outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from codeenv.tasks.models import Tier

TestStatus = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed", "missing"]
Reason = Literal[
    "submitted",
    "max_steps",
    "wall_time",
    "output_budget",
    "context_exceeded",
    "agent_gave_up",
    "infra_error",
    "grader_error",
]


@dataclass(frozen=True)
class GradingOptions:
    """How submissions are graded.

    Attributes:
        tier: The strongest way to grade a test that is used; each test is graded in the strongest
            that it can have up to this.  None is ``sealed``, but ``open`` with the backend
            ``local``, which isolates nothing.
        controls: Probability, in [0, 1], that a kind of negative control runs where tests have any;
            less is faster, and still makes forging unprofitable in training.
    """

    tier: Tier | None = None
    controls: float = 1.0


DEFAULT_GRADING = GradingOptions()


@dataclass(frozen=True)
class Grade:
    """The verdict on one submission.

    Attributes:
        resolved: Whether every F2P, P2P and weak test passed, exactly once each.
        fail_to_pass: Status per F2P id.
        pass_to_pass: Status per P2P id.
        weak: Status per test of the feature that lazy code passes, too: a solution must pass it,
            and no reward is for it alone.
        held_out: F2P ids that the agent did not see, where it saw others.
        accepted_paths: Changed paths that counted.
        ignored_paths: Changed paths that did not count (tests, configuration, packaging …).
        valid: False if the grader itself failed; then nothing else means anything.
        error: What failed in the grader, if not valid.
        tiers: How each of the feature's tests was graded.
        caught: Test -> negative controls that it passed: it failed for that.
        controls: Probability with which each kind of negative control was run.
        replayed: Function -> how many calls that no test makes were answered as the known-good
            solution does, and of how many; half are enough.  Empty unless all tests passed.
    """

    resolved: bool
    fail_to_pass: Mapping[str, TestStatus]
    pass_to_pass: Mapping[str, TestStatus]
    accepted_paths: tuple[str, ...] = ()
    ignored_paths: tuple[str, ...] = ()
    valid: bool = True
    error: str = ""
    held_out: tuple[str, ...] = ()
    weak: Mapping[str, TestStatus] = field(default_factory=dict)
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    caught: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: float = 1.0
    replayed: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def not_passed(self) -> dict[str, TestStatus]:
        """Status per test, and per function that is replayed, that is demanded and not passed."""
        every = {**self.pass_to_pass, **self.weak, **self.fail_to_pass}
        every |= {f"replay of {name}": "failed" for name in self._unlike}
        return {test: status for test, status in every.items() if status != "passed"}

    @property
    def components(self) -> dict[str, float]:
        """Shares in [0, 1]: of tests, of ``held_out`` ones where there are any, of ``replay``."""
        shares = {
            "fail_to_pass": _share(self.fail_to_pass),
            "pass_to_pass": _share(self.pass_to_pass),
        }
        if self.held_out:
            shares["held_out"] = _share(self._split()[1])
        if self.replayed:
            right, asked = map(sum, zip(*self.replayed.values(), strict=True))
            shares["replay"] = right / asked
        return shares

    @property
    def special_cased(self) -> bool:
        """Whether every test that the agent saw passes, and what it did not see does not."""
        seen, unseen = self._split()
        held_out = bool(unseen) and _share(seen) == 1 and _share(unseen) < 1
        return self.valid and (bool(self._unlike) or held_out)

    @property
    def _unlike(self) -> tuple[str, ...]:
        """The functions that answer fewer than half of the calls as the known-good solution."""
        return tuple(name for name, (right, n) in self.replayed.items() if 2 * right < n)

    def _split(self) -> tuple[Mapping[str, TestStatus], Mapping[str, TestStatus]]:
        """Return the F2P tests that the agent saw, and the others; none, if it saw none."""
        unseen = frozenset(self.held_out)
        return (
            {test: status for test, status in self.fail_to_pass.items() if test not in unseen},
            {test: status for test, status in self.fail_to_pass.items() if test in unseen},
        )


@dataclass(frozen=True)
class Outcome:
    """How an episode ended.

    Attributes:
        task_id: The task.
        reward: In [0, 1]; 0.0 where ``reward_valid`` is False, and then it must not be trained on.
        components: Named parts of the reward.
        reason: Exactly one.
        reward_valid: False for an infrastructure or grader failure.
        terminated: The agent ended the episode.
        truncated: A limit ended it; the work was graded all the same.
        n_steps: Tool calls made.
        grade: The verdict, if grading happened.
        error: What failed, for people.
    """

    task_id: str
    reward: float
    reason: Reason
    reward_valid: bool
    terminated: bool
    truncated: bool
    n_steps: int
    components: Mapping[str, float] = field(default_factory=dict)
    grade: Grade | None = None
    error: str = ""


def _share(statuses: Mapping[str, TestStatus]) -> float:
    return sum(s == "passed" for s in statuses.values()) / len(statuses) if statuses else 0.0
