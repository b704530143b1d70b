import pickle
from dataclasses import replace

import pytest

from codeenv.env.fake import fake_task
from codeenv.env.runtime import Runtime
from codeenv.env.verdicts import Verdicts
from codeenv.grading import Grade
from codeenv.grading.collect import Submission
from codeenv.tree import Delta, Entry

TASK = fake_task()


def handing_in(text, *ignored):
    return Submission(Delta({"package/code.py": Entry(text.encode())}, frozenset()), ignored)


class Counting:
    def __init__(self, *, valid=True):
        self.asked, self.valid = [], valid

    def __call__(self, task, submission):
        self.asked.append(submission)
        return Grade(True, {}, {}, valid=self.valid, ignored_paths=submission.ignored)


def test_the_same_files_are_graded_once():
    grade = Counting()
    verdicts = Verdicts(grade, 8)

    given = [verdicts.of(TASK, handing_in("x = 1\n")) for _ in range(3)]

    assert len(grade.asked) == 1
    assert len(set(map(repr, given))) == 1


@pytest.mark.parametrize(
    "other",
    [
        handing_in("x = 2\n"),
        Submission(Delta({"package/other.py": Entry(b"x = 1\n")}, frozenset())),
        Submission(Delta({"package/code.py": Entry(b"x = 1\n")}, frozenset({"package/b.py"}))),
        Submission(Delta({"package/code.py": Entry(b"x = 1\n", "exec")}, frozenset())),
    ],
    ids=["other text", "other path", "another file gone", "other mode"],
)
def test_other_files_are_graded_anew(other):
    grade = Counting()
    verdicts = Verdicts(grade, 8)

    verdicts.of(TASK, handing_in("x = 1\n"))
    verdicts.of(TASK, other)

    assert len(grade.asked) == 2


def test_another_task_is_graded_anew():
    grade = Counting()
    verdicts = Verdicts(grade, 8)
    other = replace(TASK, recipe=TASK.recipe.model_copy(update={"id": "another"}))

    verdicts.of(TASK, handing_in("x = 1\n"))
    verdicts.of(other, handing_in("x = 1\n"))

    assert len(grade.asked) == 2


def test_a_verdict_that_is_not_valid_is_given_and_not_kept():
    grade = Counting(valid=False)
    verdicts = Verdicts(grade, 8)

    given = [verdicts.of(TASK, handing_in("x = 1\n")) for _ in range(2)]

    assert [g.valid for g in given] == [False, False]
    assert len(grade.asked) == 2


def test_what_was_ignored_is_told_of_each_submission():
    verdicts = Verdicts(Counting(), 8)

    verdicts.of(TASK, handing_in("x = 1\n"))

    assert verdicts.of(TASK, handing_in("x = 1\n", "tests/a.py")).ignored_paths == ("tests/a.py",)


def test_a_runtime_keeps_its_option_when_it_is_pickled():
    runtime = pickle.loads(pickle.dumps(Runtime("bubblewrap", grades_kept=5)))

    assert runtime.__getstate__()["options"][-1] == 5
