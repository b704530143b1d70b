"""Agents by name, as the command line writes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeenv.errors import UsageError
from codeenv.materialise.models import Task
from codeenv.tools import Profile
from codeenv.tree import Tree
from codeenv_harness.agents.base import Agent
from codeenv_harness.agents.nop import NopAgent
from codeenv_harness.agents.oracle import OracleAgent
from codeenv_harness.agents.purse import Budget, Purse
from codeenv_harness.agents.random import RandomAgent
from codeenv_harness.agents.replay import ReplayAgent, recorded
from codeenv_harness.agents.resident import AgentFactory, Resident
from codeenv_harness.agents.uploads import uploaded
from codeenv_harness.prices import Price

NAMES = ("oracle", "nop", "random", "replay:FILE", "chat:MODEL", "mini:MODEL", "cmd:COMMAND")
SERVED = ("chat", "mini", "cmd")
"""Agents with options, whose model is or may be behind a chat server: ``KIND:…``."""


@dataclass(frozen=True)
class AgentOptions:
    """What agents are told beside their name.

    Attributes:
        profile: Which tools there are.
        settings: Names and values that the agent knows, e.g. ``{"temperature": 0.7}``.
        budget: What a run may use.
        prices: What models cost.
        purse: Who counts what is used, if not a new purse of this process.
        program: What the setting ``upload`` names, where that has been read already.
    """

    profile: Profile = "core4"
    settings: Mapping[str, object] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)
    purse: Purse | None = None
    program: Tree | None = None


def agent_factory(spec: str, options: AgentOptions | None = None) -> AgentFactory:
    """Return what makes the agent that ``spec`` names; ``close_agents`` ends it.

    Raises:
        AgentUnavailable: If it lacks something here.
        UsageError: If there is no such agent, or it does not know an option.
    """
    options = options or AgentOptions()
    name, _, argument = spec.partition(":")
    if name in SERVED and argument:
        return _served(name, argument, options)
    if options.settings:
        raise UsageError(f"{spec} has no options", hint="agent options are for models")
    if name == "replay" and argument:
        if not Path(argument).exists():
            raise UsageError(f"there is no {argument!r} to replay", hint="name a file or a run")
        return lambda task: ReplayAgent(recorded(Path(argument), task.id))
    factories: dict[str, AgentFactory] = {
        "oracle": OracleAgent,
        "nop": lambda _task: NopAgent(),
        "random": lambda _task: RandomAgent(options.profile),
    }
    if spec not in factories:
        raise UsageError(f"invalid choice: {spec!r} (choose from {', '.join(NAMES)})")
    return factories[spec]


def program_of(spec: str, settings: Mapping[str, object]) -> Tree | None:
    """Return what an agent takes into its boxes, if anything.

    Raises:
        UsageError: If it cannot be read.
    """
    path = settings.get("upload")
    if not spec.startswith("cmd:") or not isinstance(path, str) or not path:
        return None
    return uploaded(Path(path).expanduser())


def close_agents(factory: AgentFactory) -> None:
    """Let go of what the agents of a factory hold, or wait for.  Idempotent."""
    close = getattr(factory, "close", None)
    if close is not None:
        close()


def make_agent(spec: str, task: Task, options: AgentOptions | None = None) -> Agent | Resident:
    """Return an agent for one task (see ``agent_factory``)."""
    return agent_factory(spec, options)(task)


def _served(kind: str, what: str, options: AgentOptions) -> AgentFactory:
    """Return the factory of an agent whose model is behind a chat server."""
    try:
        from codeenv_harness.agents.chat import ChatClient, ChatFactory, ChatOptions
        from codeenv_harness.agents.command import CommandFactory, CommandOptions
        from codeenv_harness.agents.mini import MiniFactory, MiniOptions
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{kind}:{what} needs the openai package", hint="pip install 'codeenv-gym[chat]'"
        ) from error

    def client(model: str, known: ChatOptions) -> ChatClient:
        purse, price = options.purse or Purse(options.budget), options.prices.get(model)
        return ChatClient(model, known, purse=purse, price=price)

    if kind == "cmd":
        program = CommandOptions.of(options.settings)
        asked = client(program.model, program) if program.model else None
        tree = options.program
        tree = program_of(f"cmd:{what}", options.settings) if tree is None else tree
        return CommandFactory(what, program, asked, tree)
    known = (MiniOptions if kind == "mini" else ChatOptions).of(options.settings)
    asked = client(what, known)
    return MiniFactory(asked) if kind == "mini" else ChatFactory(asked)
