"""The pipeline: from a repository to recipes, one stage after the other."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version

from codeenv.audit import find_twins
from codeenv.errors import GenerationError
from codeenv.generate.baseline import measure_baseline
from codeenv.generate.candidate import Gates
from codeenv.generate.closure import Closures
from codeenv.generate.deletion import can_be_removed
from codeenv.generate.features import propose_features
from codeenv.generate.journal import Journal
from codeenv.generate.memo import RunMemo
from codeenv.generate.models import (
    Event,
    Feature,
    GenerateOptions,
    GenerationResult,
    OnEvent,
    Reason,
    Verdict,
)
from codeenv.generate.modules import Seeds
from codeenv.generate.output import write_taskset
from codeenv.generate.parameters import parameter_features
from codeenv.generate.proposal import proposed_features, read_proposals
from codeenv.generate.reach import Reach, known_units, map_reach
from codeenv.generate.selection import select
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader
from codeenv.images import Environment, build_environment, bundled_environment
from codeenv.images.tools import coverage_layer
from codeenv.languages import detect_language
from codeenv.languages.base import CoverageMap, Language, Layout, Unit
from codeenv.materialise.files import agent_files, left_out
from codeenv.sandbox.base import Backend
from codeenv.sources import Checkout, checkout
from codeenv.tasks.models import Baseline

Find = Callable[[Workbench, Baseline, CoverageMap, GenerateOptions], tuple[Feature, ...]]
"""Returns the candidates of a repository in the order they are to be tried."""


def generate(
    spec: str, options: GenerateOptions, *, backend: Backend, on_event: OnEvent = lambda _: None
) -> GenerationResult:
    """Generate tasks from a repository and write them to ``options.out``.

    Args:
        spec: Git URL, local path, ``pypi:NAME==VERSION`` or ``bundled:NAME``.
        options: What to generate; if it names proposals, they are the only candidates.
        backend: Where the repository's code runs.
        on_event: Told of every step.

    Raises:
        UsageError: If a proposal does not fit or does more than to delete code.
        SourceError: If the repository cannot be had or has no usable tests.
        BuildError: If its environment cannot be built.
        GenerationError: If no candidate became a task.
    """
    options.out.mkdir(parents=True, exist_ok=True)  # where it cannot be, say so before the work
    source = checkout(spec, ref=options.ref, subdir=options.subdir)
    _tell_source(on_event, source)
    proposals = read_proposals(options.proposals, source.tree)
    bench = prepare(source, backend, on_event)
    if not proposals:
        return generate_from(source, bench, options, propose, on_event)

    def find(
        bench: Workbench, baseline: Baseline, coverage: CoverageMap, options: GenerateOptions
    ) -> tuple[Feature, ...]:
        units, reach = survey(bench, baseline, coverage)
        closures = Closures(bench.pristine, units, reach, options.max_lines)
        modules = bench.language.modules(bench.pristine, bench.layout)
        needing = {module.path: files for module, files in modules.items()}
        return proposed_features(proposals, bench.pristine, closures, needing)

    return generate_from(source, bench, options, find, on_event, label="proposals")


def generate_from(
    source: Checkout,
    bench: Workbench,
    options: GenerateOptions,
    find: Find,
    on_event: OnEvent = lambda _: None,
    *,
    label: str = "",
) -> GenerationResult:
    """Generate tasks from a repository in its environment and write them to ``options.out``.

    Args:
        source: The repository.
        bench: The same in its environment.
        options: What to generate.
        find: Which features to try.
        on_event: Told of every step.
        label: Of the funnel, if the candidates are not the repository's own.

    Raises:
        SourceError: If it has no usable tests.
        GenerationError: If no candidate became a task.
    """
    memo = RunMemo(options.out, resume=options.resume)
    bench = replace(bench, memo=memo)
    key = _run_key(source, bench, options, label)
    journal = Journal(options.out, key, on_event, resume=options.resume)
    baseline, coverage = measure(bench, source, options)
    journal.tell(
        "baseline",
        f"{len(baseline.stable)} stable tests, {_set_aside(baseline)}",
        stable=len(baseline.stable),
        quarantined=len(baseline.quarantined),
    )
    features = find(bench, baseline, coverage, options)
    journal.tell("features", f"{len(features)} candidate features", candidates=len(features))
    with closing(journal):
        result = _judge(features, source, bench, (baseline, coverage), options, journal)
    write_taskset(options, result, source.pin, baseline, bench.environment.lock, label=label)
    if not {Reason.INFRASTRUCTURE, Reason.INTERNAL} & result.funnel.keys():
        memo.clear()
    if not result.recipes:
        told = ", ".join(f"{count} {reason}" for reason, count in result.funnel.items())
        raise GenerationError(
            f"none of {len(features)} candidates became a task",
            hint=told or "nothing of the kinds asked for is run by few enough tests",
        )
    return result


def _tell_source(on_event: OnEvent, source: Checkout) -> None:
    """Say what was taken, and what was not."""
    taken = f"{source.pin.name} {source.pin.version[:12]}".rstrip()
    _tell(on_event, "checkout", f"{taken}: {len(source.tree)} files")
    for note in source.notes:
        _tell(on_event, "checkout", note)
    if disposable := left_out(source.tree):
        told = ", ".join(f"{count} {reason}" for reason, count in disposable.items())
        _tell(on_event, "checkout", f"agents do not get what tools have left: {told}")


def prepare(source: Checkout, backend: Backend, on_event: OnEvent = lambda _: None) -> Workbench:
    """Return a repository in its environment, building what the cache does not have."""
    tree = agent_files(source.tree)
    language = detect_language(tree)
    layout = language.layout(tree)
    _tell(
        on_event,
        "layout",
        f"{len(layout.source_files)} source files, {len(layout.test_files)} test files",
    )
    if source.pin.kind == "bundled":
        environment = bundled_environment(backend, source.pin.location)
    else:
        environment = _build(source, language, layout, backend, on_event)
    return Workbench(tree, language, layout, environment, backend)


def bench_of(source: Checkout, environment: Environment, backend: Backend) -> Workbench:
    """Return a repository in an environment that is there."""
    tree = agent_files(source.tree)
    language = detect_language(tree)
    return Workbench(tree, language, language.layout(tree), environment, backend)


def _build(
    source: Checkout, language: Language, layout: Layout, backend: Backend, on_event: OnEvent
) -> Environment:
    def log(text: str) -> None:
        _tell(on_event, "environment", text)

    environment = build_environment(source.tree, language, layout, backend, pin=source.pin, log=log)
    count = len(environment.lock.packages)
    log(f"Python {environment.lock.python}, {count} packages, {environment.digest[:12]}")
    return environment


def measure(
    bench: Workbench, source: Checkout, options: GenerateOptions
) -> tuple[Baseline, CoverageMap]:
    """Return the stable tests, and which of them run what."""
    mount = coverage_layer(bench.environment, bench.backend)
    return measure_baseline(bench, source.pin, jobs=options.jobs, coverage_mount=mount)


def propose(
    bench: Workbench, baseline: Baseline, coverage: CoverageMap, options: GenerateOptions
) -> tuple[Feature, ...]:
    """Return the candidates in the order they are to be tried."""
    units, reach = survey(bench, baseline, coverage)
    language, tree, layout = bench.language, bench.pristine, bench.layout
    seeds = Seeds(
        language.modules(tree, layout) if "module" in options.kinds else {},
        language.registered(tree, layout) if "plugin" in options.kinds else (),
    )
    wanted = language.parameters(tree, layout) if "parameter" in options.kinds else ()
    chosen = [
        feature
        for feature in parameter_features(wanted, coverage, reach, options)
        if can_be_removed(bench, feature)
    ]
    return propose_features(tree, units, reach, options, seeds, chosen)


def survey(
    bench: Workbench, baseline: Baseline, coverage: CoverageMap
) -> tuple[tuple[Unit, ...], Reach]:
    """Return the repository's units, and the tests that run them."""
    units = bench.language.units(bench.pristine, bench.layout)
    sources = {path: bench.pristine[path].data for path in bench.layout.source_files}
    known = known_units(units, find_twins(sources, bench.environment.image))
    return units, replace(map_reach(units, coverage, baseline.stable), known=known)


def _judge(
    features: tuple[Feature, ...],
    source: Checkout,
    bench: Workbench,
    measured: tuple[Baseline, CoverageMap],
    options: GenerateOptions,
    journal: Journal,
) -> GenerationResult:
    grader = Grader(bench.backend, environments=lambda _: bench.environment.image)
    pool = ThreadPoolExecutor(max(1, options.jobs), thread_name_prefix="judge")

    def tell(text: str) -> None:
        journal.tell("judging", text)

    gates = Gates(bench, source, *measured, grader, options, pool, tell)

    def judge(batch: Sequence[Feature]) -> list[Verdict]:
        if batch:
            many = "candidates side by side" if len(batch) > 1 else "candidate"
            journal.tell("judging", f"{len(batch)} {many}", batch=len(batch))
        return gates.judge(batch)

    verdicts: list[Verdict] = []
    try:
        for verdict in select(features, journal.judged(judge), limit=options.limit):
            verdicts.append(verdict)
            if verdict.reason != Reason.NOT_TRIED:
                _tell_verdict(journal, verdict, len(verdicts), len(features))
    finally:
        # Do not wait: after Ctrl-C the owner closes the backend, and that ends what still runs.
        pool.shutdown(wait=False, cancel_futures=True)
    recipes = [verdict.recipe for verdict in verdicts if verdict.recipe]
    return GenerationResult(tuple(sorted(recipes, key=lambda r: r.id)), tuple(verdicts))


def _tell_verdict(journal: Journal, verdict: Verdict, done: int, total: int) -> None:
    feature = verdict.feature
    detail = f" ({verdict.detail})" if verdict.detail else ""
    journal.tell(
        "candidate",
        f"{feature.told}: {verdict.reason}{detail}",
        candidate=feature.key,
        seed=feature.seed.id,
        reason=verdict.reason.value,
        done=done,
        total=total,
    )


def _set_aside(baseline: Baseline) -> str:
    """Say how many tests are not stable, and the commonest reasons."""
    counts = Counter(baseline.quarantined.values()).most_common(3)
    why = ", ".join(f"{count} {reason}" for reason, count in counts)
    return f"{len(baseline.quarantined)} set aside" + (f" ({why})" if why else "")


def _run_key(source: Checkout, bench: Workbench, options: GenerateOptions, label: str) -> str:
    """Return what a resumed run must share with the interrupted one for its verdicts to hold."""
    asked = replace(options, limit=None).digest
    made_by = version("codeenv-gym")
    where = [source.pin.tree, bench.environment.digest, bench.backend.name]
    parts = [made_by, *where, asked, label]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _tell(on_event: OnEvent, kind: str, text: str) -> None:
    on_event(Event(kind, text))
