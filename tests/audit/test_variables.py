"""What variables, statements, lists of tests and hidden layers tell."""

from dataclasses import replace

import pytest

from codeenv.audit import audit_task
from codeenv.images.layers import compose
from codeenv.sandbox.image import Image, Layer
from codeenv.tasks.digest import digest_of
from tests.audit.packed import ORIGINAL
from tests.toytask import LOCK, make_task, plant

TASK = make_task(level="L1")
HIDDEN = "test_slug_joins_the_words"


def image(**variables: str) -> Image:
    return Image("i" * 64, "base", None, (), variables)


@pytest.mark.parametrize(
    "value",
    [
        "def slug(text: str, *, joiner: str = SEPARATOR)",
        "fix surviving_pieces",
        f"pytest -k {HIDDEN}",
        ORIGINAL.decode(),
        ORIGINAL.hex(),
    ],
)
def test_a_variable_that_tells_of_the_feature_is_found(value):
    assert {leak.kind for leak in audit_task(TASK, image(NOTE=value))} == {"variable"}
    locked = LOCK.model_copy(update={"variables": {"NOTE": value}})
    recipe = TASK.recipe.model_copy(update={"environment": digest_of(locked)})
    leaks = audit_task(replace(TASK, lock=locked, recipe=recipe))
    assert {(leak.kind, leak.path.partition("!")[0]) for leak in leaks} == {("variable", "$NOTE")}


def test_variables_that_every_environment_has_tell_nothing(debian_image):
    class Base:
        digest, rootfs = debian_image.base, None

    usual = compose(Base(), (), {"SETTINGS": "notes.settings"})
    assert audit_task(TASK, usual) == ()


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_a_statement_that_may_not_tell_a_declaration_is_found_to(level):
    task = make_task(level=level)
    told = replace(task, instruction=f"{task.instruction}\nWrite def slug(text) again.\n")
    assert {leak.kind for leak in audit_task(told)} == {"statement"}
    assert audit_task(replace(make_task(), instruction=told.instruction)) == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ci/nodeids.json", f'["tests/test_text.py::{HIDDEN}"]'),
        ("ci/failed.txt", f"tests/test_text.py::TestText::{HIDDEN}\n"),
        (
            "report.xml",
            f'<testcase name="{HIDDEN}"/><testcase name="test_slug_takes_a_joiner"/>'
            '<testcase name="test_slug_refuses_an_empty_title"/>',
        ),
    ],
)
def test_a_list_of_hidden_tests_is_found(path, text):
    (leak,) = audit_task(plant(path, text.encode()))
    assert (leak.kind, leak.path) == ("hidden_test", path)


def test_a_layer_that_a_later_one_hides_is_found(tmp_path):
    for name, data in (("lower", ORIGINAL), ("upper", b"x = 1\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.py").write_bytes(data)
    layers = (
        Layer("l" * 64, tmp_path / "lower", "/opt/env"),
        Layer("u" * 64, tmp_path / "upper", "/opt/env"),
    )
    leaks = audit_task(TASK, Image("k" * 64, "base", None, layers))
    assert {leak.path for leak in leaks} == {"/opt/env/notes.py"}


@pytest.mark.parametrize("word", ["get", "name", "text", "value", "joined_words", "candidate"])
def test_common_words_and_near_misses_are_no_leak(word):
    data = f"def {word}(self, {word}):\n    return self.{word} or {word}\n" * 40
    assert audit_task(plant("examples/thing.py", data.encode())) == ()
    assert audit_task(plant("examples/thing.bin", b"\0" + data.encode())) == ()


@pytest.mark.parametrize(
    ("path", "kinds"), [("tests/__init__.py", set()), ("notes.txt", {"hidden_test"})]
)
def test_tests_that_others_inherit_are_no_list_of_hidden_ones(path, kinds):
    names = [test.rpartition("::")[2].partition("[")[0] for test in TASK.fail_to_pass]
    text = "class Shared:\n" + "".join(f"    def {name}(self): pass\n" for name in names)
    task = plant(path, text.encode())
    layout = replace(task.layout, support_files=(*task.layout.support_files, path))
    assert {leak.kind for leak in audit_task(replace(task, layout=layout))} == kinds
