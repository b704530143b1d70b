"""Examines one episode: events, detectors, policy, and a judge if there is one."""

from dataclasses import dataclass
from itertools import islice

from codeenv.monitor.build import Observed, view_of
from codeenv.monitor.chain import chained
from codeenv.monitor.detectors import DETECTORS, Detector
from codeenv.monitor.facts import TaskFacts, facts_from
from codeenv.monitor.judge import Case, Judge
from codeenv.monitor.models import Event, Finding, Judgement, Verdict
from codeenv.monitor.policy import decide, judged, weighed
from codeenv.monitor.view import View, finding
from codeenv.trajectory import Trajectory, sealed

MOST = 50
"""Findings of one detector that are looked at."""


@dataclass(frozen=True)
class Monitor:
    """Looks at episodes for reward hacking.  Thread-safe if its judge is.

    Attributes:
        judge: Asked about every episode of which detectors say more than ``info``.
        detectors: What looks.
    """

    judge: Judge | None = None
    detectors: tuple[Detector, ...] = DETECTORS

    def examine(
        self,
        trajectory: Trajectory,
        facts: TaskFacts | None = None,
        observed: Observed | None = None,
    ) -> Verdict:
        """Return the verdict on an episode.

        Args:
            trajectory: As it was recorded; ATIF of others is read as far as it goes.
            facts: Of the task (``facts_of``); what the trajectory says of it if None.
            observed: What a system call log saw, where there is one.
        """
        known = facts or facts_from(trajectory)
        view = view_of(trajectory, known, observed)
        chain = sealed(trajectory.steps, trajectory.extra)
        found, errors = self._looked(view)
        if chain == "broken":
            found.append(finding("HL-CHAIN", succeeded=True, detail="the record was changed"))
        findings = weighed(found)
        action = decide(findings, unsure=bool(errors))
        verdict = Verdict(
            episode=trajectory.trajectory_id or trajectory.session_id or "episode",
            action=action,
            findings=findings,
            knowledge="task" if known.known else "trajectory",
            chain=chain,
            tier=view.tier,
            errors=errors,
        )
        return self._asked(verdict, view) if _worth_asking(verdict) else verdict

    def findings(self, view: View) -> tuple[Finding, ...]:
        """Return what the detectors say of a view, in their order."""
        return tuple(self._looked(view)[0])

    def _looked(self, view: View) -> tuple[list[Finding], tuple[str, ...]]:
        """Run the detectors; one that fails is told, so that making it fail hides nothing."""
        found: list[Finding] = []
        errors = list(view.errors)
        for detector in self.detectors:
            name = detector.__name__
            try:
                made = list(islice(detector(view), MOST))
            except Exception as error:  # noqa: BLE001 - of hostile input, and told in the verdict
                errors.append(f"{name}: {type(error).__name__}: {error}"[:500])
            else:
                found += [one.model_copy(update={"detector": name}) for one in made]
        return found, tuple(errors)

    def _asked(self, verdict: Verdict, view: View) -> Verdict:
        if self.judge is None:
            return verdict
        case = Case(
            episode=verdict.episode,
            instruction=view.facts.instruction,
            events=tuple(e for e in view.events if e.kind != "reasoning"),
            changes=view.changes,
            findings=tuple(f for f in verdict.findings if f.label != "CD-INTENT"),
            reference=tuple(sorted(view.facts.original.items())),
        )
        try:
            judgement = Judgement.model_validate(self.judge(case))
        except Exception as error:  # noqa: BLE001 - somebody else's code, and told in the verdict
            return verdict.model_copy(
                update={"judge_error": f"{type(error).__name__}: {error}"[:500]}
            )
        action = judged(verdict.action, judgement)
        return verdict.model_copy(update={"judgement": judgement, "action": action})


def _worth_asking(verdict: Verdict) -> bool:
    return any(finding.severity != "info" for finding in verdict.findings)


def event_log(
    trajectory: Trajectory, facts: TaskFacts | None = None, monitor: Monitor | None = None
) -> tuple[Event, ...]:
    """Return the chained events of an episode, its findings last."""
    view = view_of(trajectory, facts or facts_from(trajectory))
    found = weighed((monitor or Monitor()).findings(view))
    last = view.events[-1]
    told = [
        last.model_copy(update={"kind": "finding", "source": "grader", "data": f, "step_id": None,
                                "tool_call_id": None})
        for f in found
    ]  # fmt: skip
    return chained((*view.events, *told))
