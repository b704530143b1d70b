"""Who answers only what tests ask, is not paid; a right solution in another style is."""

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from codeenv.env.runtime import Runtime
from codeenv.grading import GradingOptions
from codeenv.grading.models import Grade
from codeenv.grading.replay import replay, with_replays
from codeenv.languages.base import TestRequest
from codeenv.languages.python.replaying import call_again, record_calls
from codeenv.tasks.digest import canonical
from codeenv.tasks.models import Recipe, Replay
from codeenv.tasks.packing import unpack
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Delta, Entry, Tree
from tests.toytask import make_task

ANSWER = "0" * 16
SCRIPT = json.dumps([["pkg:Box", ["a\ud800", {"b": 1}["b"]]], [[0, "put"], [], {"x": 1.5}]])


class TestRecipes:
    def test_what_is_written_is_read_again(self):
        known = make_task().recipe
        found = known.model_copy(update={"replays": (Replay(script=SCRIPT, answer=ANSWER),)})
        again = Recipe.model_validate(unpack(json.loads(canonical(found))))
        assert again == found

    def test_a_recipe_without_replays_keeps_its_bytes(self):
        assert b"replays" not in canonical(make_task().recipe)

    @pytest.mark.parametrize("steps", [[], [[]], [[[0, "x"], []]], [["a:b", [], {}, 1]]])
    def test_a_script_that_is_none_is_refused(self, steps):
        with pytest.raises(ValidationError):
            Replay(script=json.dumps(steps), answer=ANSWER)


class TestGrades:
    GRADE = Grade(True, {"t": "passed"}, {})

    def test_half_of_the_answers_of_each_function_are_enough(self):
        good = replace(self.GRADE, replayed={"a:f": (2, 4), "a:g": (5, 5)})
        assert (good.not_passed, good.special_cased) == ({}, False)
        assert good.components["replay"] == 7 / 9

    def test_fewer_are_not_and_the_grade_names_the_function(self):
        bad = replace(self.GRADE, replayed={"a:f": (1, 4), "a:g": (5, 5)})
        assert bad.not_passed == {"replay of a:f": "failed"}
        assert bad.special_cased


CODE = """
import random, time

class Box:
    def __init__(self, size=3, *, name="box"):
        self.size, self.name, self.held = size, name, []

    def put(self, *things, front=False):
        self.held = [*things, *self.held] if front else [*self.held, *things]
        return self

    @property
    def full(self):
        return len(self.held) >= self.size

    @classmethod
    def of(cls, things):
        return cls(len(things)).put(*things)

    def __len__(self):
        return len(self.held)

def double(word, times=2):
    return _again(word, times)

def _again(word, times):
    return word * times

def count(last):
    yield from range(last)

def apply(function, value):
    return function(value)

def chance():
    return random.random()

def extend(words, more):
    words.extend(more)
"""
TESTS = """
import pytest, random
from box import Box, apply, chance, count, double, extend

def test_function():
    assert double("ab") == "abab"
    assert double("ab", 3) == "ababab"

def test_object():
    box = Box(2, name="mine")
    box.put("x").put("y", front=True)
    assert box.full and len(box) == 2

def test_class():
    assert Box.of(["a"]).full

def test_generator():
    assert list(count(3)) == [0, 1, 2]

def test_own_function():
    assert apply(lambda x: x + 1, 1) == 2

def test_unknown_past():
    box = Box()
    apply(lambda b: b.put(1), box)
    assert len(box) == 1

def test_random_argument():
    assert double(str(random.random()))

def test_changed():
    words = ["a"]
    extend(words, ["b"])
    assert words == ["a", "b"]
"""
FILES = {"box.py": CODE, "test_box.py": TESTS, "pyproject.toml": "[project]\nname='box'\n"}


def tree_of(texts):
    return Tree({path: Entry(text.encode()) for path, text in texts.items()})


@pytest.fixture(scope="module")
def runtime():
    with Runtime("bubblewrap") as runtime:
        yield runtime


@pytest.fixture(scope="module")
def toy(runtime):
    taskset = Taskset.load("toy")
    return {r.id: runtime.task(r, taskset) for r in taskset.recipes if r.id.startswith("toy-text")}


@pytest.fixture(scope="module")
def slugs(toy):
    return toy["toy-text-slugify-a06112fd"]


@pytest.fixture(scope="module")
def recorded(runtime, slugs):
    language, tree = runtime.grader.runs.language(slugs), tree_of(FILES)
    image = runtime.grader.runs.environments(slugs.lock)
    with runtime.backend.open(image, tree, role="grader") as box:
        found = record_calls(box, image, TestRequest(), language.layout(tree))
    return [json.loads(script) for script in found]


def replaced(task, text):
    return Delta({"src/pocketbook/text.py": Entry(text.encode())})


@pytest.mark.bubblewrap
class TestRecording:
    def test_functions_are_recorded_without_their_defaults(self, recorded):
        assert [["box:double", ["ab"]]] in recorded
        assert [["box:double", ["ab", 3]]] in recorded

    def test_what_the_code_calls_itself_is_not(self, recorded):
        assert "_again" not in json.dumps(recorded)

    def test_objects_are_made_again_with_all_that_happened_to_them(self, recorded):
        made = ["box:Box", [2], {"name": "mine"}]
        puts = [[[0, "put"], ["x"]], [[0, "put"], ["y"], {"front": True}]]
        assert [made, *puts, [[0, "full"]]] in recorded
        assert [made, *puts, [[0, "full"]], [[0, "__len__"], []]] in recorded

    def test_class_methods_and_generators_are(self, recorded):
        assert [["box:Box.of", [["list", "a"]]], [[0, "full"]]] in recorded
        assert [["box:count", [3]]] in recorded

    def test_a_call_with_a_function_of_a_test_is_not(self, recorded):
        assert "box:apply" not in json.dumps(recorded)

    def test_an_object_of_which_not_all_is_known_is_forgotten(self, recorded):
        assert [["box:Box", []]] in recorded
        assert [["box:Box", []], [[0, "__len__"], []]] not in recorded


@pytest.mark.bubblewrap
class TestReal:
    def test_a_recipe_gets_the_same_replays_again(self, runtime, slugs):
        assert slugs.recipe.replays
        assert with_replays(slugs, runtime.grader.runs) == slugs.recipe

    def test_most_of_the_bundled_tasks_have_some(self, toy):
        having = [name for name, task in toy.items() if task.recipe.replays]
        assert len(having) > len(toy) / 2

    def test_the_solution_answers_all_and_the_damaged_tree_none(self, runtime, toy):
        for task in toy.values():
            right = replay(task, task.oracle, runtime.grader.runs, 0)
            wrong = replay(task, Delta(), runtime.grader.runs, 0)
            assert all(good == asked for good, asked in right.values())
            assert not any(good for good, _ in wrong.values())

    def test_code_that_ends_the_process_answers_nothing(self, runtime, slugs):
        found = replay(slugs, replaced(slugs, "import os\nos._exit(0)\n"), runtime.grader.runs, 0)
        assert list(found.values()) == [(0, len(slugs.recipe.replays))]

    def test_who_answers_twice_has_answered_nothing(self, runtime, slugs):
        runs = runtime.grader.runs
        text = """
import json, os
def slugify(text, *args, **kwargs):
    for number in range(200, 220):
        for script in range(9):
            try:
                os.write(number, b'{"script": %d, "answer": "[1]"}\\n' % script)
            except OSError:
                pass
    return "a"
"""
        image = runs.environments(slugs.lock)
        scripts = [json.dumps([["slug:slugify", ["x"]]])] * 2
        with runtime.backend.open(image, tree_of({"slug.py": text}), role="grader") as box:
            told = call_again(box, image, scripts, [0, 1], request=TestRequest((), 30.0, 5.0))
        assert told.keys().isdisjoint({0, 1})

    def test_the_grade_tells_what_was_replayed_unless_it_is_open(self, runtime, slugs):
        sealed = runtime.grader.grade(slugs, slugs.oracle)
        plain = Runtime(runtime.backend, grading=GradingOptions("open")).grader
        assert sealed.replayed == {"pocketbook.text:slugify": (5, 5)}
        assert plain.grade(slugs, slugs.oracle).replayed == {}
