"""What is expected of tasks before they are tried."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv.tasks.taskset import Taskset
from codeenv_harness.curriculum import (
    PriorModel,
    difficulty_level,
    features_of,
    fit_priors,
    prior_from_difficulty,
    sampler_of,
)
from codeenv_harness.curriculum.posterior import expit
from codeenv_harness.curriculum.recipes import FEATURES, STATIC

TOY = Taskset.load("toy").recipes


def test_without_outcomes_success_is_expected_where_the_recipe_expects_no_failure():
    expected = [1 - recipe.difficulty.prior for recipe in TOY]
    assert prior_from_difficulty(TOY) == pytest.approx(expected)
    none = fit_priors(features_of(TOY), np.zeros((len(TOY), 2)), start=STATIC)
    assert none.weights == STATIC.weights


def test_features_are_numbers_of_one_shape():
    found = features_of(TOY)
    assert found.shape == (len(TOY), len(FEATURES))
    assert np.isfinite(found).all()
    assert features_of(()).shape == (0, len(FEATURES))


def test_a_fit_finds_the_weights_that_made_the_outcomes():
    rng = np.random.default_rng(2)
    x = np.column_stack([np.ones(4000), rng.normal(size=(4000, 3))])
    wanted = np.array([-0.5, 1.0, -2.0, 0.0])
    good = rng.binomial(16, expit(x @ wanted))
    model = fit_priors(x, np.column_stack([good, 16 - good]))

    assert model.weights == pytest.approx(wanted, abs=0.05)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(-9, 9), st.floats(0, 50), st.floats(0, 50)), min_size=1, max_size=9
    ),
    st.floats(0.01, 10),
)
def test_a_fit_is_where_nothing_nearby_is_better(rows, ridge):
    x = np.array([[1.0, row[0]] for row in rows])
    outcomes = np.array([row[1:] for row in rows])
    weights = np.array(fit_priors(x, outcomes, ridge=ridge).weights)
    p = expit(x @ weights)
    slope = x.T @ (outcomes[:, 0] - outcomes.sum(axis=1) * p) - ridge * weights

    assert np.abs(slope).max() < 1e-4 * max(1.0, outcomes.sum())


def test_little_evidence_moves_a_model_little_and_much_moves_it_far():
    x = features_of(TOY)
    solved = np.column_stack([np.ones(len(TOY)), np.zeros(len(TOY))])
    start = prior_from_difficulty(TOY)
    little = fit_priors(x, 0.1 * solved, start=STATIC, ridge=50).p(x)
    much = fit_priors(x, 100 * solved, start=STATIC, ridge=50).p(x)

    assert (start < little).all()
    assert (little < much).all()
    assert np.abs(little - start).max() < 0.2
    assert much.min() > 0.9


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: fit_priors([[1.0]], [[1.0]]),
        lambda: fit_priors([[1.0]], [[1.0, -1.0]]),
        lambda: fit_priors([[float("nan")]], [[1.0, 0.0]]),
        lambda: fit_priors([[1.0]], [[1.0, 0.0]], ridge=0.0),
        lambda: fit_priors([[1.0]], [[1.0, 0.0]], start=PriorModel((0.0, 1.0))),
        lambda: PriorModel((1.0,)).p([[1.0, 2.0]]),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(UsageError):
        wrong()


def test_a_sampler_of_recipes_knows_their_levels():
    sampler = sampler_of(TOY, seed=3)
    for recipe in TOY:
        state = sampler.status(recipe.id)
        assert (state.level, state.statement) == (difficulty_level(recipe), recipe.level)
        assert state.mean == pytest.approx(min(0.99, 1 - recipe.difficulty.prior))
    assert {difficulty_level(recipe) for recipe in TOY} == {"d0", "d1", "d2", "d3", "d4"}
