"""An environment in memory, and every wrapper around it."""

from codeenv.env.fake import FakeRuntime
from codeenv.env.repo import CodeRepoEnv
from codeenv.wrappers import (
    BehaviourReward,
    LengthPenalty,
    SelfSummarize,
    TurnPenalty,
    format_component,
)
from tests.env.actions import LOOK as LOOK
from tests.env.actions import SOLVE as SOLVE

SUBMIT = {"tool": "submit", "arguments": {}}
BAD = {"tool": "open_file", "arguments": {}}


def fake_env(runtime=None, **options):
    """An environment whose boxes are in memory."""
    return CodeRepoEnv(runtime=runtime or FakeRuntime(), **{"max_steps": 6, **options})


def stacked(env, trigger=200, segments=8):
    """Every wrapper around an environment."""
    env = SelfSummarize(env, trigger, max_segments=segments)
    env = TurnPenalty(env, 0.25)
    env = BehaviourReward(env, {"format": format_component(0.1)})
    return LengthPenalty(env)


def played(env, actions, seed=1):
    """Every step of an episode, until it ends or there are no more actions."""
    env.reset(seed=seed)
    steps = []
    for action in actions:
        steps.append(env.step(action))
        if steps[-1][2] or steps[-1][3]:
            break
    return steps
