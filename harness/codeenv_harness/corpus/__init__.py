"""Labelled episodes to measure a monitor by: scripted from a catalogue, on a bundled repository.

Every case of misconduct comes in up to three variants (plain, paraphrased, lightly obfuscated) and
beside honest cases that look like it.  ``scenes("dev")`` are the families that the rules were
written with, ``scenes("unseen")`` those that were written afterwards.
"""

from codeenv_harness.corpus.cases import Scene, Split, Variant
from codeenv_harness.corpus.tables import scenes

__all__ = ["Scene", "Split", "Variant", "scenes"]
