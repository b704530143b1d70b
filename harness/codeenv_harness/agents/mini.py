"""``mini:MODEL``: mini-swe-agent, with our box in the place of its environment."""

import os
import platform
import weakref
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from pydantic import Field

from codeenv.errors import UsageError
from codeenv.materialise.models import Task
from codeenv.tools import ToolResult
from codeenv.trajectory import StepMetrics
from codeenv_harness.agents.chat import Answer, ChatClient, ChatOptions, ContextExceeded
from codeenv_harness.agents.driven import DrivenAgent, Hands
from codeenv_harness.agents.stops import AgentUnavailable, Ended

_MARK = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What the agent prints in a first line to hand in; the agent's own convention."""
_OBSERVATION = "[exit code {{output.returncode}}]\n{{output.output}}"


class MiniOptions(ChatOptions):
    """What ``mini:MODEL`` is told, beside what ``chat:MODEL`` is.

    Attributes:
        config: Its configuration, by name (``mini``, ``swebench``, …) or path: the prompts.
        step_limit: Answers of an episode; 0 is no limit.
        command_timeout: Seconds of a command.
    """

    config: str = "mini"
    step_limit: int = Field(default=0, ge=0)
    command_timeout: int = Field(default=60, ge=1, le=600)


class MiniFactory:
    """Makes the agents of a run; they share client and budget.

    Args:
        client: Of the model; its options are ``MiniOptions``, or the defaults of these count.

    Raises:
        AgentUnavailable: If mini-swe-agent is missing.
        UsageError: If there is no such configuration.
    """

    def __init__(self, client: ChatClient) -> None:
        """Read the configuration."""
        given = client.options
        self.options = given if isinstance(given, MiniOptions) else MiniOptions()
        self._client = client
        os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")  # it greets on standard output
        try:
            from minisweagent.config import get_config_from_spec
        except ImportError as error:
            raise AgentUnavailable(
                f"mini:{client.model} needs mini-swe-agent", hint="pip install 'codeenv-gym[mini]'"
            ) from error
        try:
            self._config = get_config_from_spec(self.options.config)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"mini-swe-agent has no configuration {self.options.config!r}",
                hint="a name such as mini or swebench, or the path of a YAML file",
            ) from error
        if not isinstance(self._config, dict) or not isinstance(self._config.get("agent"), dict):
            raise UsageError(
                f"{self.options.config!r} is no configuration of mini-swe-agent: no agent in it"
            )
        self._agents: weakref.WeakSet[DrivenAgent] = weakref.WeakSet()

    def __call__(self, task: Task) -> DrivenAgent:
        """Return an agent for one episode."""
        agent = DrivenAgent("mini-swe-agent", self._drive, model=self._client.model)
        self._agents.add(agent)
        return agent

    def close(self) -> None:
        """Let go of every agent that is waited for, and of every request."""
        for agent in [*self._agents]:
            agent.stop()
        self._client.close()

    def _drive(self, hands: Hands) -> object:
        """Let it play; it hands in if it says so, and gives up otherwise."""
        from minisweagent.agents.default import AgentConfig, DefaultAgent

        known = {k: v for k, v in self._config["agent"].items() if k in AgentConfig.model_fields}
        limits = {"step_limit": self.options.step_limit, "cost_limit": 0.0, "output_path": None}
        box = MiniBox(hands, self.options.command_timeout)
        model = MiniModel(self._client, self._config.get("model") or {}, hands.briefing.seed)
        box.agent = agent = DefaultAgent(model, box, **{**known, **limits})
        try:
            ended = agent.run(hands.briefing.instruction)
        except ContextExceeded:
            return Ended("context_exceeded")
        return {"tool": "submit"} if ended.get("exit_status") == "Submitted" else None


class MiniModel:
    """The model that mini-swe-agent asks: a chat server, through our client."""

    def __init__(self, client: ChatClient, config: Mapping[str, Any], seed: int) -> None:
        """Take client and the model's part of a configuration."""
        self.config = dict(config)
        self._client, self._seed, self._number = client, seed, 0
        self._observation = str(config.get("observation_template", _OBSERVATION))
        self._wrong = str(config.get("format_error_template", "{{ error }}"))

    def query(self, messages: Sequence[Mapping[str, Any]], **_: Any) -> dict[str, Any]:  # noqa: ANN401
        """Ask for the next answer; raise the agent's ``FormatError`` if it has no command."""
        from minisweagent.models.utils.actions_toolcall import BASH_TOOL, parse_toolcall_actions

        self._number += 1
        sent = [{k: v for k, v in message.items() if k != "extra"} for message in messages]
        answer = self._client.answer(sent, [BASH_TOOL], seed=self._seed, number=self._number)
        calls = [
            SimpleNamespace(id=i, function=SimpleNamespace(name=name, arguments=arguments))
            for i, name, arguments in answer.calls
        ]
        finish = (answer.metrics.extra or {}).get("finish_reason")
        actions = parse_toolcall_actions(
            calls, format_error_template=self._wrong, template_kwargs={"finish_reason": finish}
        )
        cost = answer.metrics.cost_usd or 0.0
        return {**answer.message, "extra": {"actions": actions, "cost": cost, "answer": answer}}

    def format_message(self, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - its protocol
        """Return a message of the history."""
        return given

    def format_observation_messages(
        self,
        message: Mapping[str, Any],
        outputs: list[dict[str, Any]],
        template_vars: dict[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """Return what commands gave, as the answers to their calls."""
        from minisweagent.models.utils import actions_toolcall

        made: list[dict[str, Any]] = actions_toolcall.format_toolcall_observation_messages(
            actions=message["extra"]["actions"],
            outputs=outputs,
            observation_template=self._observation,
            template_vars=template_vars,
        )
        return made

    def get_template_vars(self, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - its protocol
        """Return what prompts may say of the model."""
        return {"model_name": self._client.model, **given}

    def serialize(self) -> dict[str, Any]:
        """Return what its own records say of the model."""
        return {"info": {"config": {"model": {"model_name": self._client.model}}}}


class MiniBox:
    """The environment that mini-swe-agent sees: commands run in the episode's box.

    Attributes:
        agent: Who acts; what it said with a command is recorded with it.
    """

    def __init__(self, hands: Hands, timeout: int) -> None:
        """Take the hands."""
        self.config = {"timeout": timeout}
        self.agent: Any = None
        self._hands, self._timeout = hands, timeout
        self._said: object = None

    def execute(self, action: Mapping[str, Any], cwd: str = "") -> dict[str, Any]:
        """Run a command; raise the agent's ``Submitted`` if it says that the work is done."""
        command = str(action.get("command", ""))
        arguments = {"command": command, "timeout": self._timeout}
        arguments |= {"workdir": cwd} if cwd else {}
        beside, metrics = self._beside()
        made = {"tool": "run_command", "arguments": arguments, **beside}
        output = _output(self._hands.act(made, metrics))
        self._check_finished(output)
        return output

    def get_template_vars(self, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - its protocol
        """Return what prompts may say of the machine: the box's, as far as it is known."""
        machine = {"system": "Linux", "release": "", "version": "", "machine": platform.machine()}
        return {**self.config, **machine, "cwd": "", **given}

    def serialize(self) -> dict[str, Any]:
        """Return what its own records say of the environment."""
        return {"info": {"config": {"environment": self.config, "environment_type": "codeenv"}}}

    def _beside(self) -> tuple[dict[str, str], StepMetrics | None]:
        """Return words and tokens of the answer that a command is from, with its first one."""
        messages = self.agent.messages if self.agent is not None else []
        said = messages[-1] if messages else {}
        if said is self._said or said.get("role") != "assistant":
            return {}, None
        self._said = said
        answer = (said.get("extra") or {}).get("answer")
        if not isinstance(answer, Answer):
            return {}, None
        told = {"content": answer.words, "reasoning_content": answer.reasoning}
        return told, answer.metrics

    def _check_finished(self, output: Mapping[str, Any]) -> None:
        from minisweagent.exceptions import Submitted

        first, _, rest = str(output["output"]).lstrip().partition("\n")
        if first.strip() == _MARK and output["returncode"] == 0:
            told = {"exit_status": "Submitted", "submission": rest}
            raise Submitted({"role": "exit", "content": rest, "extra": told})


def _output(result: ToolResult) -> dict[str, Any]:
    code = result.exit_code if result.exit_code is not None else -1
    wrong = "" if result.ok else result.error
    return {"output": result.text, "returncode": code, "exception_info": wrong}
