"""From a proof to a recipe."""

import hashlib
import re
from importlib.metadata import version

from codeenv.audit.secrets import secret_hashes
from codeenv.generate.difficulty import rate
from codeenv.generate.models import GenerateOptions, Proof, TestMode
from codeenv.generate.split import hide_tests, mode_of
from codeenv.generate.workbench import Workbench
from codeenv.materialise.task import agent_tree
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import Baseline, Level, Provenance, Recipe, SourcePin

_SLUG_LENGTH = 60
_USUAL: tuple[Level, TestMode] = ("L3", "hidden")


def write_recipe(
    bench: Workbench,
    pin: SourcePin,
    baseline: Baseline,
    proof: Proof,
    unseen: tuple[str, ...],
    options: GenerateOptions,
) -> Recipe:
    """Return the task as facts, with these tests hidden; the same proof gives the same bytes."""
    deletions = proof.deletion.operations
    feature = proof.deletion.feature
    level = feature.level or options.level
    hidden = hide_tests(bench, baseline, proof, unseen)
    held_out = tuple(test for test in proof.fail_to_pass if test in frozenset(unseen))
    damaged = agent_tree(bench.pristine, deletions, hidden)
    return Recipe(
        id=_task_id(pin, proof, (level, mode_of(proof, unseen))),
        title=_title(proof),
        source=pin,
        language=bench.language.name,
        environment=bench.environment.digest,
        baseline=digest_of(baseline),
        deletions=deletions,
        hidden=hidden,
        fail_to_pass=proof.fail_to_pass,
        excluded=proof.excluded,
        held_out=held_out if len(held_out) < len(proof.fail_to_pass) else (),
        level=level,
        difficulty=rate(bench, proof.deletion, proof.fail_to_pass, level),
        damaged_tree=damaged.digest,
        secrets=secret_hashes(bench.pristine, damaged, bench.language),
        provenance=Provenance(
            generator=f"codeenv-gym {version('codeenv-gym')}",
            seed=options.seed,
            seed_symbol=feature.seed.id,
            kind=feature.kind,
            parent_id=feature.parent_id,
        ),
    )


def _title(proof: Proof) -> str:
    if proof.deletion.feature.kind == "module":
        return f"Reimplement the module {proof.deletion.feature.seed.name}"
    names = [unit.name for unit in proof.deletion.feature.members]
    others = len(names) - 1
    seed = proof.deletion.feature.seed
    if seed.kind == "parameter":
        function, _, parameter = seed.name.removesuffix(")").partition("(")
        return f"Reimplement parameter `{parameter}` of `{function}`"
    return f"Reimplement {seed.name}" + (f" and {others} more" if others else "")


def _task_id(pin: SourcePin, proof: Proof, variant: tuple[Level, TestMode]) -> str:
    feature = proof.deletion.feature
    path = feature.seed.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    name = "" if feature.kind == "module" else f"-{feature.seed.name}"
    slug = _slug(f"{path}{name}")[:_SLUG_LENGTH].strip("-._")
    facts = f"{pin.tree} {feature.key} {proof.deletion.mode}"
    if variant != _USUAL:  # tasks of one feature may lie in one folder
        facts += f" {' '.join(variant)}"
    short = hashlib.sha256(facts.encode()).hexdigest()[:8]
    source = _slug(f"{pin.name}-{pin.version[:12]}" if pin.version else pin.name)
    return f"{source}-{slug}-{short}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-._")
