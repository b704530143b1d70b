"""The hint loss: weights, clips, the shared normaliser, and which direction an event takes."""

import math
from dataclasses import replace

import pytest

from codeenv.errors import UsageError

torch = pytest.importorskip("torch")

from codeenv.feedback.loss import (  # noqa: E402
    FORWARD,
    REVERSE,
    HintBatch,
    choose_alpha,
    divergence,
    group_advantages,
    hint_loss,
    policy_gradient_loss,
    teacher_choice_probability,
)

E, T, V = 4, 5, 8
ALPHA = (0.0, 0.3, 0.5, 1.0)


def events(seed=0, scale=4.0):
    """Divergences on both sides of kappa = 5 and ratios on both sides of 2."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    logp = draw(E, T)
    return HintBatch(
        student_logits=(scale * draw(E, T, V)).requires_grad_(),
        teacher_logits=scale * draw(E, T, V),
        logp=logp,
        rollout_logp=logp - draw(E, T),
        mask=draw(E, T) > -0.5,
        weights=draw(E).abs(),
        alpha=torch.tensor(ALPHA, dtype=torch.float64),
    )


def by_hand(batch, normaliser, kappa=5.0, rho_max=2.0):
    total = torch.zeros((), dtype=torch.float64)
    for e in range(E):
        for t in range(T):
            if batch.mask[e, t]:
                rho = math.exp(batch.logp[e, t] - batch.rollout_logp[e, t])
                p = batch.student_logits[e, t].softmax(-1)
                q = batch.teacher_logits[e, t].softmax(-1)
                a = ALPHA[e]
                m = (1 - a) * p + a * q
                first, second = (q * (q / m).log()).sum(), (p * (p / m).log()).sum()
                if a in (0, 1):
                    distance = (q * (q / p).log()).sum() if a == 0 else (p * (p / q).log()).sum()
                else:
                    distance = a * first + (1 - a) * second
                if distance > kappa:
                    distance = torch.tensor(kappa, dtype=torch.float64)
                total = total + batch.weights[e] * min(rho, rho_max) * distance
    return total / normaliser


def test_values_and_gradients_are_those_of_sums_written_out():
    for seed in range(3):
        batch = events(seed)
        expected = by_hand(batch, 40)
        (gradient,) = torch.autograd.grad(expected, batch.student_logits)
        for dtype, close in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
            logits = batch.student_logits.detach().to(dtype).requires_grad_()
            teacher = batch.teacher_logits.to(dtype)

            loss, _ = hint_loss(
                replace(batch, student_logits=logits, teacher_logits=teacher), normaliser=40
            )
            loss.backward()

            assert loss.item() == pytest.approx(expected.item(), abs=close)
            torch.testing.assert_close(logits.grad.double(), gradient, atol=close, rtol=close)


@pytest.mark.parametrize("top_k", [None, 3])
def test_gradients_are_those_of_finite_differences(top_k):
    batch = events(1, scale=1.0)

    assert torch.autograd.gradcheck(
        lambda logits: hint_loss(replace(batch, student_logits=logits), normaliser=3, top_k=top_k)[
            0
        ],
        (batch.student_logits,),
    )


def test_only_the_students_logits_get_a_gradient():
    batch = events()
    others = [batch.teacher_logits, batch.logp, batch.rollout_logp, batch.weights, batch.alpha]
    for tensor in others:
        tensor.requires_grad_()

    hint_loss(batch, normaliser=1)[0].backward()

    assert batch.student_logits.grad.any()
    assert [tensor.grad for tensor in others] == [None] * 5


def test_a_token_above_kappa_counts_as_kappa_and_gives_no_gradient():
    student = torch.tensor([[[30.0, 0.0], [1.0, 0.0]]], requires_grad=True)
    batch = one(student, torch.tensor([[[0.0, 30.0], [0.0, 1.0]]]))

    loss, stats = hint_loss(batch, normaliser=1)
    loss.backward()

    small = divergence(student[0, 1], batch.teacher_logits[0, 1]).item()
    assert loss.item() == pytest.approx(5 + small)
    assert not student.grad[0, 0].any()
    assert student.grad[0, 1].any()
    assert stats.kappa_fraction == 0.5
    assert stats.mean_divergence == pytest.approx((30 + small) / 2, rel=1e-5)


def test_rescaled_a_token_above_kappa_counts_as_kappa_and_keeps_its_direction():
    def gradient(**clips):
        student = torch.tensor([[[30.0, 0.0], [1.0, 0.0]]], requires_grad=True)
        batch = one(student, torch.tensor([[[0.0, 30.0], [0.0, 1.0]]]))
        loss, _ = hint_loss(batch, normaliser=1, **clips)
        loss.backward()
        return loss.detach(), student.grad[0]

    cut, _ = gradient()
    value, scaled = gradient(rescale=True)
    _, free = gradient(kappa=1e9)

    assert torch.allclose(value, cut)
    assert torch.allclose(scaled[0], free[0] * 5 / 30, rtol=1e-4)
    assert torch.equal(scaled[1], free[1])


def test_what_the_student_never_does_is_learnt_where_it_is_rescaled():
    student = torch.tensor([[[-8.0, 0.0, 0.0]]], requires_grad=True)
    batch = replace(one(student, torch.tensor([[[6.0, 0.0, 0.0]]])), alpha=torch.zeros(1))

    hint_loss(batch, normaliser=1, rescale=True)[0].backward()

    assert student.grad[0, 0, 0] < -0.3


def test_a_ratio_above_two_counts_as_two():
    def loss(rho):
        student, teacher = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[0.0, 1.0]]])
        batch = replace(one(student, teacher), rollout_logp=torch.tensor([[-math.log(rho)]]))
        return hint_loss(batch, normaliser=1)

    plain = loss(1.0)[0].item()

    assert loss(0.5)[0].item() == pytest.approx(plain / 2)
    assert loss(1.9)[0].item() == pytest.approx(plain * 1.9)
    assert loss(7.0)[0].item() == pytest.approx(plain * 2)
    assert loss(7.0)[1].rho_fraction == 1
    assert loss(7.0)[1].mean_ratio == pytest.approx(7)


def one(student, teacher):
    """One on-policy event of weight 1, reverse, over all its tokens."""
    tokens = student.shape[1]
    zero = torch.zeros(1, tokens)
    return HintBatch(
        student, teacher, zero, zero, torch.ones(1, tokens), torch.ones(1), torch.ones(1)
    )


def test_outside_the_span_anything_may_stand():
    batch = events()
    plain, _ = hint_loss(batch, normaliser=1)
    hole = ~batch.mask
    nan = math.nan
    logits = batch.student_logits.detach().masked_fill(hole[..., None], nan).requires_grad_()
    spoilt = replace(
        batch,
        student_logits=logits,
        teacher_logits=batch.teacher_logits.masked_fill(hole[..., None], -math.inf),
        logp=batch.logp.masked_fill(hole, -math.inf),
        rollout_logp=batch.rollout_logp.masked_fill(hole, -math.inf),
    )

    loss, _ = hint_loss(spoilt, normaliser=1)
    loss.backward()

    assert loss.item() == plain.item()
    assert torch.isfinite(logits.grad).all()
    assert not logits.grad[hole].any()


def test_events_add_up():
    batch = events()
    fields = vars(batch)

    parts = [
        hint_loss(HintBatch(**{k: v[e : e + 1] for k, v in fields.items()}), normaliser=9)[0]
        for e in range(E)
    ]

    torch.testing.assert_close(sum(parts), hint_loss(batch, normaliser=9)[0])


def test_no_event_is_a_loss_of_zero_that_can_be_differentiated():
    batch = HintBatch(**{name: value[:0] for name, value in vars(events()).items()})

    loss, stats = hint_loss(batch, normaliser=1)
    loss.backward()

    assert loss.item() == 0
    assert (stats.tokens, stats.mean_divergence) == (0, 0)


def token_weights(rewards, length):
    """Gradient per reward token of the first rollout, and per hint token, in a batch of N."""
    n = len(rewards)
    logp = torch.zeros(n, 3, requires_grad=True)
    advantages = group_advantages(torch.tensor(rewards), list(range(n // 2)) * 2)
    normaliser = n * length
    student = torch.tensor([[[1.0, 0.0]]], requires_grad=True)
    policy, _ = policy_gradient_loss(
        logp, logp.detach(), advantages, torch.ones(n, 3), normaliser=normaliser
    )
    hint, _ = hint_loss(one(student, torch.tensor([[[0.0, 1.0]]])), normaliser=normaliser)
    (policy + hint).backward()
    return float(logp.grad[0, 0]), float(student.grad[0, 0, 0])


def test_more_rollouts_without_an_event_leave_hint_and_reward_tokens_on_one_scale():
    """Two rollouts of a task, then two more of a second task, solved and with no mistake."""
    reward, hint = token_weights([1.0, 0.0], 10)
    more_reward, more_hint = token_weights([1.0, 1.0, 0.0, 1.0], 10)

    assert more_hint / more_reward == pytest.approx(hint / reward)
    assert more_hint == pytest.approx(hint / 2)


def test_the_weight_of_a_hint_token_does_not_depend_on_how_many_errors_there_are():
    row, teacher = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])

    def gradient(count):
        student = row.expand(1, count, 2).clone().requires_grad_()
        hint_loss(one(student, teacher.expand(1, count, 2)), normaliser=10)[0].backward()
        return student.grad[0, 0]

    torch.testing.assert_close(gradient(1), gradient(6))


def test_forward_with_a_small_weight_is_chosen_where_the_student_never_does_it():
    alpha, weight = choose_alpha(torch.tensor([0.0, 0.049, 0.05, 0.9], dtype=torch.float64))

    assert alpha.tolist() == [FORWARD, FORWARD, REVERSE, REVERSE]
    assert weight.tolist() == [0.3, 0.3, 1, 1]
    assert choose_alpha(torch.tensor([0.3]), threshold=0.5).alpha.tolist() == [FORWARD]


def test_the_choice_is_looked_up_at_the_first_token_of_the_span():
    student, teacher = torch.zeros(2, 3, 4), torch.zeros(2, 3, 4)
    student[0, 1, 2] = teacher[0, 1, 2] = 9.0
    teacher[1, 0, 3] = 9.0
    mask = torch.tensor([[0, 1, 1], [1, 0, 0]])

    found = teacher_choice_probability(student, teacher, mask)

    assert found.tolist() == pytest.approx([math.exp(9) / (math.exp(9) + 3), 0.25])
    with pytest.raises(UsageError, match="no token"):
        teacher_choice_probability(student, teacher, torch.zeros(2, 3))


def test_what_does_not_fit_together_is_refused():
    batch = events()
    for name in ("teacher_logits", "logp", "rollout_logp", "mask", "weights", "alpha"):
        with pytest.raises(UsageError, match=name):
            replace(batch, **{name: getattr(batch, name)[:2]})
    with pytest.raises(UsageError, match="events, tokens, vocabulary"):
        replace(batch, student_logits=torch.zeros(2, 3))
    for name in ("normaliser", "kappa", "rho_max"):
        with pytest.raises(UsageError, match=name):
            hint_loss(batch, **{"normaliser": 1, name: 0})
    with pytest.raises(UsageError, match="mask"):
        hint_loss(replace(batch, mask=batch.mask * 0.5), normaliser=1)
