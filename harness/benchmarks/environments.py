"""How many repositories get an environment their tests run in, and why the others do not.

Run ``python harness/benchmarks/environments.py LIST [--out RESULTS] [--only NAME ...]``.  Of every
source of the list the environment is built and judged: the suite runs twice in fresh boxes without
network, and the checks held out are tried.  A success is that the environment is accepted: at least
80 % of the collected tests pass both times, and the checks hold.  Results go to ``--out`` as JSON
lines; what is there is not measured again.
"""

import argparse
import json
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from codeenv.cli.generate_many import read_list
from codeenv.errors import CodeEnvError
from codeenv.generate.many import Repository
from codeenv.images.reports import Report, build_and_judge
from codeenv.images.verdict import Judge
from codeenv.languages import detect_language
from codeenv.materialise.files import agent_files
from codeenv.sandbox.base import Backend
from codeenv.sandbox.select import open_backend
from codeenv.sources import checkout


@dataclass
class Found:
    """What came of one source.

    Attributes:
        source: As the list names it, with its folder.
        reason: ``accepted``, or why the environment is discarded.
        told: The same in words.
        collected: Tests that pytest found; a file that it cannot collect counts as one.
        stable: Tests that passed both times.
        checks: Checks that hold, of how many.
        packages: Distributions in the environment.
        base: What it stands on.
        seconds: To build it and to judge it.
        causes: Why tests do not pass: words, how many, an example.
        log: What was done.
    """

    source: str
    reason: str
    told: str
    collected: int = 0
    stable: int = 0
    checks: tuple[int, int] = (0, 0)
    packages: int = 0
    base: str = ""
    seconds: float = 0.0
    causes: list[tuple[str, int, str]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    @property
    def success(self) -> bool:
        """Whether enough tests pass, and the checks hold."""
        return self.reason == "accepted"


def main() -> int:
    """Measure what is not measured yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("list", type=Path, help="one source per line, with ref=… and subdir=…")
    parser.add_argument("--out", type=Path, default=Path("environments.jsonl"))
    parser.add_argument("--only", nargs="+", default=[], help="of these projects alone, again")
    parser.add_argument("--backend", default="bubblewrap")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for a whole suite")
    args = parser.parse_args()
    sources = {f"{r.spec} {r.subdir}".strip(): r for r in read_list(args.list)}
    known = _known(args.out)
    with closing(open_backend(args.backend)) as backend, args.out.open("a") as file:
        for name, source in sources.items():
            wanted = not args.only or name.removeprefix("pypi:").split("==")[0] in args.only
            if wanted and (name not in known or args.only):
                known[name] = measure(name, source, backend, args.timeout)
                print(json.dumps(asdict(known[name])), file=file, flush=True)
                print(_line(known[name]), file=sys.stderr)
    _report([known[source] for source in sources if source in known])
    return 0


def _known(path: Path) -> dict[str, Found]:
    rows = path.read_text().splitlines() if path.exists() else []
    return {found.source: found for found in (Found(**json.loads(row)) for row in rows)}


def measure(name: str, source: Repository, backend: Backend, timeout: float) -> Found:
    """Build and judge one environment."""
    log, start = list[str](), time.monotonic()
    try:
        fetched = checkout(source.spec, ref=source.ref, subdir=source.subdir)
        tree = agent_files(fetched.tree)
        language = detect_language(tree)
        layout = language.layout(tree)
        judge = Judge(tree, layout, language, backend, timeout)
        report, _ = build_and_judge(fetched, judge, log.append)
        found = _found(name, report)
    except CodeEnvError as error:
        found = Found(name, type(error).__name__, error.message, log=[*log, error.hint[-600:]])
    found.seconds = round(time.monotonic() - start, 1)
    return found


def _found(name: str, report: Report) -> Found:
    verdict, lock = report.verdict, report.lock
    return Found(
        name,
        verdict.reason,
        verdict.told,
        verdict.collected,
        verdict.stable,
        (sum(result.holds for result in verdict.checks), len(verdict.checks)),
        len(lock.packages) if lock else 0,
        lock.base if lock else "",
        causes=[(cause.told, cause.tests, cause.example[:200]) for cause in verdict.causes],
        log=[*report.log, report.hint[-600:]],
    )


def _line(found: Found) -> str:
    share = found.stable / found.collected if found.collected else 0.0
    counts = f"{found.stable:6} of {found.collected:6} {share:5.0%} {found.seconds:6.0f} s"
    told = "" if found.success else found.told[:100]
    return f"{found.source:40}{counts}  {found.reason} {told}".rstrip()


def _report(rows: list[Found]) -> None:
    for found in rows:
        print(_line(found))
    good = sum(found.success for found in rows)
    print(f"{good} of {len(rows)} ({good / max(1, len(rows)):.0%})")
    reasons = Counter(found.reason for found in rows if not found.success)
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")


if __name__ == "__main__":
    sys.exit(main())
