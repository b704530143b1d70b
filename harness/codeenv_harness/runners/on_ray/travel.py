"""What goes from the process that runs to the workers, and back."""

import os
import pickle
from dataclasses import dataclass, replace
from pathlib import Path

from ray import cloudpickle

from codeenv.errors import SandboxError, UsageError
from codeenv.trajectory import Trajectory
from codeenv_harness.agents.registry import SERVED
from codeenv_harness.agents.replay import recorded
from codeenv_harness.events import EpisodeEnded, Event, StepTaken
from codeenv_harness.playing import Finished, Plan, RunOptions, Work
from codeenv_harness.records import Key

_REPLAY = "replay:"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_SERVER = ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
_KEY = "OPENAI_API_KEY"


@dataclass(frozen=True)
class Order:
    """A rollout that a worker is asked to play.

    Attributes:
        work: Which.
        steps: Whether anybody listens to its steps.
        record: What a ``replay:`` agent does; the error if there is none.
    """

    work: Work
    steps: bool = True
    record: Trajectory | UsageError | None = None


@dataclass(frozen=True)
class Ended:
    """A rollout that has ended: what is told and what is written of it, both or neither."""

    event: EpisodeEnded
    finished: Finished

    @property
    def key(self) -> Key:
        """Which rollout it is."""
        return self.finished.record.key


@dataclass(frozen=True)
class Failed:
    """A rollout that was not played because no further one makes sense."""

    key: Key
    error: BaseException


@dataclass(frozen=True)
class Untaken:
    """A rollout that its worker could not take."""

    key: Key
    told: str


Report = Event | Ended | Failed | Untaken


def replays(options: RunOptions) -> bool:
    """Return whether the agent does what a file says, which is on the driver's machine."""
    return options.agent.startswith(_REPLAY)


def order(options: RunOptions, work: Work, *, steps: bool) -> Order:
    """Return the order to play a rollout, with the record that it repeats."""
    if not replays(options):
        return Order(work, steps)
    try:
        found = recorded(Path(options.agent.removeprefix(_REPLAY)), work.recipe.id)
    except UsageError as error:
        return Order(work, steps, error)
    return Order(work, steps, found)


def packed_plan(plan: Plan) -> bytes:
    """Return a plan as bytes.

    Raises:
        UsageError: If its runtime or monitor cannot leave this process.
    """
    try:
        return bytes(cloudpickle.dumps(plan))
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        raise UsageError(
            f"this run cannot be sent to other processes: {error}",
            hint="name the runtime's backend instead of opening it",
        ) from error


def environment(options: RunOptions) -> dict[str, str]:
    """Return the variables that a model's client reads: the key, the server, proxies."""
    kind = options.agent.partition(":")[0]
    if kind not in SERVED or (kind == "cmd" and not options.settings.get("model")):
        return {}  # there is no model to ask
    names = [str(options.settings.get("api_key_env", _KEY)), *_SERVER]
    names += [*_PROXIES, *(name.upper() for name in _PROXIES)]
    return {name: os.environ[name] for name in names if name in os.environ}


def packed(report: Report) -> bytes:
    """Return a report as bytes; what an agent made and cannot be sent is told as text."""
    try:
        data = bytes(cloudpickle.dumps(report))
        if isinstance(report, Failed):
            unpacked(data)  # some errors can be packed only
        return data
    except Exception as problem:
        if isinstance(report, StepTaken):
            return packed(replace(report, action=repr(report.action)))
        if isinstance(report, Failed) and not isinstance(report.error, SandboxError):
            told = f"{type(report.error).__name__}: {report.error}"
            return packed(Failed(report.key, SandboxError(told)))
        raise problem


def unpacked(data: bytes) -> Report:
    """Return the report of a worker."""
    report: Report = cloudpickle.loads(data)
    return report
