"""Groups that teach nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv_harness.curriculum import zero_advantage_mask

rollouts = st.lists(
    st.tuples(st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from("abc"), st.booleans())
)


@given(rollouts)
def test_a_rollout_teaches_if_its_reward_is_valid_and_not_that_of_all_in_its_group(played):
    values, groups, valid = ([each[n] for each in played] for n in range(3))
    seen = {g: {r for r, other, good in played if good and other == g} for g in groups}
    expected = [not good or len(seen[g]) < 2 for _, g, good in played]

    assert zero_advantage_mask(values, groups, valid).tolist() == expected


def test_an_advantage_is_zero_just_where_the_mask_says_so():
    rewards, groups = np.array([0.1, 0.1, 0.1, 0.0, 1.0, 1.0]), np.array([7, 7, 7, 9, 9, 9])
    mean = np.array([rewards[groups == g].mean() for g in groups])

    mask = zero_advantage_mask(rewards, groups)
    assert mask.tolist() == [True] * 3 + [False] * 3
    assert np.allclose((rewards - mean)[mask], 0)


def test_each_rollout_has_one_group():
    with pytest.raises(ValueError, match="not one each"):
        zero_advantage_mask([1.0, 0.0], ["a"])
