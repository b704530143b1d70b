"""Agents: who plays the episodes."""

from codeenv_harness.agents.base import Agent, Briefing, Metered
from codeenv_harness.agents.driven import DrivenAgent, EpisodeOver, Hands
from codeenv_harness.agents.generating import model_sampler
from codeenv_harness.agents.nop import NopAgent
from codeenv_harness.agents.oracle import OracleAgent
from codeenv_harness.agents.purse import Budget, Purse
from codeenv_harness.agents.random import RandomAgent
from codeenv_harness.agents.registry import (
    NAMES,
    AgentOptions,
    agent_factory,
    close_agents,
    make_agent,
)
from codeenv_harness.agents.replay import ReplayAgent
from codeenv_harness.agents.resident import AgentFactory, Deed, Resident, Stay
from codeenv_harness.agents.sampled import Sampled, SampledAgent
from codeenv_harness.agents.stops import AgentError, AgentUnavailable, BudgetSpent, Ended, StopRun

__all__ = [
    "NAMES",
    "Agent",
    "AgentError",
    "AgentFactory",
    "AgentOptions",
    "AgentUnavailable",
    "Briefing",
    "Budget",
    "BudgetSpent",
    "Deed",
    "DrivenAgent",
    "Ended",
    "EpisodeOver",
    "Hands",
    "Metered",
    "NopAgent",
    "OracleAgent",
    "Purse",
    "RandomAgent",
    "ReplayAgent",
    "Resident",
    "Sampled",
    "SampledAgent",
    "Stay",
    "StopRun",
    "agent_factory",
    "close_agents",
    "make_agent",
    "model_sampler",
]
