"""Tests that draw their examples by chance."""

RANDOM = """\
from hypothesis import given, settings, strategies

SEEN = []


@given(strategies.integers())
def test_draws(number):
    SEEN.append(number)


def test_tells():
    assert settings.default.deadline is None
    assert len(SEEN) == 20
    raise ValueError(SEEN)
"""


def test_drawn_examples_are_the_same_in_every_run_and_have_no_deadline(run):
    conftest = (
        "from hypothesis import settings\n\nsettings.register_profile('own', max_examples=20)\n"
        "settings.load_profile('own')\n"
    )
    others = {"conftest.py": conftest, "tests/test_random.py": RANDOM}
    first, second = (run("", others, hash_seed=seed).results for seed in (1, 2))
    told = first["tests/test_random.py::test_tells"].message
    assert told.startswith("ValueError")
    assert told == second["tests/test_random.py::test_tells"].message
