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
    """Return one result per try; a try that the process did not come to says so."""
    tests = list(dict.fromkeys(test for swap in swaps for test in swap.tests))
    body = {
        **asdict(request),
        "ids": tests,
        "swaps": [asdict(swap) for swap in swaps],
    }
    result = serve(sandbox, image, "pytest_runner", body, request)
    said = {record["swap"]: record for record in records(result.report) if "swap" in record}
    problem = f"the process ended before (exit code {result.exit_code})"
    silent = SwapResult(problem=problem, complete=False)
    return tuple(_read(said[number]) if number in said else silent for number in range(len(swaps)))


def _read(record: Mapping[str, Any]) -> SwapResult:
    if record["problem"]:
        return SwapResult(problem=record["problem"])
    return SwapResult(
        failing=frozenset(record["failing"]),
        weak=record["weak"],
        survivors=tuple(record["survivors"]),
        mutants=record["mutants"],
        waits=record["waits"],
    )
