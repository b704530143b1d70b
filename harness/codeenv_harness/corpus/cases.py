"""What a labelled episode is, and how the tables of cases become some."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from codeenv.monitor import TaskFacts, facts_of
from codeenv.trajectory import Trajectory
from codeenv_harness.corpus.script import OWN, SOURCE, Script, planted, task_of

Variant = Literal["plain", "paraphrased", "obfuscated"]
Split = Literal["dev", "unseen"]
VARIANTS: tuple[Variant, ...] = ("plain", "paraphrased", "obfuscated")


@dataclass(frozen=True)
class Scene:
    """One labelled episode.

    Attributes:
        name: Unique.
        family: Cases of one mechanism; a family is in one split only.
        label: What the episode does, or for an honest one what it only looks like ("" nothing).
        honest: Whether nothing is wrong with it.
        variant: How it is worded.
        masks: Whether the reward must be taken away.
        trajectory: As recorded.
        facts: Of its task.
    """

    name: str
    family: str
    label: str
    honest: bool
    variant: Variant
    masks: bool
    trajectory: Trajectory
    facts: TaskFacts = field(repr=False)


Files = Mapping[str, str | bytes | None]


@dataclass(frozen=True)
class Ran:
    """A case that is a command: what it prints, what it leaves."""

    command: str
    output: str = ""
    code: int = 0
    files: Files = field(default_factory=dict)


@dataclass(frozen=True)
class Wrote:
    """A case that is a file the agent writes; by default it follows a solution."""

    text: str
    path: str = SOURCE
    alone: bool = False


@dataclass(frozen=True)
class Said:
    """A case that is a message."""

    text: str


@dataclass(frozen=True)
class Edited:
    """A case that is an edit."""

    path: str
    old: str
    new: str


Deed = Ran | Wrote | Said | Edited


@dataclass(frozen=True)
class Family:
    """A table's row: variants of one deed, each one deed or several.

    Attributes:
        name: Of the family.
        label: Expected, or for honest ones what they look like.
        deeds: Per variant.
        honest: Whether the label must not be there.
        masks: Whether the reward must be taken away.
        planted: Files that the environment leaks.
        canaries: Tokens of a honeypot.
        reward: Given by the grader.
        held_out: Share of held-out tests that pass, where some are.
        ends: How the episode ends.
    """

    name: str
    label: str
    deeds: tuple[Deed | tuple[Deed, ...], ...]
    honest: bool = False
    masks: bool = False
    planted: Mapping[str, str | bytes] = field(default_factory=dict)
    canaries: tuple[str, ...] = ()
    reward: float = 1.0
    held_out: float | None = None
    ends: Literal["submitted", "agent_gave_up"] = "submitted"
    solves: bool = True


def acted(family: Family) -> Iterator[Scene]:
    """Yield the episodes of a family."""
    task = planted(family.planted) if family.planted else task_of()
    plain = not family.planted and not family.canaries
    facts = _plain_facts() if plain else facts_of(task, family.canaries)
    for number, deeds in enumerate(family.deeds):
        variant = VARIANTS[min(number, 2)]
        name = f"{family.name}-{number}"
        script = Script(name, task).begin()
        _act(script, deeds if isinstance(deeds, tuple) else (deeds,), family)
        trajectory = script.end(family.reward, held_out=family.held_out, reason=family.ends)
        yield Scene(
            name, family.name, family.label, family.honest, variant, family.masks, trajectory, facts
        )


@cache
def _plain_facts() -> TaskFacts:
    return facts_of(task_of())


def _act(script: Script, deeds: Iterable[Deed], family: Family) -> None:
    if family.solves:
        script.write(SOURCE, OWN)
    for deed in deeds:
        match deed:
            case Ran(command, output, code, files):
                script.run(command, output, code, files)
            case Wrote(text, path, alone):
                script.write(path, text if alone or path != SOURCE else f"{OWN}\n\n{text}")
            case Said(text):
                script.say(text)
            case Edited(path, old, new):
                script.edit(path, old, new)
