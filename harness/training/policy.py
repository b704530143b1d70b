"""The study's policy: a small decoder-only transformer that keeps its keys and values.

Pre-norm blocks with RMSNorm, rotary positions and SwiGLU; 5 million parameters at the study's size.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Size:
    """Of a policy: ``context`` is the longest sequence in tokens."""

    vocabulary: int
    width: int = 256
    layers: int = 6
    heads: int = 8
    context: int = 1024


class Cache:
    """Keys and values of ``rows`` sequences; place ``context`` takes what is not to be kept."""

    def __init__(self, size: Size, rows: int, device: torch.device, dtype: torch.dtype) -> None:
        """Allocate (layers, rows, heads, context + 1, width / heads) twice."""
        shape = (size.layers, rows, size.heads, size.context + 1, size.width // size.heads)
        self.keys = torch.zeros(shape, device=device, dtype=dtype)
        self.values = torch.zeros(shape, device=device, dtype=dtype)
        self.rows = torch.arange(rows, device=device)
        self.places = torch.arange(size.context + 1, device=device)

    def put(self, layer: int, where: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Write (rows, heads, new, head width) at places ``where`` (rows, new); return all."""
        rows = self.rows[:, None].expand_as(where)
        self.keys[layer][rows, :, where] = key.transpose(1, 2)
        self.values[layer][rows, :, where] = value.transpose(1, 2)
        return self.keys[layer], self.values[layer]


class Block(nn.Module):
    """Attention and a gated feed-forward layer."""

    def __init__(self, size: Size) -> None:
        """Make the layers."""
        super().__init__()
        self.heads = size.heads
        hidden = -(-8 * size.width // 3 // 64) * 64
        self.norms = nn.ModuleList(nn.RMSNorm(size.width) for _ in range(2))
        self.qkv = nn.Linear(size.width, 3 * size.width, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)
        self.gate = nn.Linear(size.width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, size.width, bias=False)

    def forward(
        self, x: Tensor, turn: tuple[Tensor, Tensor], kept: tuple[Cache, int, Tensor] | None
    ) -> Tensor:
        """Return (rows, time, width); ``turn`` rotates, ``kept`` is a cache, a layer, places."""
        rows, time, width = x.shape
        split = self.qkv(self.norms[0](x)).view(rows, time, 3, self.heads, -1)
        query, key, value = (part.transpose(1, 2) for part in split.unbind(2))
        query, key = _rotated(query, turn), _rotated(key, turn)
        if kept is None:
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            cache, layer, where = kept
            keys, values = cache.put(layer, where, key, value)
            seen = (cache.places <= where[:, :, None])[:, None]
            mixed = F.scaled_dot_product_attention(query, keys, values, attn_mask=seen)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, time, width))
        up, gate = self.gate(self.norms[1](x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class Policy(nn.Module):
    """Maps token ids to logits of the next token."""

    def __init__(self, size: Size) -> None:
        """Make and initialise all weights."""
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(size.vocabulary, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = nn.RMSNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                scale = (
                    (2 * size.layers) ** -0.5 if name.endswith(("out.weight", "down.weight")) else 1
                )
                nn.init.normal_(weight, std=0.02 * scale)
        half = size.width // size.heads // 2
        speed = 10000.0 ** -(torch.arange(half) / half)
        angles = torch.outer(torch.arange(size.context + 1), speed)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def hidden(self, ids: Tensor) -> Tensor:
        """Return what the head reads, (rows, time, width), of rows padded at their end."""
        turn = (self.cos[: ids.shape[1]], self.sin[: ids.shape[1]])
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, turn, None)
        return self.norm(x)

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits (rows, time, vocabulary) of rows padded at their end."""
        return self.head(self.hidden(ids))

    def extend(self, ids: Tensor, where: Tensor, cache: Cache) -> Tensor:
        """Return logits (rows, new, vocabulary) of tokens at places ``where`` (rows, new)."""
        turn = (self.cos[where][:, None], self.sin[where][:, None])
        x = self.embedding(ids)
        for layer, block in enumerate(self.blocks):
            x = block(x, turn, (cache, layer, where))
        return self.head(self.norm(x))


def _rotated(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    cos, sin = (part.to(x.dtype) for part in turn)
    one, two = x.chunk(2, dim=-1)
    return torch.cat((one * cos - two * sin, two * cos + one * sin), dim=-1)


def optimizer_of(policy: Policy, name: str, rate: float) -> list[torch.optim.Optimizer]:
    """Return ``adamw`` over all weights, or ``muon`` over the blocks' matrices and AdamW beside.

    Raises:
        ValueError: If there is no such optimizer.
    """
    if name == "adamw":
        return [_adamw(policy.parameters(), rate)]
    if name != "muon":
        raise ValueError(f"no optimizer {name!r}: adamw or muon")
    matrices = [p for p in policy.blocks.parameters() if p.dim() == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in policy.parameters() if id(p) not in chosen]
    return [
        torch.optim.Muon(matrices, rate, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"),
        _adamw(rest, rate),
    ]


def _adamw(weights: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW(weights, rate, betas=(0.9, 0.95), weight_decay=0.0)
