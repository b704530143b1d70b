"""Another library's divergence, loss and advantages, on random tensors."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from codeenv.feedback.loss import HintBatch, divergence, hint_loss  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:You are importing from 'trl.experimental'")
ALPHAS = [0.0, 0.2, 0.5, 0.8, 1.0]


@pytest.fixture(scope="module")
def sdpo():
    from trl.experimental.sdpo import loss_utils

    return loss_utils


def logits(scale, seed, vocabulary=50):
    generator = torch.Generator().manual_seed(seed)
    both = scale * torch.randn(2, 6, 9, vocabulary, generator=generator)
    return both[0].requires_grad_(), both[1]


def compare(student, mine, theirs):
    expected = torch.autograd.grad(theirs.sum(), student, retain_graph=True)
    gradient = torch.autograd.grad(mine.sum(), student)

    torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(gradient, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_the_full_divergence_is_trls(sdpo, alpha, scale):
    student, teacher = logits(scale, seed=1)

    theirs = sdpo.compute_divergence(student.log_softmax(-1), teacher.log_softmax(-1), alpha)

    compare(student, divergence(student, teacher, alpha), theirs)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("top_k", [1, 5, 20])
def test_the_divergence_with_a_tail_is_trls(sdpo, alpha, top_k):
    student, teacher = logits(1.0, seed=2)

    theirs = sdpo.compute_topk_self_distillation_loss(
        student,
        teacher,
        distillation_topk=top_k,
        distillation_alpha=alpha,
        distillation_add_tail=True,
    )

    compare(student, divergence(student, teacher, alpha, top_k=top_k), theirs)


def test_the_correction_for_old_data_is_trls(sdpo):
    student, teacher = logits(1.0, seed=3)
    logp, rollout_logp = torch.randn(2, 6, 9, generator=torch.Generator().manual_seed(4))
    each = sdpo.compute_divergence(student.log_softmax(-1), teacher.log_softmax(-1), 1.0)
    theirs = sdpo.apply_importance_sampling_clipping(each, logp, rollout_logp, 2.0).sum() / 70
    ones = torch.ones(6)
    batch = HintBatch(student, teacher, logp, rollout_logp, torch.ones(6, 9), ones, ones)

    mine, _ = hint_loss(batch, normaliser=70, kappa=1e9)

    compare(student, mine, theirs)
