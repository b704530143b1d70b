"""One update of the policy: the group-advantage loss of the rollouts and the loss of the hints."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from codeenv.feedback import FeedbackEvent
from codeenv.feedback.loss import (
    EmaTeacher,
    HintBatch,
    choose_alpha,
    group_advantages,
    hint_loss,
    policy_gradient_loss,
    teacher_choice_probability,
    token_log_probs,
)
from training.chat import Chat, Said
from training.demos import REMINDERS
from training.policy import Policy
from training.rollouts import Rollout

PLACEBO = f"Reminder: {REMINDERS[-1]}"
"""A reminder that the base has read before, as it has read the hint's form."""
INVALID = ("unknown_tool", "malformed_call", "bad_args")


@dataclass(frozen=True)
class Arm:
    """What one run learns from, beside the reward of the tests.

    Attributes:
        hint: The loss of hints: ``hint``, ``placebo`` (another text in the same places) or "".
        alpha: Direction of its divergence: 0 forward, 1 reverse, between: JSD; None: by the rule.
        weight: Of each event.
        turn_penalty: Added to the advantage of every token of a turn that lost its call.
        episode_penalty: Taken off the reward for every such turn.
    """

    hint: str = ""
    alpha: float | None = 1.0
    weight: float = 1.0
    turn_penalty: float = 0.0
    episode_penalty: float = 0.0


@dataclass(frozen=True)
class Rates:
    """Numbers of an update, as in the reference: ``normaliser`` is L0 in tokens."""

    normaliser: float = 300.0
    lam: float = 1.0
    kappa: float = 5.0
    clip: float = 1.0
    most_events: int = 512
    chunk: int = 32


@dataclass(frozen=True)
class Hinted:
    """One event as two contexts of one turn: where it is in the rollout, and the teacher's ids."""

    row: int
    span: tuple[int, int]
    teacher: list[int]
    mask: list[int]


def flagged(rollouts: Sequence[Rollout]) -> Iterator[tuple[int, int, FeedbackEvent]]:
    """Yield row, number of the turn (from 0) and event of every call that was lost."""
    for row, rollout in enumerate(rollouts):
        for event in rollout.events:
            if event.kind in INVALID and event.turn <= len(rollout.turns):
                yield row, event.turn - 1, event


def hinted(
    rollouts: Sequence[Rollout], chat: Chat, hint: Callable[[FeedbackEvent], str]
) -> list[Hinted]:
    """Return each event's turn behind the hint.

    The same as ``build_teacher_pair`` makes of recorded token ids: the hint is a message of its
    own before the turn, and the mask is on the tool's name where that is the target.
    """
    made = []
    for row, number, event in flagged(rollouts):
        rollout = rollouts[row]
        start, end = rollout.turns[number]
        place = start - len(chat.opening)
        said = chat.message(Said("user", hint(event)))
        teacher = [*rollout.ids[:place], *said, *rollout.ids[place:end]]
        mask = name_mask(chat, rollout.ids[start:end], event)
        made.append(Hinted(row, (start, end), teacher, mask))
    return made


def name_mask(chat: Chat, ids: Sequence[int], event: FeedbackEvent) -> list[int]:
    """Return ones on the tokens of the tool's name; on all if the event is of another part."""
    text = chat.text(ids)
    place = (
        text.find(event.evidence.get("tool") or "\0") if event.target.part == "tool_name" else -1
    )
    if place < 0:
        return [1] * len(ids)
    first, last = place, place + len(event.evidence["tool"])
    mask, at = [], 0
    for token in ids:
        after = at + len(chat.text([token]))
        mask.append(int(at < last and after > first))
        at = after
    return mask


def padded(rows: Sequence[Sequence[float]], device: torch.device) -> Tensor:
    """Return rows of numbers as one tensor, zeros behind their ends."""
    longest = max(map(len, rows))
    filled = [[*row, *[0] * (longest - len(row))] for row in rows]
    return torch.tensor(filled, device=device)


class Learner:
    """Holds the policy, its optimizers and the teacher."""

    def __init__(
        self,
        policy: Policy,
        optimizers: Sequence[torch.optim.Optimizer],
        chat: Chat,
        arm: Arm,
        rates: Rates,
    ) -> None:
        """Begin; the teacher is an average of the policy over its updates."""
        self.policy, self.optimizers, self.chat = policy, optimizers, chat
        self.arm, self.rates = arm, rates
        self.teacher = EmaTeacher(policy, rate=0.05)
        self.device = policy.head.weight.device

    def update(self, rollouts: Sequence[Rollout], rng: random.Random) -> dict[str, float]:
        """Learn from one batch; return what there is to report."""
        used = [r for r in rollouts if r.valid]
        advantages = self._advantages(used)
        events = self._events(used, rng)
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        report = {"events": float(len(events)), "loss_pg": 0.0, "loss_hint": 0.0, "clipped": 0.0}
        for start in range(0, len(used), self.rates.chunk):
            self._backward(used, advantages, events, start, report)
        norm = clip_grad_norm_(self.policy.parameters(), self.rates.clip)
        for optimizer in self.optimizers:
            optimizer.step()
        self.teacher.update(self.policy)
        return {**report, "gradient": float(norm)}

    def _advantages(self, used: Sequence[Rollout]) -> Tensor:
        """Return (rollouts, time): of each token."""
        penalty = self.arm.episode_penalty
        rewards = torch.tensor([r.reward - penalty * r.unknown for r in used])
        groups = torch.tensor([r.group for r in used])
        longest = max(len(r.ids) for r in used)
        advantages = group_advantages(rewards, groups)[:, None].repeat(1, longest)
        for row, number, _ in flagged(used) if self.arm.turn_penalty else ():
            start, end = used[row].turns[number]
            advantages[row, start:end] += self.arm.turn_penalty
        return advantages.to(self.device)

    def _events(self, used: Sequence[Rollout], rng: random.Random) -> list[Hinted]:
        if not self.arm.hint:
            return []
        placebo = self.arm.hint == "placebo"
        found = hinted(used, self.chat, lambda event: PLACEBO if placebo else event.hint)
        found = [event for event in found if len(event.teacher) <= self.policy.size.context]
        most = self.rates.most_events
        return found if len(found) <= most else rng.sample(found, most)

    def _backward(
        self,
        used: Sequence[Rollout],
        advantages: Tensor,
        events: Sequence[Hinted],
        start: int,
        report: dict[str, float],
    ) -> None:
        """Add the gradient of a chunk of rollouts and of the events in it."""
        rows = used[start : start + self.rates.chunk]
        normaliser = len(used) * self.rates.normaliser
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            logits = self.policy(padded([r.ids for r in rows], self.device))
        loss = self._reward_loss(
            rows, advantages[start : start + len(rows)], logits, normaliser, report
        )
        mine = [event for event in events if start <= event.row < start + len(rows)]
        if mine:
            hints = self._hint_loss(mine, rows, start, logits, normaliser)
            report["loss_hint"] += float(hints.detach())
            loss = loss + self.rates.lam * hints
        loss.backward()

    def _reward_loss(
        self,
        rows: Sequence[Rollout],
        advantages: Tensor,
        logits: Tensor,
        normaliser: float,
        report: dict[str, float],
    ) -> Tensor:
        ids = padded([r.ids for r in rows], self.device)[:, 1:]
        mask = padded([r.mask for r in rows], self.device)[:, 1:]
        old = padded([r.logps for r in rows], self.device)[:, 1:]
        logps = token_log_probs(logits[:, :-1], ids)
        loss, facts = policy_gradient_loss(
            logps,
            old,
            advantages[:, 1 : ids.shape[1] + 1],
            mask,
            normaliser=normaliser,
        )
        report["loss_pg"] += float(loss.detach())
        report["clipped"] += float(facts.clip_fraction) * len(rows)
        return loss

    def _hint_loss(
        self,
        events: Sequence[Hinted],
        rows: Sequence[Rollout],
        first: int,
        logits: Tensor,
        normaliser: float,
    ) -> Tensor:
        longest = max(len(event.mask) for event in events)
        student = self._spans(logits, [(e.row - first, e.span[0]) for e in events], longest)
        teacher = self._teacher(events, longest)
        mask = padded([event.mask for event in events], self.device)
        parts = [rows[e.row - first] for e in events]
        ids = padded(
            [r.ids[slice(*e.span)] for r, e in zip(parts, events, strict=True)], self.device
        )
        sampled = [r.logps[slice(*e.span)] for r, e in zip(parts, events, strict=True)]
        old = padded(sampled, self.device)
        logps = token_log_probs(student, ids)
        alpha, weights = self._directions(student, teacher, mask)
        batch = HintBatch(student, teacher, logps, old, mask, weights, alpha)
        kappa = self.rates.kappa
        return hint_loss(batch, normaliser=normaliser, kappa=kappa, rescale=True)[0]

    def _directions(self, student: Tensor, teacher: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return alpha and weight of each event."""
        if self.arm.alpha is None:
            return choose_alpha(teacher_choice_probability(student, teacher, mask))
        ones = torch.ones(len(mask), device=self.device)
        return ones * self.arm.alpha, ones * self.arm.weight

    def _teacher(self, events: Sequence[Hinted], longest: int) -> Tensor:
        """Return the teacher's logits (events, longest, vocabulary) behind the hint."""
        found = []
        for start in range(0, len(events), 2 * self.rates.chunk):
            part = events[start : start + 2 * self.rates.chunk]
            with self.teacher.scoring() as teacher:
                logits = teacher(padded([event.teacher for event in part], self.device))
            places = [(n, len(e.teacher) - len(e.mask)) for n, e in enumerate(part)]
            found.append(self._spans(logits, places, longest))
        return torch.cat(found)

    def _spans(self, logits: Tensor, places: Sequence[tuple[int, int]], longest: int) -> Tensor:
        """Return what predicts ``longest`` tokens from each (row, first token) on."""
        row = torch.tensor([place[0] for place in places], device=self.device)[:, None]
        first = torch.tensor([place[1] - 1 for place in places], device=self.device)[:, None]
        where = first + torch.arange(longest, device=self.device)
        return logits[row, where.clamp(max=logits.shape[1] - 1)]
