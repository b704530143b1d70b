import pytest

from codeenv.errors import SourceError, TaskError
from codeenv.materialise import materialise
from codeenv.sources import Checkout
from codeenv.tree import Entry, Tree
from tests.toytask import LOCK, SOURCE, make_task, parts


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "cache"))


def test_a_task_is_made_once_and_then_needs_no_source():
    recipe, baseline = parts()
    made = materialise(recipe, baseline, LOCK, checkout=Checkout(recipe.source, SOURCE))
    kept = materialise(recipe, baseline, LOCK)
    assert made == kept == make_task()


def test_without_source_or_cache_there_is_no_task():
    recipe, baseline = parts()
    with pytest.raises(SourceError):
        materialise(recipe, baseline, LOCK)


def test_a_checkout_of_other_bytes_is_refused_and_not_kept(tmp_path):
    recipe, baseline = parts()
    other = Tree({**SOURCE, "README.md": Entry(b"changed")})
    with pytest.raises(TaskError, match="source is not the recipe's"):
        materialise(recipe, baseline, LOCK, checkout=Checkout(recipe.source, other))
    assert not list((tmp_path / "cache").rglob("*.tar"))


def test_a_kept_task_still_wants_its_own_baseline():
    recipe, baseline = parts()
    materialise(recipe, baseline, LOCK, checkout=Checkout(recipe.source, SOURCE))
    with pytest.raises(TaskError, match="baseline is not the recipe's"):
        materialise(recipe, baseline.model_copy(update={"runs": 7}), LOCK)
