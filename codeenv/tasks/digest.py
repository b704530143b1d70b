"""Canonical bytes and digests of persisted models."""

import hashlib
import json

from codeenv.tasks.models import Model


def canonical(model: Model) -> bytes:
    """Return the one way a model is written: sorted keys, two-space indent, final newline."""
    text = json.dumps(model.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False)
    return text.encode() + b"\n"


def digest_of(model: Model) -> str:
    """Return the sha256 of the canonical bytes (hex)."""
    return hashlib.sha256(canonical(model)).hexdigest()
