"""What a task is called."""

from codeenv.generate.models import Deletion, Feature, Proof
from codeenv.generate.recipe import _task_id
from codeenv.generate.split import mode_of
from codeenv.languages.base import Unit
from codeenv.tasks.models import SourcePin
from codeenv.tree import Tree

PIN = SourcePin(kind="pypi", location="shop", version="1.0", sha256="0" * 64, tree="1" * 64)
UNIT = Unit("src/shop.py", "Cart.total", "method", 1, 2, 3, (3,))
FEATURE = Feature(UNIT, (UNIT,), ("t.py::a", "t.py::b"), 3, "function")
PROOF = Proof(Deletion(FEATURE, "remove", (), Tree({})), ("t.py::a",), ("t.py::b",))


def test_which_tests_are_seen_is_known_from_the_hidden_ones():
    assert mode_of(PROOF, ("t.py::a", "t.py::b")) == "hidden"
    assert mode_of(PROOF, ("t.py::b",)) == "split"
    assert mode_of(PROOF, ()) == "visible"


def test_tasks_of_one_feature_that_tell_or_show_more_have_names_of_their_own():
    variants = [(level, mode) for level in ("L1", "L3", "L5") for mode in ("hidden", "visible")]
    names = [_task_id(PIN, PROOF, variant) for variant in variants]
    assert len(set(names)) == len(names)
    assert all(name.startswith("shop-1.0-shop-cart.total-") for name in names)
    assert _task_id(PIN, PROOF, ("L3", "hidden")) == names[2]
