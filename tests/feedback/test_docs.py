"""The page on training: its blocks run, one after the other, with a small model of noise."""

from pathlib import Path

import pytest

from tests.feedback.templates import CHATML, tokenizer_with

PAGE = Path(__file__).resolve().parents[2] / "docs" / "training.md"
BLOCKS = [block.split("```")[0] for block in PAGE.read_text("utf-8").split("```python\n")[1:]]
POSITIONS = 32768
SHORT = [block.replace("max_new_tokens=64", "max_new_tokens=8") for block in BLOCKS]
"""With turns that a machine without an accelerator samples in seconds."""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A folder with a model and its tokenizer, and nothing else around."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = tokenizer_with(CHATML)
    tokenizer.pad_token = "<|im_end|>"
    tokenizer.save_pretrained(tmp_path / "model")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=POSITIONS,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path / "model")
    monkeypatch.chdir(tmp_path)


def test_a_trainer_takes_forty_lines():
    assert len(BLOCKS) == 2
    assert max(len(block.splitlines()) for block in BLOCKS) <= 40


@pytest.mark.slow
@pytest.mark.bubblewrap
@pytest.mark.filterwarnings("ignore")
def test_a_plain_loop_learns_from_hints(model):
    names = {}
    exec(SHORT[0], names)

    assert names["step"] == 1
    assert names["pair"].hint_tokens > 0


@pytest.mark.slow
@pytest.mark.bubblewrap
@pytest.mark.filterwarnings("ignore")
def test_trl_learns_from_hints(model):
    pytest.importorskip("trl")
    names = {}
    block = SHORT[1].replace("max_steps=2, **", "max_steps=2, use_cpu=True, report_to=[], **")
    assert block != SHORT[1]
    try:
        exec(block, names)
    finally:
        names["runtime"].close()
