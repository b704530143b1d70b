import pickle

import pytest
from gymnasium.vector.utils import batch_space, iterate

from codeenv.env.spaces import ActionSpace, UnicodeText, observation_space
from codeenv.tools import ToolCall, parse_action, validate


def test_text_may_be_any_text_that_unicode_can_carry():
    space = UnicodeText(10)

    assert all(text in space for text in ("", "plain", "é\n\t€", "\x00\x1b[0m"))
    assert all(text not in space for text in ("12345678901", "\ud800", 3, None, b"x"))


def test_texts_are_sampled_short_and_from_the_seed():
    one, other = UnicodeText(seed=1), UnicodeText(seed=1)

    samples = [one.sample() for _ in range(20)]

    assert samples == [other.sample() for _ in range(20)]
    assert all(sample in one and len(sample) <= 40 for sample in samples)


def test_spaces_are_equal_by_their_bounds_and_pickle():
    for space in (UnicodeText(5), ActionSpace("core4+lint"), observation_space(3)):
        assert pickle.loads(pickle.dumps(space)) == space
    assert UnicodeText(5) != UnicodeText(6)
    assert ActionSpace() != ActionSpace("core4+lint")


def test_sampled_calls_are_valid_and_come_from_the_seed():
    one, other = ActionSpace(seed=3), ActionSpace(seed=3)

    calls = [one.sample() for _ in range(300)]

    assert calls == [other.sample() for _ in range(300)]
    assert all(validate(parse_action(call)) is not None for call in calls)
    assert {call["tool"] for call in calls} == {
        "read_file",
        "edit_file",
        "run_command",
        "search",
        "submit",
    }


@pytest.mark.parametrize(
    "action",
    [
        {"tool": "submit"},
        '{"tool": "read_file", "arguments": {"path": "a"}}',
        ToolCall(tool="search", arguments={"pattern": "x"}),
    ],
)
def test_every_form_of_a_valid_call_is_in_the_space(action):
    assert action in ActionSpace()


@pytest.mark.parametrize(
    "action",
    ["ls", {"tool": "nope"}, {"tool": "read_file"}, {"tool": "lint"}, None, 3],
)
def test_what_is_no_valid_call_is_not_in_the_space(action):
    assert action not in ActionSpace()


def test_calls_can_be_batched():
    space = batch_space(ActionSpace(), 3)
    actions = space.sample()

    assert actions in space
    assert list(iterate(space, actions)) == list(actions)


def test_masks_are_refused():
    with pytest.raises(ValueError, match="mask"):
        ActionSpace().sample(mask=1)
