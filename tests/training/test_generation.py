import pytest

pytest.importorskip("torch")

import torch

from training.generation import Generator
from training.policy import Policy, Size, optimizer_of

SIZE = Size(vocabulary=23, width=32, layers=2, heads=4, context=96)
END = 5


def policy(seed=0):
    torch.manual_seed(seed)
    made = Policy(SIZE)
    for weight in made.parameters():  # far from uniform, so that mistakes show
        if weight.dim() == 2:
            torch.nn.init.normal_(weight, std=0.3)
    return made


def drawn(model, prompts, turns=3):
    """Play several turns; return every row's whole sequence and where its turns are."""
    generator = Generator(model, len(prompts), END, longest=9)
    rows = [list(prompt) for prompt in prompts]
    spans = [[] for _ in prompts]
    logps = [[] for _ in prompts]
    pending = [list(prompt) for prompt in prompts]
    for _ in range(turns):
        for row, turn in enumerate(generator.turns(pending)):
            if turn is None:
                continue
            spans[row].append((len(rows[row]), len(rows[row]) + len(turn.ids)))
            rows[row] += turn.ids
            logps[row] += turn.logps
            answer = [7 + row, 8]
            rows[row] += answer
            pending[row] = [turn.ids[-1], *answer]
    return rows, spans, logps


def test_sampled_log_probabilities_are_those_of_the_whole_sequence():
    model = policy()

    rows, spans, logps = drawn(model, [[1, 2, 3], [4, 2], [9, 9, 9, 9, 1, 2]])

    for ids, turns, told in zip(rows, spans, logps, strict=True):
        whole = model(torch.tensor([ids]))[0].log_softmax(-1)
        again = [float(whole[at - 1, ids[at]].detach()) for a, b in turns for at in range(a, b)]
        assert told == pytest.approx(again, abs=1e-4)


def test_a_row_that_stays_out_changes_nothing_for_the_others():
    model = policy()

    torch.manual_seed(3)
    alone = Generator(model, 2, END, longest=9).turns([[1, 2, 3], None])
    torch.manual_seed(3)
    beside = Generator(model, 2, END, longest=9).turns([[1, 2, 3], [4, 4]])

    assert alone[1] is None
    assert alone[0] == beside[0]


def test_a_turn_ends_with_its_end_or_at_its_longest():
    rows, spans, _ = drawn(policy(1), [[1], [2], [3], [4]], turns=2)

    for ids, turns in zip(rows, spans, strict=True):
        for a, b in turns:
            assert END not in ids[a : b - 1]
            assert ids[b - 1] == END or b - a == 9


def test_the_same_seed_draws_the_same_turns():
    model, prompts = policy(), [[1, 2, 3], [4]]

    def once():
        torch.manual_seed(11)
        return Generator(model, 2, END, longest=9).turns(prompts)

    assert once() == once()


def test_loaded_weights_are_those_that_sample():
    first, second = policy(0), policy(1)
    generator = Generator(first, 1, END, longest=9)
    generator.load(second)

    torch.manual_seed(2)
    loaded = generator.turns([[1, 2]])
    torch.manual_seed(2)

    assert loaded == Generator(second, 1, END, longest=9).turns([[1, 2]])


@pytest.mark.parametrize("name", ["adamw", "muon"])
def test_each_optimizer_moves_every_weight_once(name):
    model = policy()
    before = {key: value.detach().clone() for key, value in model.named_parameters()}
    optimizers = optimizer_of(model, name, 1e-2)
    model(torch.tensor([[1, 2, 3, 4]])).square().mean().backward()

    for optimizer in optimizers:
        optimizer.step()

    owned = [id(p) for o in optimizers for group in o.param_groups for p in group["params"]]
    assert sorted(owned) == sorted(id(p) for p in model.parameters())
    moved = {key for key, value in model.named_parameters() if not torch.equal(value, before[key])}
    assert moved == set(before)


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(ValueError, match="adamw or muon"):
        optimizer_of(policy(), "sgd", 1e-3)
