"""How hard a task looks before anyone has tried it."""

import math

from codeenv.generate.models import Proof
from codeenv.tasks.models import Difficulty

# Weights of a logistic prior.  They order tasks; measured pass rates replace them.
_BIAS, _PER_LOG_LINE, _PER_SYMBOL, _PER_FILE, _PER_LOG_TEST = -3.2, 0.75, 0.22, 0.35, 0.12


def rate(proof: Proof) -> Difficulty:
    """Count what is deleted and make a prior probability of failure from it."""
    feature = proof.deletion.feature
    files = len({unit.path for unit in feature.members})
    symbols = len(feature.inner or feature.members)
    score = (
        _BIAS
        + _PER_LOG_LINE * math.log(1 + feature.line_count)
        + _PER_SYMBOL * (symbols - 1)
        + _PER_FILE * (files - 1)
        + _PER_LOG_TEST * math.log(1 + len(proof.fail_to_pass))
    )
    return Difficulty(
        lines=feature.line_count,
        symbols=symbols,
        files=files,
        tests=len(proof.fail_to_pass),
        prior=round(1 / (1 + math.exp(-score)), 3),
    )
