"""Guess, from what a run could not import or find, which distributions are missing."""

import re
from collections.abc import Iterator, Mapping

from packaging.utils import canonicalize_name

from codeenv.languages.base import TestRun
from codeenv.languages.python.distributions import (
    DISTRIBUTIONS,
    FIXTURES,
    MARKERS,
    OPTIONS,
    STANDARD_MODULES,
)

_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NO_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_NO_MARKER = re.compile(r"'(\w+)' not found in `markers`")
_NO_OPTION = re.compile(r"unrecognized arguments: (.*)")
_NO_PLUGIN = re.compile(r"Missing required plugins: (.*)")
_NO_INI = re.compile(r"Unknown config option: (\w+)")
_WORD = re.compile(r"[A-Za-z0-9][\w-]*")
_LONGEST = 500
_ASYNC = "async def functions are not natively supported"


def missing_requirements(run: TestRun, own: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return distributions whose absence explains what went wrong, sorted.

    Args:
        run: What was reported.
        own: Import names of the project itself, which are never missing distributions.
    """
    found = {name for text in run.messages for name in _explain(text, own)}
    return tuple(sorted(found))


def skipped_for(run: TestRun) -> frozenset[str]:
    """Return names of distributions that the reasons of skipped tests may speak of.

    Every word may be one, or a module's: whoever asks knows which of them there are.
    """
    told = {r.message for r in run.results.values() if r.outcome == "skipped"}
    words = {word for text in told for word in _WORD.findall(text[:_LONGEST])}
    return frozenset(
        name for word in words for name in (canonicalize_name(word), distribution_of(word))
    )


def distribution_of(module: str) -> str:
    """Return the distribution that provides a module, by table, else by identity."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = DISTRIBUTIONS.get(".".join(parts[:length]))
        if name is not None:
            return name
    return parts[0].replace("_", "-").lower()


def _explain(text: str, own: frozenset[str]) -> Iterator[str]:
    for module in _NO_MODULE.findall(text):
        if _may_be_missing(module, own):
            yield distribution_of(module)
    for pattern, known in ((_NO_FIXTURE, FIXTURES), (_NO_MARKER, MARKERS), (_NO_INI, MARKERS)):
        for name in pattern.findall(text):
            yield from _known(known, name)
    for options in _NO_OPTION.findall(text):
        for option in re.findall(r"--?[\w-]+", options):
            yield from _known(OPTIONS, option)
    for plugins in _NO_PLUGIN.findall(text):
        yield from (
            p.strip() for p in re.split(r",\s(?=[A-Za-z])|\s(?=[A-Za-z])", plugins) if p.strip()
        )
    if _ASYNC in text:
        yield "pytest-asyncio"


def _known(names: Mapping[str, str], name: str) -> Iterator[str]:
    found = names.get(name)
    if found:
        yield found


def _may_be_missing(module: str, own: frozenset[str]) -> bool:
    """Tell distributions from the project's modules.

    Python names a dotted module only if its parent is there, so it is no distribution of its own
    unless the table knows it as a part of a namespace.
    """
    top = module.split(".")[0]
    if top in own or top in STANDARD_MODULES or top.startswith("_"):
        return False
    if "." in module:
        return any(m in DISTRIBUTIONS for m in (module, ".".join(module.split(".")[:2])))
    return top not in ("tests", "test", "testing", "conftest", "helpers", "utils", "common", "src")
