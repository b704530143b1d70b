"""The warm-up: real episodes of an expert, told many times, and a policy that learns them."""

import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import torch
from torch.nn import functional as F
from transformers import PreTrainedTokenizerFast

from codeenv.env.runtime import Runtime
from codeenv.tasks.taskset import Taskset
from training.chat import Chat, Sequence_, Turn, answer_shown, instruction_shown, train_tokenizer
from training.demos import Demo, Habits, calls_of, told
from training.learning import padded
from training.policy import Policy, Size, optimizer_of
from training.presets import SUITE, Preset
from training.repositories import SUBJECTS

WRONG = 0.25
"""Share of the demonstrations whose code has a mistake."""


@dataclass(frozen=True)
class Base:
    """A policy after its warm-up, and how it reads and writes."""

    policy: Policy
    chat: Chat

    def save(self, folder: Path) -> None:
        """Write the weights, in half precision, and the tokenizer."""
        folder.mkdir(parents=True, exist_ok=True)
        weights = {k: v.to(torch.bfloat16) for k, v in self.policy.state_dict().items()}
        state = {"size": self.policy.size, "weights": weights}
        torch.save(state, folder / "policy.pt")
        self.chat.tokenizer.save_pretrained(folder)

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> "Base":
        """Read what ``save`` wrote."""
        with torch.serialization.safe_globals([Size]):
            state = torch.load(folder / "policy.pt", map_location=device)
        policy = Policy(state["size"]).to(device)
        policy.load_state_dict(state["weights"])
        return cls(policy, Chat(PreTrainedTokenizerFast.from_pretrained(folder)))


def record(tasks: Sequence[str], each: int, runtime: Runtime, threads: int) -> list[Demo]:
    """Play the expert ``each`` times on every task; the same for the same arguments."""
    taskset = Taskset.load(SUITE)
    recipes = {recipe.id: recipe for recipe in taskset.recipes}

    def play(job: tuple[str, int]) -> Demo:
        task_id, number = job
        rng = random.Random(f"{task_id} {number}")
        task = runtime.task(recipes[task_id], taskset)
        with runtime.open(task) as episode:
            turns = []
            for tool, arguments in calls_of(task, rng, right=rng.random() >= WRONG):
                result = episode.call({"tool": tool, "arguments": arguments})
                turns.append(Turn(tool, arguments, answer_shown(tool, result.text)))
        reward = episode.outcome.reward if episode.outcome else 0.0
        return Demo(
            task_id, instruction_shown(task.instruction), tuple(turns), reward, _words(task_id)
        )

    jobs = [(task, number) for task in tasks for number in range(each)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(play, jobs))


def _words(task_id: str) -> tuple[str, ...]:
    """Return the words that a task's repository is about."""
    name = task_id.partition("-")[0]
    return (name, *" ".join(SUBJECTS[name]).split())


def texts(demos: Sequence[Demo], tellings: int, habits: Habits, seed: int) -> Iterator[list]:
    """Yield every demonstration ``tellings`` times, told differently."""
    rng = random.Random(seed)
    for _ in range(tellings):
        for demo in demos:
            yield told(demo, habits, rng)


def make_base(
    demos: Sequence[Demo], preset: Preset, habits: Habits, device: torch.device, *, seed: int = 0
) -> Base:
    """Train a tokenizer and a policy on demonstrations."""
    conversations = list(texts(demos, preset.tellings, habits, seed))
    corpus = (f"{said.role}\n{said.text}" for said in chain(*conversations[:4000]))
    chat = Chat(train_tokenizer(corpus, preset.vocabulary))
    sequences = chat.sequences(conversations)
    fitting = [s for s in sequences if len(s.ids) <= preset.context]
    torch.manual_seed(seed)
    size = Size(len(chat.tokenizer), preset.width, preset.layers, preset.heads, preset.context)
    policy = Policy(size).to(device)
    _fit(policy, fitting, preset, random.Random(seed))
    return Base(policy, chat)


def _fit(
    policy: Policy, sequences: Sequence[Sequence_], preset: Preset, rng: random.Random
) -> None:
    """Minimise the cross-entropy of what the expert wrote."""
    (optimizer,) = optimizer_of(policy, "adamw", preset.warmup_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, preset.warmup_rate, total_steps=preset.warmup_steps, pct_start=0.1
    )
    device = policy.head.weight.device
    begun = time.perf_counter()
    lengths = [len(row.ids) for row in sequences]
    every = padded([row.ids for row in sequences], device)
    learnt = padded([row.mask for row in sequences], device).bool()
    for step in range(preset.warmup_steps):
        rows = rng.sample(range(len(sequences)), min(preset.warmup_rows, len(sequences)))
        longest = max(lengths[row] for row in rows)
        chosen = torch.tensor(rows, device=device)
        ids = every[chosen, :longest]
        mask = learnt[chosen, 1:longest].flatten()
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            hidden = policy.hidden(ids)[:, :-1].flatten(0, 1)[mask]
            logits = policy.head(hidden)
        loss = F.cross_entropy(logits.float(), ids[:, 1:].flatten()[mask])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == preset.warmup_steps - 1:
            taken = time.perf_counter() - begun
            print(f"warm-up {step:5d}  loss {loss.item():.4f}  {taken:.1f} s", flush=True)
