"""What is measured before any reinforcement learning: can the teacher teach this base anything?"""

from collections.abc import Sequence

import torch

from training.chat import Chat, Said
from training.demos import CORE
from training.generation import Generator
from training.learning import PLACEBO, flagged, padded
from training.policy import Policy
from training.rollouts import Player, Rollout
from training.train import summary

_MOST = 192


def measure(
    policy: Policy, chat: Chat, player: Player, tasks: Sequence[str], group: int
) -> dict[str, float]:
    """Play ``tasks`` and return what the base does, and the teacher's gap on flagged turns.

    ``p_valid``, ``p_valid_hint`` and ``p_valid_placebo`` are the mean probability that the turn
    names a tool of the environment, without anything, behind the hint, behind the placebo.
    """
    generator = Generator(policy, len(tasks) * group, chat.end)
    rollouts = player.play(tasks, group, generator)
    gap = teacher_gap(policy, chat, rollouts)
    return {**summary(rollouts), **gap}


@torch.inference_mode()
def teacher_gap(policy: Policy, chat: Chat, rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the probability of a valid tool name on turns that named none."""
    found = [(rollouts[row], number, event) for row, number, event in flagged(rollouts)]
    found = [(r, n, e) for r, n, e in found if e.kind == "unknown_tool"][:_MOST]
    if not found:
        return {}
    contexts: dict[str, list[list[int]]] = {
        "p_valid": [],
        "p_valid_hint": [],
        "p_valid_placebo": [],
    }
    for rollout, number, event in found:
        place = rollout.turns[number][0] - len(chat.opening)
        for name, hint in (
            ("p_valid", ""),
            ("p_valid_hint", event.hint),
            ("p_valid_placebo", PLACEBO),
        ):
            more = chat.message(Said("user", hint)) if hint else []
            contexts[name].append([*rollout.ids[:place], *more, *chat.opening])
    return {name: _valid(policy, chat, rows) for name, rows in contexts.items()}


def _valid(policy: Policy, chat: Chat, contexts: Sequence[list[int]]) -> float:
    """Return the mean probability that what follows begins a call of one of the tools."""
    total = 0.0
    for name in CORE:
        begun = chat.ids(f'{{"name": "{name}", "')
        for start in range(0, len(contexts), 32):
            rows = [[*context, *begun] for context in contexts[start : start + 32]]
            logps = policy(padded(rows, policy.head.weight.device)).float().log_softmax(-1)
            for row, ids in enumerate(rows):
                first = len(ids) - len(begun)
                where = torch.arange(first - 1, len(ids) - 1)
                total += float(logps[row, where, begun].sum().exp())
    return total / len(contexts)
