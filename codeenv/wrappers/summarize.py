"""Chained contexts: where one is full the agent sums up, and goes on from the summary.

The rules are those of summary-based context management (SUPO, arXiv 2510.06727); what the segments
of an episode are to a trainer says ``Trajectory.segments``.
"""

import copy
from collections.abc import Mapping
from typing import Any, Self

import codeenv
from codeenv.env.episode import Episode
from codeenv.env.repo import CodeRepoEnv, Info, Observation
from codeenv.env.spaces import TEXT_LENGTH
from codeenv.errors import UsageError
from codeenv.feedback import turn_of
from codeenv.feedback.turns import said
from codeenv.tools import ToolResult, schemas
from codeenv.tools.action import words_of
from codeenv.trajectory import (
    AgentInfo,
    Message,
    Recorder,
    Segment,
    SegmentMark,
    StepMetrics,
    Trajectory,
    messages_of,
)
from codeenv.wrappers.parts import (
    AROUND_SUMMARIES,
    Stepped,
    TextEnv,
    TextWrapper,
    forked,
    reward_names,
    told_events,
    write_turn,
)
from codeenv.wrappers.summaries import SummaryOrCall, summary_of
from codeenv.wrappers.texts import TokenCounter, approximate_tokens, reasoning_of, text_of

PROMPT = (
    "The context is nearly full and will be cut. Answer with a summary, not with a tool call: what "
    "the task demands, what you found out, what you changed and where, what is left to do and how "
    "to check it. You will go on from the instruction and this summary alone."
)


class SelfSummarize(TextWrapper):
    """Ask for a summary when the context is full, and begin a new context with it.

    A request comes as the observation: the tool's result, then the prompt; ``info["summarize"]`` is
    True.  The next action is the summary, a text or ``{"summary": text}``; it costs no step.  A
    tool call instead is refused, and costs one.  The observation after a summary is the message the
    new context begins with: instruction, summary, number of summaries.  An agent that fills its
    last context is truncated (``context_exceeded``); its work is graded.

    ``info["context"]`` is the list of chat messages the model is to see; inside a segment it only
    grows.  ``info["segment"]`` has the fields of ``SegmentMark``.  ``trajectory`` gives all of it,
    with the mistakes that ``info["feedback"]`` told: turns and messages count over all contexts,
    summaries included, and no hint speaks of what was cut away.
    """

    def __init__(
        self,
        env: TextEnv,
        trigger_tokens: int,
        *,
        count: TokenCounter = approximate_tokens,
        prompt: str = PROMPT,
        max_segments: int = 8,
        agent: str = "policy",
    ) -> None:
        """Wrap an environment.

        Args:
            env: Of ``CodeRepo-v0``; ``Feedback`` and wrappers that change the reward go around
                this one, or they would not see the summaries.
            trigger_tokens: Tokens of a context's texts after which a summary is asked for; what a
                chat template adds is not counted.
            count: Counts tokens.
            prompt: How a summary is asked for.
            max_segments: Contexts an episode may have.
            agent: The name in trajectories.

        Raises:
            UsageError: If a number is below 1, or ``env`` has a wrapper that must go around this.
        """
        super().__init__(
            env,
            trigger_tokens=trigger_tokens,
            count=count,
            prompt=prompt,
            max_segments=max_segments,
            agent=agent,
        )
        if trigger_tokens < 1 or max_segments < 1:
            raise UsageError("trigger_tokens and max_segments are at least 1")
        if reward_names(env) or env.has_wrapper_attr(AROUND_SUMMARIES):
            raise UsageError(
                "SelfSummarize must see the environment first",
                hint="put Feedback and wrappers that change the reward around it",
            )
        if not isinstance(env.unwrapped, CodeRepoEnv):
            raise UsageError("SelfSummarize wraps environments of CodeRepo-v0")
        self._inner = env.unwrapped
        self.trigger_tokens, self.max_segments = trigger_tokens, max_segments
        self.count, self.prompt, self.agent = count, prompt, agent
        self.action_space = SummaryOrCall(env.action_space)
        self._last: Observation = {}
        self._metrics: StepMetrics | None = None
        self._begin("", "")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode, and its first context."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._begin(info["task_id"], observation["text"])
        self._last = dict(observation)
        return observation, self._told(info)

    def step(self, action: Any) -> Stepped:  # noqa: ANN401 - whatever an agent sends
        """Pass a call on, or take a summary."""
        if not self._asked or self._inner.episode is None:
            return self._pass_on(action)
        summary = summary_of(action)
        if summary is None or len(self._opening(summary)) > TEXT_LENGTH:
            return self._refuse(action)
        return self._go_on(summary, reasoning_of(action))

    def sampled(self, metrics: StepMetrics) -> None:
        """Say how the next action was sampled; call it before ``step``.

        Token ids, log-probabilities and the policy's version are recorded with the turn, of a
        summary too, so that every segment has its samples.
        """
        self._metrics = metrics

    def fork(self) -> Self:
        """Return another environment that goes on from here; see ``CodeRepoEnv.fork``.

        Raises:
            UsageError: If what it wraps cannot fork.
        """
        other = type(self)(forked(self.env), **self._saved_kwargs)
        other._recorder, other._last = copy.deepcopy(self._recorder), dict(self._last)
        other._task_id, other._instruction = self._task_id, self._instruction
        other._mark, other._first, other._asked = self._mark, self._first, self._asked
        other._tokens = self._tokens
        return other

    def trajectory(self, extra: Mapping[str, Any] | None = None) -> Trajectory:
        """Return the episode so far; ``segments`` of it gives the contexts.

        Args:
            extra: More facts about it, such as rollout and seed.
        """
        episode = self._inner.episode
        late = told_events(episode.concluded if episode else ())
        facts = {"task_id": self._task_id, **late, **(extra or {})}
        return self._recorder.finished(self._inner.outcome, facts)

    def _begin(self, task_id: str, instruction: str) -> None:
        tools = schemas(self._inner.profile)
        version = str(codeenv.__version__)
        about = AgentInfo(name=self.agent, version=version, tool_definitions=tools)
        self._recorder = Recorder(about, task_id)
        self._task_id, self._instruction = task_id, instruction
        self._mark, self._first, self._asked = SegmentMark(), 0, False
        self._tokens = self.count(instruction)
        self._last, self._metrics = {}, None
        self._recorder.instruct(instruction)

    def _pass_on(self, action: Any) -> Stepped:  # noqa: ANN401
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._last = dict(observation)
        self._tokens += self.count(text_of(action)) + self.count(observation["text"])
        full = not (terminated or truncated) and self._tokens > self.trigger_tokens
        if full and self._mark.segment_id + 1 >= self.max_segments:
            full = False
            _, reward, terminated, truncated, ended = self._inner.finish("context_exceeded")
            info = {**info, **ended, "feedback": [*info["feedback"], *ended["feedback"]]}
        self._write(action, float(reward), info)
        if full:
            observation = self._ask(observation)
        return observation, float(reward), terminated, truncated, self._told(info)

    def _ask(self, observation: Observation) -> Observation:
        self._asked = True
        self._recorder.instruct(self.prompt)
        self._episode.ask_summary()
        room = TEXT_LENGTH - len(self.prompt) - 2
        return {**observation, **_NO_TOOL, "text": f"{observation['text'][:room]}\n\n{self.prompt}"}

    def _refuse(self, action: Any) -> Stepped:  # noqa: ANN401
        """Let the environment refuse the action, with its limits, and ask again."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._last, self._asked = dict(observation), not (terminated or truncated)
        self._write(action, float(reward), info)
        return observation, float(reward), terminated, truncated, self._told(info)

    def _go_on(self, summary: str, reasoning: str) -> Stepped:
        opening = self._opening(summary)
        self._episode.take_summary(summary, reasoning)
        noticed = told_events(self._episode.noticed)
        extra = {"reward": 0.0, **noticed}
        self._recorder.summarise(summary, extra, reasoning=reasoning, metrics=self._taken())
        mark = SegmentMark(
            segment_id=self._mark.segment_id + 1,
            parent_segment=self._mark.segment_id,
            trigger="tokens",
            tokens_before=self._tokens,
            tokens_after=self.count(opening),
        )
        self._first = len(self._recorder.steps)
        self._recorder.segment(mark, opening)
        self._mark, self._tokens, self._asked = mark, mark.tokens_after, False
        known = {"task_id": self._task_id, "reward_valid": True, "feedback": []}
        info = self._told({**known, **noticed})
        return {**self._last, **_NO_TOOL, "text": opening}, 0.0, False, False, info

    def _opening(self, summary: str) -> str:
        title = f"Your summary of the work so far (number {self._mark.segment_id + 1}):"
        return f"{self._instruction}\n\n{title}\n\n{summary}"

    @property
    def _episode(self) -> Episode:
        if self._inner.episode is None:
            raise UsageError("no episode is going on")
        return self._inner.episode

    def _write(self, action: Any, reward: float, info: Info) -> None:  # noqa: ANN401
        episode = self._episode
        turn, known = episode.turn, info["tool"]
        if turn is None or known["error"] == "episode_over":  # the machine failed
            result = ToolResult.failed(known["name"], "episode_over", "the episode is over")
            words, thought = words_of(action), reasoning_of(action)
            made = said(action)
            turn = turn_of(episode.steps, made, result, words=words, reasoning=thought)
        extra = {"reward": reward, "tool": known, **told_events(episode.noticed)}
        write_turn(self._recorder, turn, extra, self._taken())

    def _taken(self) -> StepMetrics | None:
        """Return how the action was sampled, once."""
        taken, self._metrics = self._metrics, None
        return taken

    def _told(self, info: Info) -> Info:
        mark = self._mark.model_dump()
        return {**info, "segment": mark, "summarize": self._asked, "context": self._context()}

    def _context(self) -> list[Message]:
        return messages_of(Segment(self._mark, self._recorder.steps[self._first :]))


_NO_TOOL = {"tool": "", "exit_code": -1, "is_error": 0}
