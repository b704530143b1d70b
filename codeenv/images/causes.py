"""Why tests do not pass in an environment, in words that a person can act on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeenv.languages.base import TestRun

_CAUSES = (
    (
        "service",
        r"(?i)(postgres|psycopg|mysql|redis|mongo|rabbit|memcache|kafka|elastic|:5432|:6379|:3306)"
        r".{0,120}(refused|unreachable|timed? ?out|failed|unavailable)|Error 111 connecting",
        "they need a server that boxes do not start",
    ),
    (
        "network",
        r"(?i)name or service not known|name resolution|getaddrinfo|network is unreachable"
        r"|no address associated|nodename nor servname|max retries exceeded|ConnectError"
        r"|ConnectionRefused|connection refused|cannot connect to host|urlopen error|ProxyError",
        "they need the network, which environments do not have",
    ),
    (
        "system",
        r"cannot open shared object|command not found|No such file or directory: '[a-z][\w+-]*'"
        r"|unsupported locale|executable.*not found",
        "a library, program or locale is missing: name its Debian package where the repository's "
        "workflows install theirs",
    ),
    (
        "source",
        r"(No module named|cannot import name .{1,99} from) '(tests?|testing)\b",
        "this source lacks files that its tests import: try the project's git repository",
    ),
    (
        "module",
        r"ModuleNotFoundError|ImportError",
        "a module is missing: add its distribution to the test requirements of the repository",
    ),
    (
        "plugin",
        r"fixture '\w+' not found|not found in `markers`|unrecognized arguments|natively supported",
        "a plug-in of pytest is missing: add it to the test requirements of the repository",
    ),
    ("memory", r"MemoryError|Cannot allocate memory", "they need more memory than a box has"),
    (
        "rights",
        r"PermissionError|Operation not permitted|Read-only file system",
        "they want rights that boxes do not give (another user, devices, mounts)",
    ),
    (
        "time",
        r"(?i)took longer than|timed out|timeout|deadline",
        "they do not end in time",
    ),
)  # fmt: skip
LONGEST = 1000
"""Characters of a message that are looked at: hostile code writes it, and patterns take time."""
_OTHERS = {
    "not_run": "the run ended before them",
    "skipped": "the repository itself skips them here",
    "xfailed": "the repository itself expects them to fail",
    "xpassed": "the repository itself expects them to fail",
}


@dataclass(frozen=True)
class Cause:
    """Why some tests do not pass.

    Attributes:
        name: ``network``, ``module``, ``skipped`` …; ``other`` if nothing is known.
        tests: How many, or files that cannot be collected.
        told: The same in words.
        example: What one of them says.
    """

    name: str
    tests: int
    told: str
    example: str


def causes_of(run: TestRun, unsteady: int = 0) -> tuple[Cause, ...]:
    """Return why tests of a run do not pass, the most common cause first.

    Args:
        run: The run.
        unsteady: How many passed in it and not in another one.
    """
    found: dict[str, list[str]] = {}
    for name, example in _problems(run):
        found.setdefault(name, []).append(example)
    told = {name: words for name, _, words in _CAUSES} | _OTHERS
    causes = [
        Cause(name, len(examples), told.get(name, "they fail"), examples[0])
        for name, examples in found.items()
    ]
    if unsteady:
        causes.append(Cause("unsteady", unsteady, "they pass in one run and not in another", ""))
    return tuple(sorted(causes, key=lambda cause: (-cause.tests, cause.name)))


def _problems(run: TestRun) -> Iterator[tuple[str, str]]:
    """Yield (cause, message) of everything that does not pass."""
    for where, message in run.errors.items():
        yield _cause(message), f"{where}: {message}"
    for test, result in run.results.items():
        if result.outcome in _OTHERS:
            yield result.outcome, f"{test}: {result.message}"
        elif result.outcome != "passed":
            yield _cause(result.message), f"{test}: {result.message}"
    missing = [test for test in run.collected if test not in run.results]
    yield from (("not_run", f"{test}: the run ended before it") for test in missing)


def _cause(message: str) -> str:
    text = message[:LONGEST]
    return next((name for name, words, _ in _CAUSES if re.search(words, text)), "other")
