"""Writes a taskset folder: recipes, what they share, and the funnel."""

import json
from pathlib import Path

from codeenv.generate.models import GenerationResult, Verdict
from codeenv.tasks.models import Baseline, EnvironmentLock, SourcePin
from codeenv.tasks.taskset import Taskset


def write_taskset(
    out: Path,
    result: GenerationResult,
    pin: SourcePin,
    baseline: Baseline,
    lock: EnvironmentLock,
    *,
    label: str = "",
) -> None:
    """Write everything; the same result gives the same bytes.

    ``label`` tells the funnel from that of the repository's own candidates.
    """
    if result.recipes:
        Taskset.write(out, result.recipes, [baseline], [lock])
    funnels = out / "funnels"
    funnels.mkdir(parents=True, exist_ok=True)
    facts = {
        "source": pin.model_dump(mode="json"),
        "stable_tests": len(baseline.stable),
        "counts": result.funnel,
        "candidates": [_candidate(verdict) for verdict in result.verdicts],
    }
    name = "-".join(part for part in (pin.name, pin.version[:12], label) if part)
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)
    (funnels / f"{name}.json").write_text(text + "\n", "utf-8")


def _candidate(verdict: Verdict) -> dict[str, object]:
    feature = verdict.feature
    given = feature.given.name if feature.given else ""
    origin = {"proposal": given, "parent": feature.parent_id}
    return {
        **{name: value for name, value in origin.items() if value},
        "key": feature.key,
        "kind": feature.kind,
        "seed": feature.seed.id,
        "symbols": [unit.id for unit in feature.members],
        "lines": feature.line_count,
        "tests": len(feature.tests),
        "reason": verdict.reason.value,
        "detail": verdict.detail,
        "task": verdict.recipe.id if verdict.recipe else None,
    }
