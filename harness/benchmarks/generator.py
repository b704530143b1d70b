"""Verified tasks a minute: in batches that share runs, and by one cold run of the suite for each.

Run ``python harness/benchmarks/generator.py [SRC] [--candidates N]``.  Both sides judge the same
kind of candidates on the same machine, as many at a time; environment and baseline are in neither
time.  The other side does what most generators do: a fresh container for each candidate, and the
whole suite in it, once.  Its tasks are proven less: that run says nothing of weak tests, of tests
that fail by chance, of leaks or the statement.
"""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from codeenv.generate.candidate import Gates
from codeenv.generate.deletion import deletions
from codeenv.generate.models import Feature, GenerateOptions, Reason, Rejected
from codeenv.generate.pipeline import measure, prepare, propose
from codeenv.generate.selection import select
from codeenv.generate.sieve import Sieve
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader
from codeenv.languages.base import TestRequest
from codeenv.sandbox.select import open_backend, probe
from codeenv.sources import checkout
from codeenv.tasks.models import Baseline

JOBS = 2
_COLD = 18
"""Candidates that the other side judges: its rate does not depend on their number."""


def main() -> int:
    """Measure both sides, and print tasks a minute and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source", nargs="?", default="pypi:boltons==25.0.0")
    parser.add_argument("--candidates", type=int, default=72)
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
        sieve = Sieve(bench, baseline, pool, coverage.executed)

        def shared() -> int:
            verdicts = select(features, gates.judge, limit=None)
            return sum(verdict.reason == Reason.EMITTED for verdict in verdicts)

        fresh = replace(bench, backend=containers)
        some = features[:: max(1, len(features) // _COLD)]

        def cold() -> int:
            return sum(pool.map(lambda f: is_task(fresh, baseline, f), some))

        screened = _a_minute(lambda: len(sieve.sift(features)))
        ours, theirs = _a_minute(shared), _a_minute(cold)
    print(f"screened candidates a minute      {screened:8.1f}")
    print(f"tasks a minute, shared runs       {ours:8.1f}")
    print(f"tasks a minute, a cold run each   {theirs:8.1f}")
    print(f"ratio                             {ours / theirs if theirs else 0:8.1f}")
    return 0


def is_task(bench: Workbench, baseline: Baseline, feature: Feature) -> bool:
    """Return whether one run of the whole suite finds the predicted tests failing, no others."""
    try:
        damaged = deletions(bench, feature)[0].damaged
    except Rejected:
        return False
    run = bench.run(TestRequest.graded(baseline, baseline.stable), damaged)
    failing = set(baseline.stable) - run.passed
    return run.complete and bool(failing) and failing <= set(feature.tests)


def _a_minute(work: Callable[[], int]) -> float:
    start = time.perf_counter()
    count = work()
    return 60 * count / (time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
