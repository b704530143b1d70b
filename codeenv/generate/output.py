"""Writes a taskset folder: recipes, what they share, and the funnel."""

import json

from codeenv.generate.models import GenerateOptions, GenerationResult, Verdict
from codeenv.tasks.models import Baseline, EnvironmentLock, SourcePin
from codeenv.tasks.taskset import Taskset, write_atomic


def write_taskset(
    options: GenerateOptions,
    result: GenerationResult,
    pin: SourcePin,
    baseline: Baseline,
    lock: EnvironmentLock,
    *,
    label: str = "",
) -> None:
    """Write everything to ``options.out``; the same result gives the same bytes.

    ``label`` tells the funnel from that of the repository's own candidates.
    """
    if result.recipes:
        Taskset.write(options.out, result.recipes, [baseline], [lock])
    funnels = options.out / "funnels"
    facts = {
        "source": pin.model_dump(mode="json"),
        "options": options.digest,
        "stable_tests": len(baseline.stable),
        "counts": result.funnel,
        "candidates": [_candidate(verdict) for verdict in result.verdicts],
    }
    name = "-".join(part for part in (pin.name, pin.version[:12], label) if part)
    text = json.dumps(facts, indent=1, sort_keys=True)  # names of files may hold any byte
    write_atomic(funnels / f"{name}.json", text.encode() + b"\n")


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
