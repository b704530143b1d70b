"""Agents: who plays the episodes."""

from codeenv_harness.agents.base import Agent, AgentFactory, Briefing, Metered
from codeenv_harness.agents.generating import model_sampler
from codeenv_harness.agents.nop import NopAgent
from codeenv_harness.agents.oracle import OracleAgent
from codeenv_harness.agents.random import RandomAgent
from codeenv_harness.agents.registry import NAMES, agent_factory, make_agent
from codeenv_harness.agents.replay import ReplayAgent
from codeenv_harness.agents.sampled import Sampled, SampledAgent

__all__ = [
    "NAMES",
    "Agent",
    "AgentFactory",
    "Briefing",
    "Metered",
    "NopAgent",
    "OracleAgent",
    "RandomAgent",
    "ReplayAgent",
    "Sampled",
    "SampledAgent",
    "agent_factory",
    "make_agent",
    "model_sampler",
]
