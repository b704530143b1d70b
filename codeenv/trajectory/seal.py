"""A hash chain over the steps of a trajectory: what was written down is not changed afterwards.

The chain has no key: it shows damage and edits of single parts, not a forger who seals anew.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel
from pydantic_core import to_json

CHAIN = "chain"
"""Name in ``extra``: ``steps``, a hash for each step, and ``head``, over the rest as well."""
GENESIS = "0" * 64


def link(previous: str, value: object) -> str:
    """Return the hash of a value (plain data or a model), as it is written, behind a hash."""
    written = json.loads(to_json(value, exclude_none=True, inf_nan_mode="null"))
    text = json.dumps(written, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{previous}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def chain_of(steps: Iterable[BaseModel], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chain over steps and over what else ``extra`` holds."""
    links: list[str] = []
    for step in steps:
        links.append(link(links[-1] if links else GENESIS, step))
    rest = {name: value for name, value in extra.items() if name != CHAIN}
    return {"steps": links, "head": link(links[-1] if links else GENESIS, rest)}


def sealed(
    steps: Iterable[BaseModel], extra: Mapping[str, Any] | None
) -> Literal["intact", "broken", "absent"]:
    """Return whether steps and ``extra`` are the ones their chain was made over."""
    found = (extra or {}).get(CHAIN)
    if found is None:
        return "absent"
    return "intact" if found == chain_of(steps, extra or {}) else "broken"
