"""Record what tests call, and call that again beside other code."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from codeenv.languages.base import Layout, TestRequest
from codeenv.languages.python.runner import records, serve
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import Image


def record_calls(
    sandbox: Sandbox, image: Image, request: TestRequest, layout: Layout
) -> tuple[str, ...]:
    """Return scripts of the calls that tests make, in their order."""
    body = {**asdict(request), "sources": list(layout.source_files)}
    result = serve(sandbox, image, "replay_recorder", body, request)
    told = (record.get("script") for record in records(result.report))
    return tuple(dict.fromkeys(text for text in told if isinstance(text, str)))


def call_again(
    sandbox: Sandbox,
    image: Image,
    scripts: Sequence[str],
    order: Sequence[int],
    *,
    request: TestRequest,
    strange: bool = False,
    fields: bool = False,
) -> Mapping[int, str]:
    """Return what scripts answered, by their numbers.

    One that answered more than once is not among them: who may guess again is right in the end.
    """
    body = {
        "scripts": list(scripts),
        "order": list(order),
        "strange": strange,
        "fields": fields,
        "limit": request.test_timeout,
    }
    result = serve(sandbox, image, "replay_runner", body, request)
    found: dict[int, str] = {}
    twice: set[int] = set()
    for record in records(result.report):
        match record:
            case {"script": int(number), "answer": str(answer)}:
                twice |= {number} & found.keys()
                found[number] = answer
    return {number: answer for number, answer in found.items() if number not in twice}


def target_of(script: str) -> str:
    """Return what the last step of a script calls, for people and for sorting."""
    steps = json.loads(script)
    return _target(steps, len(steps) - 1)


def _target(steps: Sequence[Sequence[object]], number: int) -> str:
    match steps[number][0]:
        case [int(earlier), str(name)]:
            return f"{_target(steps, earlier)}.{name}"
        case target:
            return str(target)
