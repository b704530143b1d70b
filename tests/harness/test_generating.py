import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers

from codeenv_harness.agents import model_sampler


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=31,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        initializer_range=0.5,
        eos_token_id=7,
        pad_token_id=0,
        bos_token_id=None,
    )
    return transformers.LlamaForCausalLM(config).eval()


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_the_log_probabilities_are_those_that_the_tokens_were_drawn_with(model, temperature):
    torch.manual_seed(1)
    prompt = [3, 4, 5]
    sample = model_sampler(model, version=9, max_new_tokens=6, temperature=temperature)

    drawn = sample(prompt)

    whole = model(torch.tensor([[*prompt, *drawn.ids]])).logits[0].detach() / temperature
    logps = whole.log_softmax(-1)
    again = [float(logps[2 + n, token]) for n, token in enumerate(drawn.ids)]
    assert list(drawn.logprobs) == pytest.approx(again, abs=1e-4)
    assert drawn.policy_version == 9


def test_a_turn_ends_at_the_models_end_or_its_longest(model):
    torch.manual_seed(2)
    sample = model_sampler(model, max_new_tokens=5)

    turns = [sample([1, 2]).ids for _ in range(30)]

    assert all(len(turn) == 5 or turn[-1] == 7 for turn in turns)
    assert any(turn[-1] == 7 for turn in turns)


def test_all_of_the_vocabulary_can_be_drawn(model):
    torch.manual_seed(3)
    sample = model_sampler(model, max_new_tokens=1, temperature=50.0)

    assert len({sample([1, 2]).ids[0] for _ in range(400)}) > 25
