import random

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from codeenv.feedback import FeedbackEvent, Target, build_teacher_pair
from codeenv.trajectory import (
    AgentInfo,
    RecordedCall,
    Step,
    Trajectory,
)
from codeenv.trajectory.models import RecordedObservation, RecordedResult, StepMetrics
from training.chat import Chat, Said, Turn, train_tokenizer
from training.generation import Sampled
from training.learning import PLACEBO, Arm, Learner, Rates, flagged, hinted
from training.policy import Policy, Size, optimizer_of
from training.rollouts import Rollout
from training.summary import summary

HINT = "Reminder: Available tools are: read_file, edit_file, run_command, search, submit."
TURNS = (
    Turn("open_file", {"path": "a.py"}, "error[unknown_tool]: there is no tool 'open_file'"),
    Turn("read_file", {"path": "a.py"}, "     1\tx = 1"),
    Turn("finish", {}, "error[unknown_tool]: there is no tool 'finish'"),
)
TEXTS = ["user\nDo it.", HINT, PLACEBO, *(t.text for t in TURNS), *(t.answer for t in TURNS)]
CHAT = Chat(train_tokenizer(TEXTS * 3, 420))


def event(number, tool):
    return FeedbackEvent(
        id=f"{number}.1.unknown_tool",
        kind="unknown_tool",
        severity="error",
        turn=number,
        target=Target(message=2 * number - 1, part="tool_name", chars=(0, len(tool))),
        evidence={"tool": tool},
        hint=HINT,
    )


def rollout(reward=1.0, group=0, turns=TURNS):
    made = Rollout("task", group, reward=reward, valid=True)
    made.read([*CHAT.message(Said("user", "Do it.")), *CHAT.opening])
    for number, turn in enumerate(turns, start=1):
        ids = CHAT.ids(f"{turn.text}<|im_end|>")
        made.wrote(Sampled(ids, [-1.0] * len(ids)))
        made.errors.append("unknown_tool" if turn.answer.startswith("error") else "")
        if made.errors[-1]:
            made.events.append(event(number, turn.tool))
        more = [*CHAT.ids("\n"), *CHAT.message(Said("tool", turn.answer)), *CHAT.opening]
        if number < len(turns):
            made.read(more)
    return made


def recorded(played):
    """The same as the library records it, with the sampler's ids."""
    steps = [Step(step_id=1, source="user", message="Do it.")]
    for number, turn in enumerate(TURNS):
        start, end = played.turns[number]
        result = RecordedResult(source_call_id=f"c{number}", content=turn.answer)
        call = RecordedCall(
            tool_call_id=f"c{number}", function_name=turn.tool, arguments=turn.arguments
        )
        metrics = StepMetrics(
            prompt_token_ids=played.ids[:start],
            completion_token_ids=played.ids[start:end],
            logprobs=played.logps[start:end],
        )
        steps.append(
            Step(
                step_id=number + 2,
                source="agent",
                message="",
                tool_calls=(call,),
                observation=RecordedObservation(results=(result,)),
                metrics=metrics,
            )
        )
    return Trajectory(agent=AgentInfo(name="policy", version="0"), steps=tuple(steps))


def test_hinted_turns_are_the_teacher_pairs_of_the_library():
    played = rollout()
    trajectory = recorded(played)

    made = hinted([played], CHAT, lambda e: e.hint)

    pairs = [build_teacher_pair(trajectory, e, CHAT.tokenizer) for e in played.events]
    assert [m.teacher for m in made] == [list(pair.teacher_ids) for pair in pairs]
    assert [m.span for m in made] == [pair.student_span for pair in pairs]
    assert [m.mask for m in made] == [list(pair.span_mask) for pair in pairs]
    assert [pair.granularity for pair in pairs] == ["span", "span"]


def learner(arm, seed=0, **rates):
    torch.manual_seed(seed)
    policy = Policy(Size(len(CHAT.tokenizer), width=32, layers=1, heads=2, context=256))
    return Learner(policy, optimizer_of(policy, "adamw", 1e-2), CHAT, arm, Rates(**rates))


def sampled_by(policy, *played):
    """Say that the policy as it is has sampled the rollouts."""
    for one in played:
        logps = policy(torch.tensor([one.ids]))[0].log_softmax(-1).detach()
        for start, end in one.turns:
            for at in range(start, end):
                one.logps[at] = float(logps[at - 1, one.ids[at]])


def p_of(policy, played, number, name):
    """Probability that a turn begins as a call of a tool."""
    start, _ = played.turns[number]
    begun = CHAT.ids(f'{{"name": "{name}')
    logps = policy(torch.tensor([[*played.ids[:start], *begun]]))[0].log_softmax(-1)
    where = torch.arange(start - 1, start - 1 + len(begun))
    return float(logps[where, begun].sum().exp().detach())


def test_without_a_difference_of_rewards_the_scalar_arm_moves_nothing():
    arm = learner(Arm())
    before = [p.detach().clone() for p in arm.policy.parameters()]

    facts = arm.update([rollout(0.0), rollout(0.0)], random.Random(0))

    assert facts["gradient"] == 0
    assert all(torch.equal(a, b) for a, b in zip(before, arm.policy.parameters(), strict=True))


def test_without_a_difference_of_rewards_hints_still_teach():
    arm = learner(Arm(hint="hint", alpha=0.0))

    facts = arm.update([rollout(0.0), rollout(0.0)], random.Random(0))

    assert facts["events"] == 4
    assert facts["loss_hint"] > 0
    assert facts["gradient"] > 0


def test_a_penalty_lowers_the_turns_that_were_lost_whatever_the_reward():
    arm = learner(Arm(turn_penalty=-1.0))
    played = [rollout(0.0), rollout(0.0)]
    sampled_by(arm.policy, *played)
    before = [p_of(arm.policy, played[0], n, t.tool) for n, t in enumerate(TURNS)]

    arm.update(played, random.Random(0))

    after = [p_of(arm.policy, played[0], n, t.tool) for n, t in enumerate(TURNS)]
    assert after[0] < before[0]
    assert after[2] < before[2]


def test_a_reward_above_its_group_raises_what_was_done():
    arm = learner(Arm())
    good, bad = rollout(1.0), rollout(0.0, turns=TURNS[2:])
    sampled_by(arm.policy, good, bad)
    before = p_of(arm.policy, good, 1, "read_file")

    arm.update([good, bad], random.Random(0))

    assert p_of(arm.policy, good, 1, "read_file") > before


def test_rollouts_without_a_valid_reward_are_not_learnt_from():
    arm = learner(Arm())
    lost = rollout(1.0)
    lost.valid = False

    facts = arm.update([rollout(0.0), rollout(0.0), lost], random.Random(0))

    assert facts["gradient"] == 0


def test_the_size_of_a_chunk_changes_nothing():
    played = [rollout(1.0), rollout(0.0), rollout(0.5, group=1), rollout(0.0, group=1)]

    facts = [learner(Arm(hint="hint"), chunk=n).update(played, random.Random(0)) for n in (1, 4)]

    assert facts[0]["gradient"] == pytest.approx(facts[1]["gradient"], rel=1e-4)
    assert facts[0]["loss_hint"] == pytest.approx(facts[1]["loss_hint"], rel=1e-4)


def test_an_update_has_at_most_so_many_events():
    arm = learner(Arm(hint="hint"), most_events=3)

    assert arm.update([rollout(0.0), rollout(0.0)], random.Random(0))["events"] == 3


def test_the_placebo_stands_where_the_hint_would():
    made = [
        hinted([rollout()], CHAT, lambda e, text=text: text or e.hint) for text in ("", PLACEBO)
    ]

    assert [m.span for m in made[0]] == [m.span for m in made[1]]
    assert [m.mask for m in made[0]] == [m.mask for m in made[1]]
    assert [m.teacher for m in made[0]] != [m.teacher for m in made[1]]


def test_the_summary_counts_calls_and_groups():
    played = [rollout(1.0), rollout(0.0), rollout(0.0, group=1), rollout(0.0, group=1)]

    facts = summary(played)

    assert facts["reward"] == 0.25
    assert facts["invalid"] == pytest.approx(2 / 3)
    assert facts["zero"] == 0.5
    assert facts["flagged"] == 8 == sum(1 for _ in flagged(played))
