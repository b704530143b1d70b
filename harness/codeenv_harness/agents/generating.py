"""What a ``SampledAgent`` asks for each turn, from a model of transformers."""

from collections.abc import Callable
from typing import Any

from codeenv_harness.agents.sampled import Sampled


def model_sampler(
    model: Any,  # noqa: ANN401 - a PreTrainedModel, which need not be installed
    *,
    version: int | str | None = None,
    max_new_tokens: int = 512,
    temperature: float = 1.0,
) -> Callable[[list[int]], Sampled]:
    """Return a function that has a model continue token ids; needs torch and transformers.

    Args:
        model: A causal language model with ``generate``; it ends turns by its own settings.
        version: Which weights they are, for the records.
        max_new_tokens: The longest turn.
        temperature: Tokens are drawn from all of the vocabulary at this temperature.  At another
            than 1 the recorded log-probabilities are those of the tempered distribution.
    """
    import torch

    def sample(ids: list[int]) -> Sampled:
        prompt = torch.tensor([ids], device=model.device)
        with torch.no_grad():
            out = model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                do_sample=True,
                top_k=0,
                top_p=1.0,
                temperature=temperature,
                max_new_tokens=max_new_tokens,
                return_dict_in_generate=True,
                output_logits=True,
            )
        new = out.sequences[0, len(ids) :]
        logits = torch.stack(out.logits, 1)[0].float() / temperature
        logp = logits.log_softmax(-1).gather(-1, new[:, None])[:, 0]
        return Sampled(new.tolist(), logp.tolist(), version)

    return sample
