"""What ``cmd:COMMAND`` is told."""

from pydantic import Field

from codeenv_harness.agents.chat.options import ChatOptions


class CommandOptions(ChatOptions):
    """What a program in the box gets, beside what ``chat:MODEL`` is told of its server.

    Attributes:
        model: Name of the model that answers the program; none: there is no server in the box.
        upload: A file or folder of this machine that is at ``/opt/agent`` in the box, read-only.
        env: Variables of the program's.
        time_limit: Seconds it may take.
    """

    model: str = ""
    upload: str = ""
    env: dict[str, str] = Field(default_factory=dict)
    time_limit: float = Field(default=3600.0, gt=0)
