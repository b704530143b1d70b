"""Samples turns of many conversations at once; on CUDA one token is one replayed graph."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.policy import Cache, Policy

_LOOK = 8
"""Tokens between two looks at whether all turns have ended."""


@dataclass(frozen=True)
class Sampled:
    """Ids of one turn, and their log-probabilities (nats) under the policy that sampled them."""

    ids: list[int]
    logps: list[float]


class Generator:
    """A copy of the policy that samples; ``load`` brings it up to date.  Not thread-safe."""

    def __init__(self, policy: Policy, rows: int, end: int, *, longest: int = 112) -> None:
        """Make room for ``rows`` conversations and turns of at most ``longest`` tokens."""
        weight = policy.head.weight
        self.device = weight.device
        cuda = weight.is_cuda
        dtype = torch.bfloat16 if cuda else torch.float32
        self.policy = copy.deepcopy(policy).to(dtype).eval().requires_grad_(False)
        self.rows, self.end, self.longest = rows, end, longest
        self.context = policy.size.context
        self.cache = Cache(policy.size, rows, self.device, dtype)
        self.filled = [0] * rows
        kind = {"device": self.device, "dtype": torch.long}
        self.token, self.where = torch.zeros(rows, **kind), torch.zeros(rows, **kind)
        self.logp = torch.zeros(rows, device=self.device)
        self._graph = self._capture() if cuda else None

    def load(self, policy: Policy) -> None:
        """Take over the weights of the policy that learns."""
        with torch.no_grad():
            for own, new in zip(self.policy.parameters(), policy.parameters(), strict=True):
                own.copy_(new)

    def forget(self) -> None:
        """Begin new conversations in all rows."""
        self.filled = [0] * self.rows

    def room(self, row: int) -> int:
        """Return how many tokens a row can still read, with a whole turn after them."""
        return self.context - self.filled[row] - self.longest - 1

    @torch.inference_mode()
    def turns(self, prompts: Sequence[Sequence[int] | None]) -> list[Sampled | None]:
        """Have every row read its prompt and write a turn; None stays out.

        The last token of a turn is read with the next prompt, which must begin with it.
        """
        self._draw(self._read(prompts))
        ids, logps = [self.token.clone()], [self.logp.clone()]
        for count in range(1, self.longest):
            if count % _LOOK == 0 and bool((self.where == self.context).all()):
                break
            self._step()
            ids.append(self.token.clone())
            logps.append(self.logp.clone())
        return self._collect(prompts, torch.stack(ids).tolist(), torch.stack(logps).tolist())

    def _read(self, prompts: Sequence[Sequence[int] | None]) -> Tensor:
        longest = max(len(prompt) for prompt in prompts if prompt is not None)
        ids = [[*(p or ()), *[0] * (longest - len(p or ()))] for p in prompts]
        where = [[self.context] * longest for _ in prompts]
        last = [0] * self.rows
        after = [self.context] * self.rows
        for row, prompt in enumerate(prompts):
            if prompt is not None:
                start = self.filled[row]
                where[row][: len(prompt)] = range(start, start + len(prompt))
                last[row], after[row] = len(prompt) - 1, start + len(prompt)
                self.filled[row] = after[row]
        places = torch.tensor(where, device=self.device)
        logits = self.policy.extend(torch.tensor(ids, device=self.device), places, self.cache)
        self.where.copy_(torch.tensor(after, device=self.device))
        return logits[torch.arange(self.rows), torch.tensor(last)].float()

    def _draw(self, logits: Tensor) -> None:
        """Sample at temperature 1; a row that ends here reads nothing more."""
        logps = logits.log_softmax(-1)
        noise = torch.empty_like(logps).exponential_().log()
        drawn = (logps - noise).argmax(-1)
        self.token.copy_(drawn)
        self.logp.copy_(logps.gather(-1, drawn[:, None])[:, 0])
        self.where.masked_fill_(drawn == self.end, self.context)

    def _advance(self) -> None:
        logits = self.policy.extend(self.token[:, None], self.where[:, None], self.cache)
        self.where.add_(self.where < self.context)
        self._draw(logits[:, 0].float())

    def _step(self) -> None:
        if self._graph is None:
            self._advance()
        else:
            self._graph.replay()

    @torch.inference_mode()
    def _capture(self) -> torch.cuda.CUDAGraph:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._advance()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._advance()
        return graph

    def _collect(
        self,
        prompts: Sequence[Sequence[int] | None],
        ids: list[list[int]],
        logps: list[list[float]],
    ) -> list[Sampled | None]:
        made: list[Sampled | None] = []
        for row, prompt in enumerate(prompts):
            if prompt is None:
                made.append(None)
                continue
            turn = [step[row] for step in ids]
            length = turn.index(self.end) + 1 if self.end in turn else len(turn)
            self.filled[row] += length - 1
            made.append(Sampled(turn[:length], [step[row] for step in logps[:length]]))
        return made
