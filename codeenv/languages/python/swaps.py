"""Try lazy versions of functions in one process of a sandbox."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from codeenv.languages.base import Swap, SwapResult, TestRequest
from codeenv.languages.python.runner import records, serve
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import Image


def try_swaps(
    sandbox: Sandbox, image: Image, request: TestRequest, swaps: Sequence[Swap]
) -> tuple[SwapResult, ...]:
    """Return one result per try, the same ones whatever else is tried beside it.

    For that, all tests of the request are collected: what is imported is always the same.  A try
    that ends the process has a problem; those after it are made in another process.
    """
    found: list[SwapResult] = []
    while len(found) < len(swaps):
        left = swaps[len(found) :]
        body = {**asdict(request), "swaps": [asdict(swap) for swap in left]}
        result = serve(sandbox, image, "pytest_runner", body, request)
        said = list(records(result.report))
        found += [_read(record) for record in said if "swap" in record]
        problem = f"the process ended before (exit code {result.exit_code})"
        ended = SwapResult(problem=problem, complete=False)
        if not any("ready" in record for record in said):
            found += [ended] * len(left)
        elif len(found) < len(swaps):
            found.append(ended)
    return tuple(found)


def _read(record: Mapping[str, Any]) -> SwapResult:
    try:
        return _result(record)
    except (LookupError, TypeError):
        return SwapResult(problem="the result is not one", complete=False)


def _result(record: Mapping[str, Any]) -> SwapResult:
    if record["problem"]:
        return SwapResult(problem=record["problem"])
    return SwapResult(
        failing=frozenset(record["failing"]),
        weak=record["weak"],
        untried=frozenset(record["untried"]),
        survivors=tuple(record["survivors"]),
        mutants=record["mutants"],
        waits=record["waits"],
    )
