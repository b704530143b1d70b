"""Samplers beside simulated policies: what they come to know, and how much sooner one learns."""

import numpy as np
import pytest

from codeenv_harness.curriculum import SamplerOptions, TaskSampler
from codeenv_harness.curriculum.posterior import expit, logit

GROUP = 8


def play(sampler, rng, p, drawn):
    for task_id in drawn:
        sampler.update(task_id, rng.random(GROUP) < p[int(task_id)])


def names(count):
    return [str(n) for n in range(count)]


def test_posteriors_come_to_know_a_policy_that_stays_the_same():
    rng = np.random.default_rng(5)
    p = rng.uniform(0.1, 0.9, 60)
    sampler = TaskSampler(names(60), seed=5)
    means = []
    for turn in range(400):
        play(sampler, rng, p, sampler.sample(8))
        if turn >= 100:
            means.append(sampler.means(names(60)))

    # about 27 tries of evidence beside two pseudo counts: single means vary, their average does not
    assert np.abs(np.mean(means, axis=0) - p).max() < 0.12
    assert np.abs(means[-1] - p).mean() < 0.09


@pytest.mark.parametrize("decay", [0.5, 0.7])
def test_posteriors_follow_a_policy_that_learns(decay):
    rng = np.random.default_rng(6)
    start, end = rng.uniform(0.05, 0.5, 40), rng.uniform(0.5, 0.9, 40)
    sampler = TaskSampler(names(40), seed=6, options=SamplerOptions(decay=decay))
    frozen = TaskSampler(names(40), seed=6, options=SamplerOptions(decay=1.0))
    errors = {id(sampler): [], id(frozen): []}
    for turn in range(300):
        p = start + (end - start) * turn / 300
        for each in (sampler, frozen):
            play(each, rng, p, each.sample(8))
            errors[id(each)].append(np.abs(each.means(names(40)) - p).mean())

    followed, stuck = np.mean(errors[id(sampler)][100:]), np.mean(errors[id(frozen)][200:])
    assert followed < 0.11
    assert followed < stuck


def test_draws_go_to_tasks_that_are_sometimes_solved():
    rng = np.random.default_rng(7)
    p = np.concatenate([np.full(400, 0.01), rng.uniform(0.2, 0.8, 100), np.full(500, 0.99)])
    sampler = TaskSampler(names(1000), seed=7)
    middle = []
    for turn in range(250):
        drawn = sampler.sample(16)
        play(sampler, rng, p, drawn)
        if turn >= 150:
            middle += [0.2 < p[int(i)] < 0.8 for i in drawn]

    assert np.mean(middle) > 4 * 0.1  # a tenth of all tasks are in the middle


def draws_until_learnt(choose, told, seed):
    """Play until an ability has grown from -6 to 6: each draw adds p (1 - p) of its task."""
    rng = np.random.default_rng(seed)
    hardness, ability, draws = rng.uniform(-10, 10, 300), -6.0, 0
    while ability < 6:
        for task_id in choose():
            p = expit(np.array(ability - hardness[int(task_id)])).item()
            told(task_id, rng.random(GROUP) < p)
            ability += 0.05 * p * (1 - p)
            draws += 1
    return draws


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_policy_learns_in_fewer_draws_than_from_tasks_drawn_evenly(seed):
    ids = names(300)
    sampler, rng = TaskSampler(ids, seed=seed), np.random.default_rng(seed)

    ours = draws_until_learnt(lambda: sampler.sample(8), sampler.update, seed)
    evenly = draws_until_learnt(lambda: rng.choice(ids, 8, replace=False), lambda *_: None, seed)

    assert ours < 0.7 * evenly


def test_a_good_prior_finds_the_middle_sooner():
    rng = np.random.default_rng(8)
    p = expit(rng.normal(0, 4, 2000))
    guess = expit(logit(p) + rng.normal(0, 1, 2000))
    shares = []
    for priors in (None, guess):
        sampler = TaskSampler(names(2000), seed=8, priors=priors)
        drawn = [i for _ in range(20) for i in sampler.sample(16)]
        shares.append(np.mean([0.2 < p[int(i)] < 0.8 for i in drawn]))

    assert shares[1] > 1.25 * shares[0]
