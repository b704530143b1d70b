"""Makes the agents of a run that are one program; they share what is uploaded, and the client."""

import threading
from collections.abc import Sequence

from codeenv.materialise.models import Task
from codeenv.sandbox.image import Mount
from codeenv.tree import Tree
from codeenv_harness.agents.chat.client import ChatClient
from codeenv_harness.agents.command.agent import CommandAgent
from codeenv_harness.agents.command.options import CommandOptions
from codeenv_harness.agents.command.relay import PROGRAM


class CommandFactory:
    """An agent factory for one command line.

    Attributes:
        mounts: What boxes of its episodes have beside the workspace.
    """

    def __init__(
        self,
        command: str,
        options: CommandOptions,
        client: ChatClient | None = None,
        program: Tree | None = None,
    ) -> None:
        """Take them; ``program`` is what boxes get at ``PROGRAM``, if anything."""
        self._command, self._options, self._client = command, options, client
        self._ran = threading.Event()
        self.mounts: Sequence[Mount] = (Mount(PROGRAM, program),) if program is not None else ()

    def __call__(self, task: Task) -> CommandAgent:
        """Return an agent for one episode."""
        return CommandAgent(self._command, self._options, self._client, self._ran)

    def close(self) -> None:
        """Let go of every request that is under way."""
        if self._client is not None:
            self._client.close()
