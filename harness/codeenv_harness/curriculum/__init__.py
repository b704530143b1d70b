"""Which tasks to play next, which groups teach nothing, and what to ask the generator for.

``curriculum.answers`` fulfils the requests; it loads the generator, so it is apart.
"""

from codeenv_harness.curriculum.groups import GroupReport, zero_advantage_mask
from codeenv_harness.curriculum.options import SamplerOptions, Status
from codeenv_harness.curriculum.priors import PriorModel, fit_priors
from codeenv_harness.curriculum.recipes import (
    difficulty_level,
    features_of,
    prior_from_difficulty,
    sampler_of,
)
from codeenv_harness.curriculum.requests import HarderChildren, Request, RicherStatement
from codeenv_harness.curriculum.sampler import TaskSampler
from codeenv_harness.curriculum.table import TaskState

__all__ = [
    "GroupReport",
    "HarderChildren",
    "PriorModel",
    "Request",
    "RicherStatement",
    "SamplerOptions",
    "Status",
    "TaskSampler",
    "TaskState",
    "difficulty_level",
    "features_of",
    "fit_priors",
    "prior_from_difficulty",
    "sampler_of",
    "zero_advantage_mask",
]
