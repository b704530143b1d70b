"""The divergence of each position: right values, right gradients, and finite in every corner."""

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.errors import UsageError

torch = pytest.importorskip("torch")

from codeenv.feedback.loss import FORWARD, REVERSE, divergence  # noqa: E402

ALPHAS = [0.0, 0.3, 0.5, 1.0]
V = 7


def draw(*shape, seed=0, scale=2.0):
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(*shape, generator=generator, dtype=torch.float64)


def by_hand(student, teacher, alpha, top_k=None):
    """One position in plain sums of scalars, without anything of the library's."""
    p = [x.exp() / sum(y.exp() for y in student) for x in student]
    q = [x.exp() / sum(y.exp() for y in teacher) for x in teacher]
    if top_k is not None:
        order = sorted(range(len(p)), key=lambda i: -float(p[i].detach()))
        p, q = ([r[i] for i in order] for r in (p, q))
        p, q = ([*r[:top_k], sum(r[top_k:])] for r in (p, q))

    def kl(a, b):
        return sum(x * (x.log() - y.log()) for x, y in zip(a, b, strict=True))

    if alpha in (0, 1):
        return kl(q, p) if alpha == 0 else kl(p, q)
    m = [(1 - alpha) * x + alpha * y for x, y in zip(p, q, strict=True)]
    return alpha * kl(q, m) + (1 - alpha) * kl(p, m)


@pytest.mark.parametrize("top_k", [None, 1, 3, V - 1])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_values_and_gradients_are_those_of_sums_written_out(alpha, top_k):
    student, teacher = draw(5, V, seed=1).requires_grad_(), draw(5, V, seed=2)
    weights = torch.arange(1.0, 6.0, dtype=torch.float64)
    expected = torch.stack([by_hand(student[i], teacher[i], alpha, top_k) for i in range(5)])
    (gradient,) = torch.autograd.grad(expected @ weights, student)

    for dtype, close in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        logits = student.detach().to(dtype).requires_grad_()
        result = divergence(logits, teacher.to(dtype), alpha, top_k=top_k)
        (result @ weights.to(dtype)).backward()

        torch.testing.assert_close(result.double(), expected, atol=close, rtol=close)
        torch.testing.assert_close(logits.grad.double(), gradient, atol=close, rtol=close)


@pytest.mark.parametrize("top_k", [None, 3])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_gradients_are_those_of_finite_differences(alpha, top_k):
    teacher = draw(4, V, seed=4)

    assert torch.autograd.gradcheck(
        lambda logits: divergence(logits, teacher, alpha, top_k=top_k),
        (draw(4, V, seed=3).requires_grad_(),),
    )


def test_each_row_can_have_its_own_direction():
    student, teacher = draw(4, 3, V, seed=5).requires_grad_(), draw(4, 3, V, seed=6)
    mixed = divergence(student, teacher, torch.tensor(ALPHAS)[:, None])
    one_by_one = torch.stack(
        [divergence(student[i], teacher[i], alpha) for i, alpha in enumerate(ALPHAS)]
    )

    torch.testing.assert_close(mixed, one_by_one, atol=1e-7, rtol=1e-7)  # 0.3 is single precision
    assert mixed.shape == (4, 3)


def test_a_single_distribution_gives_a_single_number():
    student, teacher = draw(V, seed=7), draw(V, seed=8)

    assert divergence(student, teacher).shape == ()
    assert float(divergence(student, teacher)) == pytest.approx(
        float(by_hand(student, teacher, 1.0))
    )


def test_near_the_ends_the_jsd_is_the_share_of_a_kl():
    student, teacher = draw(6, V, seed=9, scale=1), draw(6, V, seed=10, scale=1)
    near = 1e-6

    low, high = (divergence(student, teacher, a) / near for a in (near, 1 - near))

    torch.testing.assert_close(low, divergence(student, teacher, FORWARD), rtol=1e-4, atol=0)
    torch.testing.assert_close(high, divergence(student, teacher, REVERSE), rtol=1e-4, atol=0)


def test_forward_and_reverse_trade_places_with_the_models():
    student, teacher = draw(6, V, seed=11), draw(6, V, seed=12)

    torch.testing.assert_close(
        divergence(student, teacher, FORWARD), divergence(teacher, student, REVERSE)
    )


def test_only_forward_raises_a_token_that_the_student_never_takes():
    student = torch.tensor([30.0, 0.0, 0.0]).requires_grad_()
    teacher = torch.tensor([0.0, 5.0, 0.0])

    (reverse,) = torch.autograd.grad(divergence(student, teacher, REVERSE), student)
    (forward,) = torch.autograd.grad(divergence(student, teacher, FORWARD), student)

    assert abs(float(reverse[1])) < 1e-10
    assert float(forward[1]) < -0.9


def test_no_gradient_reaches_the_teacher():
    student, teacher = draw(2, V).requires_grad_(), draw(2, V, seed=1).requires_grad_()

    divergence(student, teacher, 0.5).sum().backward()

    assert student.grad.abs().sum() > 0
    assert teacher.grad is None


MASKED = -math.inf
CORNERS = {
    "opposite": ([50.0, -50.0, 0.0, 0.0], [-50.0, 50.0, 0.0, 0.0]),
    "certain": ([50.0, -50.0, -50.0, -50.0], [50.0, -50.0, -50.0, -50.0]),
    "both masked": ([1.0, 2.0, MASKED, MASKED], [2.0, 1.0, MASKED, MASKED]),
    "student masked": ([1.0, 2.0, MASKED, 0.0], [2.0, 1.0, 3.0, 0.0]),
    "teacher masked": ([1.0, 2.0, 3.0, 0.0], [2.0, 1.0, MASKED, 0.0]),
    "one token left": ([0.0, MASKED, MASKED, MASKED], [MASKED, 0.0, MASKED, MASKED]),
    "the lowest number": ([1.0, 2.0, -3e38, 0.0], [2.0, 1.0, -3e38, 0.0]),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("corner", CORNERS)
def test_extreme_logits_give_finite_values_and_gradients(corner, dtype):
    for alpha, top_k in product(ALPHAS, (None, 1, 2, 3, 4, 9)):
        student, teacher = (torch.tensor([row], dtype=dtype) for row in CORNERS[corner])
        student.requires_grad_()

        result = divergence(student, teacher, alpha, top_k=top_k)
        result.sum().backward()

        assert result.dtype == torch.float32
        assert torch.isfinite(result).all(), (alpha, top_k)
        assert torch.isfinite(student.grad).all(), (alpha, top_k)
        assert (result >= -1e-5).all(), (alpha, top_k)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_half_precision_is_only_that_of_the_logits(alpha):
    student, teacher = (draw(8, 500, seed=s, scale=5).bfloat16() for s in (13, 14))

    for top_k in (None, 20):
        torch.testing.assert_close(
            divergence(student, teacher, alpha, top_k=top_k).double(),
            divergence(student.double(), teacher.double(), alpha, top_k=top_k),
            atol=1e-5,
            rtol=1e-5,
        )


def test_a_tail_far_below_rounding_still_counts():
    """1 less the sum of the kept would be 0 here, and its logarithm no number."""
    student = torch.tensor([[0.0, -40.0, -41.0]])
    teacher = torch.tensor([[0.0, -20.0, -21.0]])

    exact = divergence(student.double(), teacher.double(), FORWARD, top_k=1)

    assert float(exact) > 1e-8
    assert float(divergence(student, teacher, FORWARD, top_k=1)) == pytest.approx(
        float(exact), rel=0.2
    )


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_whole_vocabulary_as_top_k_is_the_full_divergence(alpha):
    student, teacher = draw(5, V, seed=15), draw(5, V, seed=16)

    for top_k in (V, V + 1, 10 * V):
        assert torch.equal(
            divergence(student, teacher, alpha, top_k=top_k), divergence(student, teacher, alpha)
        )


logits = st.lists(st.floats(-50, 50), min_size=6, max_size=6).map(
    lambda row: torch.tensor(row, dtype=torch.float64)
)
alphas = st.one_of(st.sampled_from(ALPHAS), st.floats(0.01, 0.99))


@settings(deadline=None)
@given(student=logits, teacher=logits, alpha=alphas, top_k=st.integers(1, 6))
def test_it_is_at_least_zero_and_folding_tokens_never_adds(student, teacher, alpha, top_k):
    full = float(divergence(student, teacher, alpha))
    folded = float(divergence(student, teacher, alpha, top_k=top_k))

    assert -1e-9 <= folded <= full + 1e-9
    assert full <= math.log(2) + 1e-9 or alpha in (0, 1)


@settings(deadline=None)
@given(student=logits, shift=st.floats(-50, 50), alpha=alphas)
def test_equal_distributions_have_none(student, shift, alpha):
    assert abs(float(divergence(student, student + shift, alpha))) < 1e-9


@settings(deadline=None)
@given(student=logits, token=st.integers(0, 5), step=st.floats(1, 5), alpha=alphas)
def test_distributions_that_differ_have_some(student, token, step, alpha):
    teacher = student / 25
    other = teacher.clone()
    other[token] += step

    assert float(divergence(teacher, other, alpha)) > 1e-6


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, torch.tensor([0.5, 2.0])])
def test_an_alpha_out_of_range_is_refused(alpha):
    with pytest.raises(UsageError, match="alpha"):
        divergence(draw(2, V), draw(2, V), alpha)


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(UsageError, match="teacher_logits"):
        divergence(draw(2, V), draw(1, V))
    with pytest.raises(UsageError, match="shape"):
        divergence(draw(2, V), draw(2, V), torch.zeros(3))
    with pytest.raises(UsageError, match="top_k"):
        divergence(draw(2, V), draw(2, V), top_k=0)


def test_forward_kl_points_at_what_the_student_never_does_only_within_the_teachers_tokens():
    student = torch.zeros(1, 50, dtype=torch.float64)
    student[0, 0] = -12.0
    student.requires_grad_()
    teacher = torch.zeros(1, 50, dtype=torch.float64)
    teacher[0, 0] = 8.0

    def pull(support):
        distance = divergence(student, teacher, FORWARD, top_k=5, support=support)
        return -torch.autograd.grad(distance.sum(), student)[0][0]

    assert pull("teacher")[0] > 0.5
    assert pull("student")[0] < 0.01


def test_all_of_the_vocabulary_is_the_same_whoever_chooses_it():
    torch.manual_seed(0)
    student, teacher = torch.randn(4, 6), torch.randn(4, 6)

    both = [divergence(student, teacher, top_k=6, support=s) for s in ("student", "teacher")]

    assert torch.equal(*both)
