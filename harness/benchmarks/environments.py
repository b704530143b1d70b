"""How many repositories get an environment their tests run in, and why the others do not.

Run ``python harness/benchmarks/environments.py LIST [--out RESULTS] [--only NAME ...]``.  Of every
source of the list the environment is built and the suite is run twice in fresh boxes without
network.  A success is that at least 80 % of the collected tests pass both times.  Results go to
``--out`` as JSON lines; what is there already is not measured again.
"""

import argparse
import json
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from codeenv.errors import CodeEnvError
from codeenv.generate.pipeline import prepare
from codeenv.languages.base import TestRequest, TestRun
from codeenv.sandbox.base import Backend
from codeenv.sandbox.select import open_backend
from codeenv.sources import checkout

SHARE, TIMEOUT = 0.8, 1800.0


@dataclass
class Found:
    """What came of one source.

    Attributes:
        source: As the list names it.
        collected: Tests that pytest found.
        stable: Tests that passed both times.
        packages: Distributions in the environment.
        seconds: To build it and to run the suite.
        reason: ``ok``, or why it is no success.
        detail: The same in words, and the most common messages of tests that do not pass.
        log: What was done.
    """

    source: str
    collected: int = 0
    stable: int = 0
    packages: int = 0
    seconds: float = 0.0
    reason: str = "ok"
    detail: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)


def main() -> int:
    """Measure what is not measured yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("list", type=Path, help="one source per line")
    parser.add_argument("--out", type=Path, default=Path("environments.jsonl"))
    parser.add_argument("--only", nargs="+", default=[], help="of these projects alone")
    parser.add_argument("--backend", default="bubblewrap")
    args = parser.parse_args()
    lines = [line.strip() for line in args.list.read_text().splitlines()]
    sources = [line for line in lines if line and not line.startswith("#")]
    known = _known(args.out)
    with closing(open_backend(args.backend)) as backend, args.out.open("a") as file:
        for source in sources:
            wanted = not args.only or source.removeprefix("pypi:").split("==")[0] in args.only
            if wanted and (source not in known or args.only):
                known[source] = measure(source, backend)
                print(json.dumps(asdict(known[source])), file=file, flush=True)
                print(_line(known[source]), file=sys.stderr)
    _report([known[source] for source in sources if source in known])
    return 0


def _known(path: Path) -> dict[str, Found]:
    rows = path.read_text().splitlines() if path.exists() else []
    return {found.source: found for found in (Found(**json.loads(row)) for row in rows)}


def measure(source: str, backend: Backend) -> Found:
    """Build one environment and run the suite in it twice."""
    found, start = Found(source), time.monotonic()
    try:
        bench = prepare(checkout(source), backend, lambda event: found.log.append(event.text))
        found.packages = len(bench.environment.lock.packages)
        request = TestRequest(timeout=TIMEOUT, test_timeout=TIMEOUT)
        runs = [bench.run(request), bench.run(TestRequest(timeout=TIMEOUT, hash_seed=1))]
        found.collected = len(runs[0].collected)
        found.stable = len(runs[0].passed & runs[1].passed)
        if found.stable < SHARE * found.collected or not found.collected:
            found.reason = "too few pass"
        found.detail = _common(runs[0])
    except CodeEnvError as error:
        found.reason, found.detail = type(error).__name__, [error.message, error.hint[-600:]]
    found.seconds = round(time.monotonic() - start, 1)
    return found


def _common(run: TestRun) -> list[str]:
    """Return what stands in the way of most tests."""
    errors = Counter(run.errors.values())
    results = Counter(
        f"{result.outcome}: {result.message[:150]}"
        for result in run.results.values()
        if result.outcome != "passed"
    )
    told = [*errors.most_common(5), *results.most_common(8)]
    return [f"{count} x {text[:200]}" for text, count in told]


def _line(found: Found) -> str:
    share = found.stable / found.collected if found.collected else 0.0
    counts = f"{found.stable:6} of {found.collected:6} {share:5.0%} {found.seconds:6.0f} s"
    first = found.detail[0][:100] if found.reason != "ok" and found.detail else ""
    return f"{found.source:40}{counts}  {found.reason} {first}".rstrip()


def _report(rows: list[Found]) -> None:
    for found in rows:
        print(_line(found))
    reasons = Counter(found.reason for found in rows)
    print(f"{reasons['ok']} of {len(rows)} ({reasons['ok'] / max(1, len(rows)):.0%})")
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")


if __name__ == "__main__":
    sys.exit(main())
