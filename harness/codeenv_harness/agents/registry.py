"""Agents by name, as the command line writes them."""

from pathlib import Path

from codeenv.errors import UsageError
from codeenv.materialise.models import Task
from codeenv.tools import Profile
from codeenv_harness.agents.base import Agent, AgentFactory
from codeenv_harness.agents.nop import NopAgent
from codeenv_harness.agents.oracle import OracleAgent
from codeenv_harness.agents.random import RandomAgent
from codeenv_harness.agents.replay import ReplayAgent, recorded

NAMES = ("oracle", "nop", "random", "replay:FILE")


def agent_factory(spec: str, profile: Profile = "core4") -> AgentFactory:
    """Return what makes the agent that ``spec`` names.

    Raises:
        UsageError: If there is no such agent.
    """
    name, _, argument = spec.partition(":")
    if name == "replay" and argument:
        if not Path(argument).exists():
            raise UsageError(f"there is no {argument!r} to replay", hint="name a file or a run")
        return lambda task: ReplayAgent(recorded(Path(argument), task.id))
    factories: dict[str, AgentFactory] = {
        "oracle": OracleAgent,
        "nop": lambda _task: NopAgent(),
        "random": lambda _task: RandomAgent(profile),
    }
    if spec not in factories:
        raise UsageError(f"invalid choice: {spec!r} (choose from {', '.join(NAMES)})")
    return factories[spec]


def make_agent(spec: str, task: Task, profile: Profile = "core4") -> Agent:
    """Return an agent for one task (see ``agent_factory``)."""
    return agent_factory(spec, profile)(task)
