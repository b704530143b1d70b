"""``cmd:COMMAND``: a program that acts in the box by itself, its model reached through a relay."""

from codeenv_harness.agents.command.agent import CommandAgent
from codeenv_harness.agents.command.factory import CommandFactory
from codeenv_harness.agents.command.options import CommandOptions
from codeenv_harness.agents.command.relay import PROGRAM, Asked, Exited, Nothing, Relay

__all__ = [
    "PROGRAM",
    "Asked",
    "CommandAgent",
    "CommandFactory",
    "CommandOptions",
    "Exited",
    "Nothing",
    "Relay",
]
