"""Canonical bytes and digests of persisted models."""

import hashlib
import json

from codeenv.tasks.models import Model, Recipe
from codeenv.tasks.packing import pack, write


def canonical(model: Model) -> bytes:
    """Return the one way a model is written: sorted keys, indented, final newline.

    A recipe is packed: it shall stay small.
    """
    if isinstance(model, Recipe):
        text = write(pack(model))
    else:
        values = model.model_dump(mode="json")
        text = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False)
    return text.encode() + b"\n"


def digest_of(model: Model) -> str:
    """Return the sha256 of the canonical bytes (hex)."""
    return hashlib.sha256(canonical(model)).hexdigest()
