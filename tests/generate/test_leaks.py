"""The last gate before grading: nothing the agent can read gives the deleted code away."""

import pytest

from codeenv.generate.models import Reason
from codeenv.generate.pipeline import propose
from tests.generate.pitfalls.journey import travel, tree_of

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow]

WEIGH = '''\
def weigh(parcels, limit):
    """Return the parcels that may travel, and what they weigh."""
    travelling = [parcel for parcel in parcels if parcel.grams <= limit]
    heaviest = max((parcel.grams for parcel in travelling), default=0)
    together = sum(parcel.grams for parcel in travelling) + heaviest // 10
    return len(travelling), together
'''
CODE = f'''\
"""Parcels."""


{WEIGH}

def label(names, width):
    """Do what test_label_is_cut asks for."""
    joined = " / ".join(name.title() for name in names)
    shortened = joined[: width - 2].rstrip()
    return shortened + ".." if len(joined) > width else joined


def stamp(country, weight):
    """Return the price of a stamp."""
    base = 90 if country == "home" else 110
    steps = (weight + 49) // 50
    return base + steps * 7
'''
TESTS = """\
from types import SimpleNamespace

from post import label, stamp, weigh


def test_heavy_parcels_stay():
    parcels = [SimpleNamespace(grams=grams) for grams in (10, 200, 90)]
    assert weigh(parcels, 100) == (2, 109)


def test_no_parcel_weighs_nothing():
    assert weigh([], 100) == (0, 0)


def test_label_is_cut():
    assert label(["anna", "bert"], 8) == "Anna /.."


def test_label_that_fits():
    assert label(["anna", "bert"], 20) == "Anna / Bert"


def test_stamps_at_home():
    assert stamp("home", 120) == 111


def test_stamps_abroad():
    assert stamp("abroad", 1) == 117
"""
TREE = tree_of(
    {
        "pyproject.toml": '[project]\nname = "post"\nversion = "1"\n',
        "post.py": CODE,
        "docs/old.txt": f"What it was like before:\n\n{WEIGH}",
        "tests/test_post.py": TESTS,
    }
)


@pytest.fixture(scope="module")
def verdicts(bubblewrap_backend):
    journey = travel(TREE, bubblewrap_backend)
    features = propose(journey.bench, journey.baseline, journey.coverage, journey.options)
    return {verdict.feature.seed.name: verdict for verdict in journey.judge(*features)}


def test_a_feature_whose_code_is_in_a_document_is_refused(verdicts):
    assert verdicts["weigh"].reason == Reason.LEAK
    assert verdicts["weigh"].detail.startswith("copy: docs/old.txt")


def test_a_feature_whose_statement_names_a_hidden_test_is_refused(verdicts):
    assert verdicts["label"].reason == Reason.TELLS_TOO_MUCH
    assert (
        verdicts["label"].detail == "statement: instruction names the hidden test test_label_is_cut"
    )


def test_other_features_of_the_repository_become_tasks(verdicts):
    assert verdicts["stamp"].reason == Reason.EMITTED, verdicts["stamp"].detail
