"""An agent's episode, drawn step by step."""

from codeenv.cli import stage
from codeenv.cli.terminal import Terminal
from codeenv.env.episode import Episode
from codeenv.grading.models import Outcome
from codeenv.tools import ToolCall, ToolResult, parse_action
from codeenv_harness.agents import make_agent
from codeenv_harness.episode import Played, play


def watch(terminal: Terminal, agent: str, episode: Episode) -> Outcome:
    """Play an open episode with a named agent, show its steps, and return the outcome."""
    return watched(terminal, agent, episode).outcome


def watched(terminal: Terminal, agent: str, episode: Episode) -> Played:
    """Play an open episode with a named agent, show its steps, and return what was played."""

    def on_step(number: int, action: object, result: ToolResult) -> None:
        call = parse_action(action)
        if not isinstance(call, ToolCall):
            call = ToolCall(tool="(not a call)", arguments={"action": str(action)})
        terminal.tell(stage.step(number, call, result))

    return play(make_agent(agent, episode.task), episode, on_step=on_step)
