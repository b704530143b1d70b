"""A worker on each node that has processors: found, started, heard, and ended."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import codeenv
from codeenv.errors import CodeEnvError, MachineError, UsageError
from codeenv_harness.playing import Plan, Work
from codeenv_harness.records import Key
from codeenv_harness.runners.on_ray.purse import keeper_of
from codeenv_harness.runners.on_ray.travel import (
    Order,
    Report,
    Untaken,
    environment,
    packed_plan,
    unpacked,
)
from codeenv_harness.runners.on_ray.worker import Worker

_LOOK = 1.0
"""Seconds between two looks at which nodes there are."""
_PATIENCE = 120.0
"""Seconds that a worker has to begin; after a tenth of them it is said who is waited for."""
_GOODBYE = 30.0
"""Seconds that workers have to close their boxes."""
_CALLS = 4
"""Calls that a worker answers beside each other: it reports, is handed work, and is ended."""


@dataclass(eq=False)
class Member:
    """One worker, seen from here.

    Attributes:
        name: Of its node, for people.
        processors: Of its node.
        actor: Ray's handle.
        call: What it was asked last: to begin, and from then on to report.
        ready: Whether it has begun.
        hands: The rollouts that it plays.
        handed: Those of which it has not said yet whether it takes them.
        since: When it was asked to begin.
        awaited: Whether it was said that it is waited for.
    """

    name: str
    processors: float
    actor: Any
    call: Any
    ready: bool = False
    hands: dict[Key, Work] = field(default_factory=dict)
    handed: dict[Any, Key] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)
    awaited: bool = False

    def hand(self, order: Order) -> None:
        """Give it a rollout to play."""
        self.hands[order.work.key] = order.work
        self.handed[self.actor.hand.remote(order)] = order.work.key

    def untaken(self) -> list[Report]:
        """Return which rollouts it said it cannot take.

        Raises:
            RayError: If it may be lost.
        """
        replies = [*self.handed]
        said, _ = ray.wait(replies, num_returns=len(replies), timeout=0) if replies else ([], [])
        return [told for reply in said if (told := _untaken(reply, self.handed.pop(reply)))]


class Crew:
    """The workers of one run.

    Args:
        plan: What they play.
        say: Gets what people should know.
        patience: Seconds that a worker has to begin.

    Attributes:
        backend: Which all of them use; "" before one has begun.
    """

    def __init__(self, plan: Plan, say: Callable[[str], None], patience: float = _PATIENCE) -> None:
        """Pack what they need to know."""
        self.backend, self._patience = "", patience
        self._say, self._started = say, False
        self._members: dict[str, Member] = {}
        self._refused: set[str] = set()
        self._last, self._looked = "", 0.0
        self._plan = ray.put(packed_plan(plan))
        self._variables = environment(plan.options)
        self._keeper = keeper_of(plan.options.budget)

    def start(self) -> int:
        """Wait until every node's worker has begun or is given up; return how many there are.

        Raises:
            CodeEnvError: What a worker says that cannot begin.
            MachineError: If there is none.
        """
        while self.alive() and any(not member.ready for member in self._members.values()):
            for _ in self.hear():
                pass
        self._started = True
        if not self._members:
            raise self.nobody()
        return len(self._members)

    def nobody(self) -> MachineError:
        """Return the error that there is no worker."""
        told = f": {self._last}" if self._last else ": no node has processors"
        hint = "ray status tells of nodes; --resume goes on where a run has stopped"
        return MachineError(f"there is no Ray node to play on{told}", hint=hint)

    def alive(self) -> bool:
        """Start workers on nodes that are new; return whether there is any, begun or not."""
        if time.monotonic() - self._looked > _LOOK or not self._members:
            self._looked = time.monotonic()
            for node in _nodes():
                if not {node["NodeID"]} & {*self._members, *self._refused}:
                    self._members[node["NodeID"]] = self._engaged(node)
        return bool(self._members)

    def freest(self) -> Member | None:
        """Return the worker with the fewest rollouts for its processors, None before one began."""
        ready = [member for member in self._members.values() if member.ready]
        return min(ready, key=lambda m: (len(m.hands) + 1) / m.processors, default=None)

    def hear(self) -> Iterator[tuple[Member, list[Report] | None]]:
        """Wait a while; yield what workers report, None once if one is lost."""
        calls = {member.call: (node, member) for node, member in self._members.items()}
        heard, _ = ray.wait([*calls], num_returns=1, timeout=_LOOK)
        for call in heard:
            node, member = calls[call]
            if not member.ready:
                self._begun(node, member)
                continue
            try:
                batch = ray.get(call)
            except RayError as error:
                self._drop(node, error)
                yield member, None
                continue
            member.call = member.actor.collect.remote()
            yield member, [unpacked(data) for data in batch]
        for node, member in [*self._members.items()]:
            try:
                yield member, member.untaken()
            except RayError as error:
                self._drop(node, error)
                yield member, None
        self._hurry()

    def close(self) -> None:
        """End all workers; their boxes are closed first.  Idempotent."""
        members, self._members = [*self._members.values()], {}
        calls = [member.actor.close.remote() for member in members if member.ready]
        if calls:
            ray.wait(calls, num_returns=len(calls), timeout=_GOODBYE)
        for actor in [*(member.actor for member in members), self._keeper]:
            if actor is not None:
                ray.kill(actor)
        self._keeper = None

    def _engaged(self, node: Mapping[str, Any]) -> Member:
        """Start a worker on a node; it reserves nothing of what Ray counts."""
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        kind = ray.remote(Worker).options(
            num_cpus=0, max_concurrency=_CALLS, scheduling_strategy=there
        )
        actor = kind.remote()
        version = str(codeenv.__version__)
        call = actor.begin.remote(version, self._variables, self._plan, self._keeper)
        name = f"{node['NodeManagerAddress']} ({node['NodeID'][:6]})"
        return Member(name, node["Resources"]["CPU"], actor, call)

    def _begun(self, node: str, member: Member) -> None:
        """Take a worker in, or refuse its node; what it says is told or, at first, raised."""
        try:
            backend = ray.get(member.call)
            self._check(backend)
        except (RayError, CodeEnvError) as error:
            cause = error.cause if isinstance(error, RayTaskError) else error
            if isinstance(cause, CodeEnvError) and not self._started:
                raise _at(member.name, cause) from error
            self._refused.add(node)
            self._drop(node, cause)
            return
        member.ready, self.backend = True, backend
        member.call = member.actor.collect.remote()

    def _hurry(self) -> None:
        """Say which workers are waited for, and give up those that do not begin."""
        for node, member in [*self._members.items()]:
            waited = time.monotonic() - member.since
            if member.ready or waited < self._patience / 10:
                continue
            if not member.awaited:
                self._say(f"Ray: the worker on {member.name} is waited for")
                member.awaited = True
            if waited >= self._patience:
                self._refused.add(node)
                self._drop(node, MachineError(f"it did not begin in {self._patience:g} seconds"))

    def _check(self, backend: str) -> None:
        if self.backend not in ("", backend):
            raise UsageError(
                f"the backend is {backend} here, and {self.backend} on another node",
                hint="name one with --backend",
            )

    def _drop(self, node: str, error: BaseException) -> None:
        member = self._members.pop(node)
        self._last = f"{member.name}: {_first_line(error)}"
        if member.ready:
            played = f"its {len(member.hands)} rollouts are played again"
            self._say(f"Ray: the worker on {member.name} is lost; {played}")
        else:
            self._say(f"Ray: no worker on {self._last}")
        ray.kill(member.actor)


def _nodes() -> Iterable[Mapping[str, Any]]:
    """Return the nodes that have processors: where Ray would run anything."""
    found = (n for n in ray.nodes() if n["Alive"] and n["Resources"].get("CPU", 0) > 0)
    return sorted(found, key=lambda node: str(node["NodeID"]))


def _untaken(reply: Any, key: Key) -> Untaken | None:  # noqa: ANN401 - Ray's own
    try:
        ray.get(reply)
    except RayTaskError as error:
        return Untaken(key, f"its worker on Ray could not take it: {_first_line(error.cause)}")
    return None


def _at(name: str, error: CodeEnvError) -> CodeEnvError:
    return type(error)(f"{name}: {error.message}", hint=error.hint)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]
