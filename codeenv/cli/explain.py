"""``codeenv generate --explain``: what became of a candidate, from the funnel of an earlier run."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codeenv.cli.terminal import Terminal, table
from codeenv.errors import UsageError
from codeenv.generate import Reason


def explain(terminal: Terminal, out: Path, wanted: str) -> None:
    """Write all that is known of the candidates that a key, a symbol or a task id stands for.

    Raises:
        UsageError: If there is no funnel, or none of its candidates is meant.
    """
    every = list(_candidates(out))
    if not every:
        raise UsageError(f"{out} holds no funnel", hint="name an earlier run's folder by --out")
    chosen = [candidate for candidate in every if _is_meant(candidate, wanted)]
    if not chosen:
        raise UsageError(
            f"no candidate is called {wanted!r}",
            hint=f"the funnels in {out} list {len(every)}: give a key, a symbol or a task id",
        )
    for candidate in chosen:
        terminal.data(candidate)
        rows = [(name, _text(value)) for name, value in candidate.items() if value]
        terminal.show(table(("", ""), rows))


def _candidates(out: Path) -> Iterator[Mapping[str, Any]]:
    found = *out.glob("funnels/*.json"), *out.glob("*/funnels/*.json")  # of one repository, or many
    for file in sorted(found):
        try:
            candidates = json.loads(file.read_bytes())["candidates"]
            yield from [_told(**candidate) for candidate in candidates]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{file} is no funnel of codeenv", hint="generate again") from error


def _told(
    *, key: str, task: str | None, symbols: list[str], reason: str, **more: object
) -> Mapping[str, Any]:
    """Return a candidate with the meaning of its reason."""
    named = {"key": key, "task": task, "symbols": symbols, "reason": reason}
    return {**named, **more, "meaning": Reason(reason).description}


def _is_meant(candidate: Mapping[str, Any], wanted: str) -> bool:
    symbols = candidate["symbols"]
    names = {candidate["key"], candidate["task"], *symbols}
    return wanted in names or any(symbol.partition("::")[2] == wanted for symbol in symbols)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
