"""Rows in the hands of TRL's SFT, with the options that the page on training names."""

import json
from pathlib import Path

import pytest

from codeenv.export import Rollout, rollout_rows
from codeenv.trajectory import AgentInfo, Recorder
from tests.feedback.templates import CHATML, tokenizer_with

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text("utf-8")
MARKED = CHATML.replace(
    "{%- else %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    "{%- elif message.role == 'assistant' %}<|im_start|>assistant\n"
    "{% generation %}{{ message.content }}",
).replace(
    "{%- endfor %}<|im_end|>\n{% endif %}",
    "{%- endfor %}<|im_end|>{% endgeneration %}\n"
    "{%- else %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endif %}",
    1,
)
AGENT = AgentInfo(name="a", version="1")


def rollouts():
    """Yield one that was played, one whose agent said nothing, and one that never began."""
    recorder, silent = Recorder(AGENT, "t__0"), Recorder(AGENT, "t__1")
    for each in (recorder, silent):
        each.instruct("Do it.")
    recorder.call("read_file", {"path": "a"}, "THE RESULT", {}, message="I look.")
    recorder.say("Done.", "THE ANSWER", {})
    yield Rollout("t", 0, 1.0, True, trajectory=recorder.finished(None))
    yield Rollout("t", 1, 0.0, True, trajectory=silent.finished(None))
    yield Rollout("t", 2, 0.0, False, error="the sandbox died")


def test_the_page_says_how_trl_takes_rows():
    assert "assistant_only_loss=True" in PAGE
    assert 'row["reward_valid"] and row["completion"]' in PAGE
    assert 'load_dataset("json", data_files="rows.jsonl")' in PAGE


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_trl_trains_on_what_the_agent_wrote_and_on_no_result(tmp_path):
    datasets, trl = pytest.importorskip("datasets"), pytest.importorskip("trl")
    transformers = pytest.importorskip("transformers")
    path = tmp_path / "rows.jsonl"
    rows = rollout_rows(rollouts(), "trl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    tokenizer = tokenizer_with(MARKED)
    tokenizer.pad_token = "<|im_end|>"
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
    )
    data = datasets.load_dataset("json", data_files=str(path), cache_dir=str(tmp_path))["train"]
    options = {"use_cpu": True, "report_to": [], "max_length": None, "max_steps": 1}
    trainer = trl.SFTTrainer(
        transformers.LlamaForCausalLM(config),
        trl.SFTConfig(str(tmp_path / "out"), assistant_only_loss=True, **options),
        train_dataset=data.filter(lambda row: row["reward_valid"] and row["completion"]),
        processing_class=tokenizer,
    )

    (batch,) = trainer.get_train_dataloader()
    (labels,) = batch["labels"]
    trained = tokenizer.decode(labels[labels != -100])

    assert trained.startswith("I look.<tool_call>")
    assert trained.endswith("</tool_call><|im_end|>Done.<|im_end|>")
    assert "THE" not in trained
    assert "THE RESULT" in tokenizer.decode(batch["input_ids"][0])
    trainer.train()
