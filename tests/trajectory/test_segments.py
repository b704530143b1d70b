import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv.trajectory import (
    AgentInfo,
    Recorder,
    Segment,
    SegmentMark,
    messages_of,
    read_trajectory,
    sealed,
    segments_of,
    shared_advantages,
    write_trajectory,
)

CUTS = st.lists(st.integers(1, 4), min_size=1, max_size=5)


def recorded(calls_per_segment):
    """An episode whose context was cut after so many calls each time."""
    recorder = Recorder(AgentInfo(name="a", version="1"), "t__0", now=lambda: "2026")
    recorder.instruct("Do it.")
    for number, calls in enumerate(calls_per_segment):
        if number:
            recorder.instruct("Sum up.")
            recorder.summarise(f"summary {number}", {"reward": 0.0})
            mark = SegmentMark(
                segment_id=number,
                parent_segment=number - 1,
                trigger="tokens",
                tokens_before=90,
                tokens_after=10,
            )
            recorder.segment(mark, f"Do it.\n\nsummary {number}")
        for call in range(calls):
            recorder.call("search", {"pattern": f"{number}.{call}"}, "none", {"reward": 0.0})
    recorder.say("thanks", "error[invalid_action]: …", {"reward": 0.0})
    return recorder.finished(None)


@given(CUTS)
def test_what_was_sampled_in_the_segments_is_what_the_rollout_sampled(cuts):
    trajectory = recorded(cuts)
    segments = trajectory.segments()
    everything = messages_of(trajectory)

    sampled = [
        message
        for segment in segments
        for message, bit in zip(messages_of(segment), segment.mask, strict=True)
        if bit
    ]

    assert len(segments) == len(cuts)
    assert sampled == [m for m in everything if m["role"] == "assistant"]
    assert [m for segment in segments for m in messages_of(segment)] == everything


@given(CUTS)
def test_a_segment_says_where_its_messages_are_in_the_trajectory(cuts):
    trajectory = recorded(cuts)
    everything = messages_of(trajectory)
    for segment in trajectory.segments():
        own = messages_of(segment)
        assert everything[segment.first_message :][: len(own)] == own


def test_a_summary_is_trained_where_it_was_written_and_not_where_it_is_read():
    first, second = recorded([1, 1]).segments()

    assert messages_of(first)[-1] == {"role": "assistant", "content": "summary 1"}
    assert first.mask == (0, 1, 0, 0, 1)
    assert messages_of(second)[0] == {"role": "user", "content": "Do it.\n\nsummary 1"}
    assert second.mask == (0, 1, 0, 1, 0)
    assert (first.n_copied, second.n_copied) == (0, 1)
    assert second.mark == SegmentMark(
        segment_id=1, parent_segment=0, trigger="tokens", tokens_before=90, tokens_after=10
    )
    assert (second.parent_segment, second.trigger) == (0, "tokens")


def test_an_agents_message_that_was_copied_is_not_trained_again():
    steps = recorded([1, 1]).steps
    copied = steps[1].model_copy(update={"is_copied_context": True})

    assert Segment(SegmentMark(segment_id=1), (steps[4], copied, steps[5])).mask == (0, 0, 0, 1, 0)


def test_an_episode_that_was_never_cut_is_one_segment():
    (only,) = recorded([3]).segments()

    assert (only.segment_id, only.parent_segment, only.n_copied) == (0, -1, 0)


def test_segments_survive_a_file_and_its_seal(tmp_path):
    trajectory = recorded([2, 1, 1])
    write_trajectory(tmp_path / "t.json", trajectory)
    again = read_trajectory(tmp_path / "t.json")

    assert again.segments() == trajectory.segments()
    assert sealed(again.steps, again.extra) == "intact"


def test_marks_on_every_step_say_the_same_as_marks_where_segments_begin():
    steps = recorded([2, 1]).steps
    marked, mark = [], {"segment_id": 0}
    for step in steps:
        mark = (step.extra or {}).get("segment", mark)
        marked.append(step.model_copy(update={"extra": {**(step.extra or {}), "segment": mark}}))

    sizes = [(s.segment_id, len(s.steps)) for s in segments_of(marked)]
    assert sizes == [(s.segment_id, len(s.steps)) for s in segments_of(steps)]


@pytest.mark.parametrize("said", ["two", {"segment_id": -1}, {"segment": 1}])
def test_a_segment_that_cannot_be_read_is_an_error(said):
    step = recorded([1]).steps[0].model_copy(update={"extra": {"segment": said}})
    with pytest.raises(UsageError, match="step 1"):
        segments_of([step])


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.floats(-1, 1), st.sampled_from("ab")),
        min_size=1,
        max_size=12,
    )
)
def test_segments_share_one_advantage_and_count_once_in_their_group(rollouts):
    segments = [range(count) for count, _, _ in rollouts]
    rewards = [reward for _, reward, _ in rollouts]
    groups = [group for _, _, group in rollouts]

    found = shared_advantages(segments, rewards, groups)

    assert [len(each) for each in found] == [count for count, _, _ in rollouts]
    assert all(len(set(each)) == 1 for each in found)
    for group in set(groups):
        total = math.fsum(a[0] for a, name in zip(found, groups, strict=True) if name == group)
        assert abs(total) < 1e-9


def test_a_rollout_of_many_segments_does_not_move_the_mean_of_its_group():
    assert shared_advantages([[0], [0] * 9], [1.0, 0.0], "tt") == ((0.5,), (-0.5,) * 9)


def test_a_reward_that_is_none_and_lists_that_differ_are_refused():
    with pytest.raises(UsageError, match="one reward"):
        shared_advantages([[0]], [1.0, 0.0], ["t"])
    with pytest.raises(UsageError, match="finite"):
        shared_advantages([[0]], [math.nan], ["t"])
