"""Verified tasks a minute: in batches that share runs, and by cold runs of the suite for each.

Run ``python harness/benchmarks/generate.py [SRC] [--candidates N]`` (default: all of them).  All
sides judge the same kind of candidates on the same machine, as many at a time; environment and
baseline are in no time.

*A cold run each* is what most generators do: a fresh container for each candidate, and the whole
suite in it, once.  Its tasks are proven less: nothing is said of weak tests, of tests that fail by
chance, of leaks or the statement.  *The same proof* shows by such runs what our gates show of
tests: two without the feature, three with it, nine lazy versions, and the same small changes.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from codeenv.generate.candidate import Gates
from codeenv.generate.deletion import deletions, hollow_tree, swap_of
from codeenv.generate.models import Feature, GenerateOptions, Reason, Rejected
from codeenv.generate.pipeline import measure, prepare, propose
from codeenv.generate.selection import select
from codeenv.generate.sieve import Sieve
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader
from codeenv.languages.base import Mutant, TestRequest
from codeenv.sandbox.select import open_backend, probe
from codeenv.sources import checkout
from codeenv.tree import Delta, Tree

JOBS, OURS = 4, "tasks, all gates"
_COLD, _PROVEN = 18, 3
"""Candidates that the other sides judge: their rates do not depend on their number."""


def main() -> int:
    """Measure all sides, and print tasks a minute and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source", nargs="?", default="pypi:boltons==25.0.0")
    parser.add_argument("--candidates", type=int)
    args = parser.parse_args()
    docker = probe("docker")
    if not docker.ok:
        print(f"error: {docker.detail}\nhint: {docker.hint}", file=sys.stderr)
        return 2
    options = GenerateOptions(Path("unused"), jobs=JOBS)
    with (
        closing(open_backend("docker")) as backend,
        closing(open_backend("docker", isolation="container")) as containers,
        ThreadPoolExecutor(JOBS) as pool,
    ):
        source = checkout(args.source)
        bench = prepare(source, backend)
        baseline, coverage = measure(bench, source, options)
        features = propose(bench, baseline, coverage, options)[: args.candidates]
        grader = Grader(backend, environments=lambda _: bench.environment.image)
        gates = Gates(bench, source, baseline, coverage, grader, options, pool)
        rates = _rates(gates, features, replace(bench, backend=containers))
    for what, rate in rates.items():
        print(f"{what:40}{rate:8.1f} a minute")
    ours = rates.pop(OURS)
    for what in list(rates)[2:]:
        print(f"ratio to {what:31}{ours / rates[what] if rates[what] else 0:8.1f}")
    return 0


def _rates(gates: Gates, features: Sequence[Feature], cold: Workbench) -> dict[str, float]:
    """Return how many a minute each side does."""
    sieve = Sieve(gates.bench, gates.baseline, gates.pool, gates.coverage)

    def shared() -> int:
        verdicts = select(features, gates.judge, limit=None)
        return sum(verdict.reason == Reason.EMITTED for verdict in verdicts)

    def each(judge: Callable[[Workbench, Gates, Feature], bool], count: int) -> float:
        some = features[:: max(1, len(features) // count)][:count]
        return _a_minute(lambda: sum(gates.pool.map(lambda f: judge(cold, gates, f), some)))

    return {
        "candidates screened, raising body": _a_minute(lambda: _screen(gates, features)),
        "candidates sifted, all lazy versions": _a_minute(lambda: len(sieve.sift(features))),
        OURS: _a_minute(shared),
        "tasks, a cold run each": each(is_task, _COLD),
        "tasks, the same proof by cold runs": each(is_proven, _PROVEN),
    }


def _screen(gates: Gates, features: Sequence[Feature]) -> int:
    """Find the tests that need each feature, and no more, in as many boxes as jobs."""
    bench, baseline = gates.bench, gates.baseline
    swaps = [swap_of(bench, feature, gates.coverage) for feature in features]
    plain = [replace(swap, lazy=False, mutants=()) for swap in swaps if swap]
    request = replace(TestRequest.graded(baseline, baseline.stable), timeout=3600)
    parts = [plain[start::JOBS] for start in range(JOBS)]
    tries = list(gates.pool.map(lambda part: bench.try_swaps(request, part), parts))
    return sum(not result.problem for part in tries for result in part)


def is_task(bench: Workbench, gates: Gates, feature: Feature) -> bool:
    """Return whether one run of the whole suite finds the predicted tests failing, no others."""
    try:
        damaged = deletions(bench, feature)[0].damaged
    except Rejected:
        return False
    stable = gates.baseline.stable
    run = bench.run(TestRequest.graded(gates.baseline, stable), damaged)
    failing = set(stable) - run.passed
    return run.complete and bool(failing) and failing <= set(feature.tests)


def is_proven(bench: Workbench, gates: Gates, feature: Feature) -> bool:
    """Show by whole runs of the suite, each in a fresh container, what the gates show of tests."""
    if not is_task(bench, gates, feature):
        return False
    deletion = deletions(bench, feature)[0]
    stable = frozenset(gates.baseline.stable)
    request = TestRequest.graded(gates.baseline, gates.baseline.stable)
    needing = stable - bench.run(request, deletion.damaged).passed
    whole = all(stable == bench.run(request).passed for _ in range(3))
    hollow = hollow_tree(bench, deletion)
    for _ in range(9 if hollow else 0):  # each constant costs what returning None does
        needing -= bench.run(request, hollow).passed
    swap = swap_of(bench, feature, gates.coverage)
    mutants = swap.mutants if swap else ()
    noticed = sum(
        bool(needing - bench.run(request, mutated(bench, mutant)).passed) for mutant in mutants
    )
    return whole and bool(needing) and noticed * 2 >= len(mutants)


def mutated(bench: Workbench, mutant: Mutant) -> Tree:
    """Return the repository with one small change."""
    entry = bench.pristine[mutant.path]
    data = entry.data[: mutant.start] + mutant.new.encode() + entry.data[mutant.end :]
    return bench.pristine.apply(Delta({mutant.path: replace(entry, data=data)}))


def _a_minute(work: Callable[[], int]) -> float:
    start = time.perf_counter()
    count = work()
    return 60 * count / (time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
