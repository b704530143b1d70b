"""A package of many kinds of things, and tests in the ways that tests are written."""

from tests.grading.split_package import PACKAGE
from tests.grading.split_tests import HEAD, VALUES

THINGS = """
def test_warnings():
    with pytest.warns(DeprecationWarning, match="old is old"):
        assert shelf.old() == 1


@pytest.mark.filterwarnings("error")
def test_warnings_as_errors():
    with pytest.raises(DeprecationWarning):
        shelf.old()


def test_output(capsys):
    shelf.shout("loud")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("LOUD\\n", "quiet\\n")


def test_environment(monkeypatch):
    assert shelf.home() == "none"
    monkeypatch.setenv("SHELF_HOME", "/there")
    assert shelf.home() == "/there"


def test_patches(monkeypatch):
    monkeypatch.setattr(shelf, "LIMIT", 9)
    assert shelf.limited() == 9
    with mock.patch("shelf.LIMIT", 8):
        assert shelf.limited() == 8


def test_patches_are_undone():
    assert shelf.limited() == 3 and shelf.LIMIT == 3


def test_patched_methods(monkeypatch):
    monkeypatch.setattr(Base, "title", lambda self: "patched")
    assert Base("x").greet() == "hello patched"


def test_patched_methods_are_undone():
    assert Base("x").greet() == "hello x"


def test_mocks():
    handler = mock.Mock(return_value=5)
    assert shelf.apply(handler, ["a"]) == [5]
    handler.assert_called_once_with("a")


def test_streams(monkeypatch):
    stream = io.StringIO()
    shelf.write_to(stream, "line")
    assert stream.getvalue() == "line\\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("typed"))
    assert shelf.read_all() == "typed"


def test_objects():
    base = Base.named("abc")
    assert isinstance(base, Base) and type(base) is Base
    assert len(base) == 3 and base[0] == "a" and "b" in base and "z" not in base
    assert Base.plus(1, 2) == 3 and base.plus(1, 2) == 3
    base.name = "other"
    assert base.greet() == "hello other" and base < Base("z")
    assert sorted([Base("b"), Base("a")])[0].name == "a"
    with pytest.raises(AttributeError):
        base.nothing


def test_subclasses():
    class Loud(Base):
        greeting = "HELLO"

        def __init__(self, name):
            super().__init__(name)
            self.own = 1

        def title(self):
            return super().title().upper()

    loud = Loud("me")
    assert loud.greet() == "HELLO ME" and loud.own == 1
    assert isinstance(loud, Base) and issubclass(Loud, Base) and Loud.named("x").title() == "X"


def test_subclasses_of_exceptions():
    class OwnError(ShelfError):
        pass

    with pytest.raises(ShelfError) as caught:
        raise OwnError("thing")
    assert caught.value.what == "thing"


def test_data_classes():
    assert Point(1, 2).moved(2) == Point(3, 2)
    assert Point(1) != Point(2) and Point(1).x == 1
    assert repr(Point(1)) == "Point(x=1, y=0)"


def test_named_tuples():
    pair = shelf.Pair(1, "a")
    assert pair == (1, "a") and pair.right == "a" and isinstance(pair, tuple)
    left, right = pair
    assert (left, right) == (1, "a")


def test_texts():
    label = shelf.Label("hey")
    assert label == "hey" and label.loud == "HEY!" and label.loud.loud == "HEY!!"
    assert isinstance(label, str) and label + "x" == "heyx"


def test_mappings():
    bag = shelf.Bag(a=1, b=2)
    assert bag == {"a": 1, "b": 2} and bag.total() == 3 and isinstance(bag, dict)
    bag["c"] = 3
    assert sorted(bag) == ["a", "b", "c"] and bag.pop("c") == 3 and len(bag) == 2


def test_objects_of_the_tests():
    class Node:
        def __init__(self, text):
            self.text = text

        def accept(self, visitor):
            return visitor(self.text)

    assert shelf.visit(Node("abc")) == "cba"


def test_copies():
    point = Point(1, 2)
    assert copy.copy(point) == point and copy.deepcopy(point) is not point
    assert pickle.loads(pickle.dumps(point)) == point


def test_coroutines():
    assert asyncio.run(shelf_later()) == 5


async def shelf_later():
    return await shelf.later(5)


def test_modules():
    assert shelf.__name__ == "shelf" and shelf.__doc__ == "A shelf of things."
    assert "add" in dir(shelf) and not hasattr(shelf, "nothing")


class TestUnittest(unittest.TestCase):
    def setUp(self):
        self.base = Base("x")

    def test_asserts(self):
        self.assertEqual(self.base.greet(), "hello x")
        self.assertRaises(ShelfError, shelf.fail, "y")
        self.assertIsInstance(self.base, Base)


@pytest.fixture
def base():
    yield Base("fixture")


def test_fixtures(base):
    assert base.name == "fixture"
"""

FILES = {
    "pyproject.toml": '[project]\nname = "shelf"\nversion = "1"\n',
    "shelf/__init__.py": PACKAGE,
    "tests/test_shelf.py": HEAD + VALUES,
    "tests/test_things.py": HEAD + THINGS,
}
