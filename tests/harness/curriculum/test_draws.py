"""Weighted draws without replacement, against the exact probabilities."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv_harness.curriculum.posterior import draw, draw_learnable, expit, logit


def exact(weights, k):
    """Probability of every ordered draw: each next one in proportion to what is left."""
    found = {}
    for order in permutations(range(len(weights)), k):
        left, probability = sum(weights), 1.0
        for place in order:
            probability *= weights[place] / left
            left -= weights[place]
        found[order] = probability
    return found


def assert_as_expected(counts, expected, times):
    """Hold chi-square to what chance alone hardly ever exceeds."""
    chi = sum((counts[o] - times * p) ** 2 / (times * p) for o, p in expected.items())
    freedom = len(expected) - 1
    assert chi < freedom + 4 * (2 * freedom) ** 0.5 + 4


@pytest.mark.parametrize(("weights", "k"), [((1, 2, 3, 4), 2), ((0.01, 0.3, 0.3), 2), ((5, 1), 1)])
def test_draws_are_as_frequent_as_drawing_one_after_the_other(weights, k):
    rng, times = np.random.default_rng(3), 40_000
    drawn = [tuple(draw(rng, np.array(weights, float), k)) for _ in range(times)]

    assert_as_expected(Counter(drawn), exact(weights, k), times)


@settings(deadline=None)
@given(st.lists(st.floats(0, 5), max_size=40), st.integers(-2, 60), st.integers(0, 99))
def test_a_draw_is_distinct_and_as_large_as_can_be(weights, k, seed):
    found = draw(np.random.default_rng(seed), np.array(weights, float), k)

    assert len(set(found.tolist())) == len(found) == max(0, min(k, len(weights)))


def test_what_has_no_weight_comes_last():
    for seed in range(50):
        found = draw(np.random.default_rng(seed), np.array([0, 1, 0, 1, 1.0]), 4)
        assert set(found[:3].tolist()) == {1, 3, 4}


def test_what_can_be_learnt_is_drawn_as_if_every_probability_were_known():
    p, times = np.array([0.02, 0.5, 0.9, 0.99]), 30_000
    bonus = np.array([0.0, 0.05, 0.0, 0.2])
    sure = 1e9 * p, 1e9 * (1 - p)
    expected = exact(p * (1 - p) + bonus, 2)
    for ahead in (0, 1, 9):
        rng = np.random.default_rng(ahead)
        drawn = [tuple(draw_learnable(rng, sure, bonus, 2, ahead=ahead)) for _ in range(times)]
        assert_as_expected(Counter(drawn), expected, times)


def test_what_can_be_learnt_is_drawn_the_same_however_far_one_looks_ahead():
    rng, times, n, k = np.random.default_rng(4), 8000, 12, 3
    a, b = rng.uniform(0.2, 6, n), rng.uniform(0.2, 6, n)
    bonus = rng.uniform(0, 0.1, n)

    def frequencies(ahead):
        drawn = [draw_learnable(rng, (a, b), bonus, k, ahead=ahead) for _ in range(times)]
        return np.bincount(np.concatenate(drawn), minlength=n) / times

    plain = np.zeros(n)
    for _ in range(times):
        p = rng.beta(a, b)
        plain[draw(rng, p * (1 - p) + bonus, k)] += 1 / times
    for ahead in (0, 2, n):
        assert np.abs(frequencies(ahead) - plain).max() < 0.03  # five standard errors


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.floats(0.01, 9)] * 2), max_size=40), st.integers(0, 50))
def test_what_can_be_learnt_is_drawn_once(posteriors, k):
    a, b = np.array(posteriors, float).reshape(-1, 2).T
    found = draw_learnable(np.random.default_rng(k), (a, b), np.zeros(len(a)), k, ahead=0)

    assert len(set(found.tolist())) == len(found) == min(k, len(a))


@given(st.floats(1e-5, 1 - 1e-5))
def test_log_odds_are_turned_back(p):
    assert expit(logit(np.array([p])))[0] == pytest.approx(p)
