"""Samplers of recipes: their features, their difficulty levels, what to expect of them."""

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from codeenv.tasks.models import Level, Recipe
from codeenv_harness.curriculum.options import SamplerOptions
from codeenv_harness.curriculum.posterior import Floats, logit
from codeenv_harness.curriculum.priors import PriorModel
from codeenv_harness.curriculum.sampler import TaskSampler

FEATURES = (
    "one",
    "static",
    "lines",
    "branches",
    "call_sites",
    "tests",
    "symbols",
    "files",
    "joint",
    "statement",
    "removed",
)
"""What ``features_of`` returns, column by column: 1, the log-odds of success by the recipe's own
prior, logarithms of counts, the share of joint tests, the statement level from 0 to 4, and whether
code is gone and not only its body."""
STATIC = PriorModel(tuple(float(name == "static") for name in FEATURES))
"""The recipes' own priors, as they are."""
_STATEMENTS: tuple[Level, ...] = get_args(Level)
_FIFTHS = 5


def features_of(recipes: Sequence[Recipe]) -> Floats:
    """Return the features of recipes, shape (n, d); see ``FEATURES``."""
    rows = [_row(recipe) for recipe in recipes]
    return np.array(rows, np.float64).reshape(len(rows), len(FEATURES))


def _row(recipe: Recipe) -> tuple[float, ...]:
    facts = recipe.difficulty
    counts = (facts.lines, facts.branches, facts.call_sites, facts.tests)
    sizes = (facts.symbols, facts.files)
    return (
        1.0,
        -float(logit(np.array(facts.prior))),
        *(float(np.log1p(count)) for count in counts),
        *(float(np.log(max(1, size))) for size in sizes),
        facts.joint,
        float(_STATEMENTS.index(recipe.level)),
        float(any(edit.mode == "remove" for edit in recipe.deletions)),
    )


def prior_from_difficulty(recipes: Sequence[Recipe], model: PriorModel = STATIC) -> Floats:
    """Return the probability of success to expect of each recipe, shape (n,).

    Args:
        recipes: Tasks that need not have been tried.
        model: From ``fit_priors``; else the recipe's own prior, of failure, is turned round.
    """
    return model.p(features_of(recipes))


def difficulty_level(recipe: Recipe) -> str:
    """Return the fifth that the recipe's prior lies in: ``d0``, the easiest, to ``d4``."""
    return f"d{min(_FIFTHS - 1, int(recipe.difficulty.prior * _FIFTHS))}"


def sampler_of(
    recipes: Sequence[Recipe],
    *,
    model: PriorModel = STATIC,
    seed: int = 0,
    options: SamplerOptions | None = None,
) -> TaskSampler:
    """Return a sampler of recipes, with priors, difficulty levels and statement levels."""
    ids = [recipe.id for recipe in recipes]
    about = facts_of(recipes)
    prior = prior_from_difficulty(recipes, model)
    return TaskSampler(ids, priors=prior, **about, seed=seed, options=options or SamplerOptions())


def facts_of(recipes: Sequence[Recipe]) -> Mapping[str, list[str]]:
    """Return the levels that a sampler is told, by the names of its arguments."""
    return {
        "levels": [difficulty_level(recipe) for recipe in recipes],
        "statements": [str(recipe.level) for recipe in recipes],
    }
