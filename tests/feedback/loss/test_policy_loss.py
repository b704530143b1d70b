"""Advantages and the clipped policy gradient, against sums written out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.errors import UsageError

torch = pytest.importorskip("torch")

from codeenv.feedback.loss import group_advantages, policy_gradient_loss  # noqa: E402

N, T = 5, 6


def batch(seed=0, dtype=torch.float64):
    """Log-probabilities that differ enough for every clip to act, advantages of both signs."""
    generator = torch.Generator().manual_seed(seed)
    logp = -3 * torch.rand(N, T, generator=generator, dtype=torch.float64)
    drift = 0.6 * torch.randn(N, T, generator=generator, dtype=torch.float64)
    advantages = torch.randn(N, generator=generator, dtype=torch.float64)
    mask = torch.rand(N, T, generator=generator) < 0.7
    values = (logp.to(dtype), (logp - drift).to(dtype), advantages.to(dtype))
    return values[0].requires_grad_(), values[1], values[2], mask


def by_hand(logp, rollout_logp, advantages, mask, normaliser, lo=0.2, hi=0.28):
    total = torch.zeros((), dtype=torch.float64)
    for i in range(N):
        for t in range(T):
            if mask[i, t]:
                rho = (logp[i, t] - rollout_logp[i, t]).exp()
                gain = advantages[i] if advantages.dim() == 1 else advantages[i, t]
                held = 1 - lo if rho < 1 - lo else 1 + hi if rho > 1 + hi else rho
                total = total + (rho * gain if rho * gain < held * gain else held * gain)
    return -total / normaliser


@pytest.mark.parametrize("per_token", [False, True])
def test_values_and_gradients_are_those_of_sums_written_out(per_token):
    for seed in range(3):
        logp, rollout_logp, advantages, mask = batch(seed)
        if per_token:
            advantages = advantages[:, None] * torch.linspace(-1, 1, T, dtype=torch.float64)
        expected = by_hand(logp, rollout_logp, advantages, mask, 40)
        (gradient,) = torch.autograd.grad(expected, logp)
        for dtype, close in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
            own = logp.detach().to(dtype).requires_grad_()

            loss, _ = policy_gradient_loss(
                own, rollout_logp.to(dtype), advantages.to(dtype), mask, normaliser=40
            )
            loss.backward()

            assert loss.item() == pytest.approx(expected.item(), abs=close)
            torch.testing.assert_close(own.grad.double(), gradient, atol=close, rtol=close)


def test_gradients_are_those_of_finite_differences():
    logp, rollout_logp, advantages, mask = batch()

    assert torch.autograd.gradcheck(
        lambda own: policy_gradient_loss(own, rollout_logp, advantages, mask, normaliser=7)[0],
        (logp,),
    )


def test_on_policy_the_gradient_is_the_advantage_over_the_normaliser():
    logp, _, advantages, mask = batch()

    loss, stats = policy_gradient_loss(logp, logp, advantages, mask, normaliser=50)
    loss.backward()

    torch.testing.assert_close(logp.grad, -(advantages[:, None] * mask) / 50)
    assert (stats.clip_fraction, stats.mean_ratio, stats.approx_kl) == (0, 1, 0)
    assert stats.tokens == int(mask.sum())


@pytest.mark.parametrize(
    ("rho", "advantage", "moves"),
    [
        (1.27, 1, True),
        (1.29, 1, False),
        (0.5, 1, True),
        (0.81, -1, True),
        (0.79, -1, False),
        (3, -1, True),
    ],
)
def test_the_clips_stop_only_what_went_far_enough(rho, advantage, moves):
    logp = torch.tensor([[math.log(rho)]], requires_grad=True)

    loss, stats = policy_gradient_loss(
        logp, torch.zeros(1, 1), torch.tensor([float(advantage)]), torch.ones(1, 1), normaliser=1
    )
    loss.backward()

    assert bool(logp.grad.abs() > 0) == moves
    assert stats.clip_fraction == (0 if moves else 1)
    assert stats.mean_ratio == pytest.approx(rho)
    assert stats.approx_kl == pytest.approx(rho - 1 - math.log(rho), abs=1e-6)


def test_no_length_of_the_batch_counts():
    logp, rollout_logp, advantages, mask = batch()
    padded = [torch.cat([x, torch.full((N, 9), math.nan).to(x)], 1) for x in (logp, rollout_logp)]
    longer = torch.cat([mask, torch.zeros(N, 9, dtype=torch.bool)], 1)

    plain, _ = policy_gradient_loss(logp, rollout_logp, advantages, mask, normaliser=40)
    wider, _ = policy_gradient_loss(*padded, advantages, longer, normaliser=40)
    wider.backward()

    assert plain.item() == wider.item()
    assert torch.isfinite(logp.grad).all()


def test_micro_batches_add_up():
    logp, rollout_logp, advantages, mask = batch()

    whole, _ = policy_gradient_loss(logp, rollout_logp, advantages, mask, normaliser=40)
    parts = [
        policy_gradient_loss(logp[s], rollout_logp[s], advantages[s], mask[s], normaliser=40)[0]
        for s in (slice(0, 2), slice(2, N))
    ]

    torch.testing.assert_close(sum(parts), whole)


def test_nothing_to_learn_from_is_a_loss_of_zero_that_can_be_differentiated():
    logp, rollout_logp, advantages, mask = batch()

    loss, stats = policy_gradient_loss(
        logp, rollout_logp, advantages, torch.zeros_like(mask), normaliser=1
    )
    loss.backward()

    assert loss.item() == 0
    assert not logp.grad.any()
    assert (stats.tokens, stats.clip_fraction, stats.mean_ratio) == (0, 0, 0)


def test_a_sampler_that_was_far_off_gives_a_finite_loss_in_half_precision():
    logp = torch.tensor([[-1.0, -900.0]], dtype=torch.bfloat16, requires_grad=True)
    rollout_logp = torch.tensor([[-900.0, -1.0]], dtype=torch.bfloat16)

    loss, _ = policy_gradient_loss(
        logp, rollout_logp, torch.tensor([-1.0]), torch.ones(1, 2), normaliser=1
    )
    loss.backward()

    assert loss.dtype == torch.float32
    assert torch.isfinite(loss)
    assert torch.isfinite(logp.grad).all()


def test_only_the_student_gets_a_gradient():
    logp, rollout_logp, advantages, mask = batch()
    rollout_logp.requires_grad_()
    advantages.requires_grad_()

    policy_gradient_loss(logp, rollout_logp, advantages, mask, normaliser=1)[0].backward()

    assert logp.grad is not None
    assert rollout_logp.grad is None
    assert advantages.grad is None


def test_an_advantage_is_the_reward_less_the_mean_of_the_group():
    rewards = torch.tensor([1, 0, 0, 1, 1, 0.5])

    advantages = group_advantages(rewards, [7, 7, 7, 3, 3, 9])

    torch.testing.assert_close(advantages, torch.tensor([2 / 3, -1 / 3, -1 / 3, 0, 0, 0]))


def test_rewards_may_be_whole_numbers():
    assert group_advantages(torch.tensor([1, 0]), [0, 0]).tolist() == [0.5, -0.5]


def test_an_invalid_reward_counts_in_no_mean_and_teaches_nothing():
    rewards = torch.tensor([1.0, math.nan, 0.0, math.inf])
    valid = torch.tensor([True, False, True, False])

    advantages = group_advantages(rewards, [0, 0, 0, 1], valid=valid)

    assert advantages.tolist() == [0.5, 0, -0.5, 0]


def test_a_standard_deviation_is_divided_by_only_when_asked_for():
    rewards = torch.tensor([1.0, 0, 0, 0.3, 0.3])
    groups = [0, 0, 0, 1, 1]

    scaled = group_advantages(rewards, groups, std=True)

    plain = group_advantages(rewards, groups)
    torch.testing.assert_close(scaled[:3], plain[:3] / (rewards[:3].std() + 1e-4))
    assert scaled[3:].tolist() == [0, 0]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-10, 10)), min_size=1, max_size=20))
def test_advantages_of_a_group_sum_to_zero(rows):
    groups = torch.tensor([group for group, _ in rows])
    rewards = torch.tensor([reward for _, reward in rows], dtype=torch.float64)

    advantages = group_advantages(rewards, groups)

    for group in set(groups.tolist()):
        assert abs(float(advantages[groups == group].sum())) < 1e-9


def test_what_does_not_fit_together_is_refused():
    logp, rollout_logp, advantages, mask = batch()
    with pytest.raises(UsageError, match="rollout_logp"):
        policy_gradient_loss(logp, rollout_logp[:2], advantages, mask, normaliser=1)
    with pytest.raises(UsageError, match="mask must be"):
        policy_gradient_loss(logp, rollout_logp, advantages, mask * 0.5, normaliser=1)
    with pytest.raises(UsageError, match="advantages"):
        policy_gradient_loss(logp, rollout_logp, advantages[:, None], mask, normaliser=1)
    with pytest.raises(UsageError, match="advantages"):
        policy_gradient_loss(logp, rollout_logp, advantages[:2], mask, normaliser=1)
    with pytest.raises(UsageError, match="advantages"):
        policy_gradient_loss(logp, rollout_logp, advantages.sum(), mask, normaliser=1)
    with pytest.raises(UsageError, match="rollouts, tokens"):
        policy_gradient_loss(logp[0], rollout_logp[0], advantages, mask[0], normaliser=1)
    with pytest.raises(UsageError, match="normaliser"):
        policy_gradient_loss(logp, rollout_logp, advantages, mask, normaliser=0)
    with pytest.raises(UsageError, match="groups"):
        group_advantages(torch.zeros(3), [0, 1])
