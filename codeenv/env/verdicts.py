"""Verdicts that were given before: rollouts of a group often hand the same files in."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from codeenv.env.memo import Memo
from codeenv.grading import Grade
from codeenv.grading.collect import Submission
from codeenv.materialise.models import Task
from codeenv.tasks.digest import digest_of
from codeenv.tree import Tree

GradeSubmission = Callable[[Task, Submission], Grade]


class Verdicts:
    """Grades each submission to a task once; a verdict that is not valid is not kept.

    Thread-safe: who asks while the same submission is being graded waits for it.
    """

    def __init__(self, grade: GradeSubmission, size: int) -> None:
        """Grade with ``grade``, and keep the ``size`` verdicts used last."""
        self._grade = grade
        self._kept: Memo[str, Grade] = Memo(size)

    def of(self, task: Task, submission: Submission) -> Grade:
        """Return the verdict on a submission.

        Raises:
            SandboxError: If the grader's sandbox failed.
        """
        try:
            grade = self._kept.get(_key(task, submission), lambda: self._valid(task, submission))
        except _NotValid as error:
            return error.grade
        return replace(grade, ignored_paths=submission.ignored)

    def _valid(self, task: Task, submission: Submission) -> Grade:
        grade = self._grade(task, submission)
        if not grade.valid:
            raise _NotValid(grade)
        return grade


class _NotValid(Exception):
    """Carries a verdict past the memo."""

    def __init__(self, grade: Grade) -> None:
        super().__init__(grade.error)
        self.grade = grade


def _key(task: Task, submission: Submission) -> str:
    delta = submission.delta
    gone = hashlib.sha256("\0".join(sorted(delta.delete)).encode("utf-8", "surrogateescape"))
    return f"{digest_of(task.recipe)} {Tree(delta.write).digest} {gone.hexdigest()}"
