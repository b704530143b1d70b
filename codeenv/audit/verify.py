"""Calibrates a task: doing nothing scores 0, the original code scores 1, every time."""

from collections.abc import Mapping, Sequence

from codeenv.audit.models import Verification
from codeenv.grading import Grade, Grader, collect_submission
from codeenv.grading.models import TestStatus
from codeenv.languages import get_language
from codeenv.languages.base import Language
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.tree import Delta

_TOLD = 3


def verify_task(
    task: Task,
    grader: Grader,
    repeat: int = 1,
    *,
    suite: bool = True,
    language: Language | None = None,
) -> Verification:
    """Grade nothing and the oracle ``repeat`` times each, in fresh boxes.

    The oracle's work is collected like an agent's, so that a task whose solution would not be
    admitted is found out here.

    Args:
        task: The task.
        grader: Of the task's environment.
        repeat: Grades of each.
        suite: Whether the other tests run, too: with the oracle every time, with nothing once.
        language: Of the repository, if not the recipe's own.
    """
    spoken = language or get_language(task.recipe.language)
    solved = without_git(task.workspace).apply(task.oracle)
    oracle = collect_submission(task, solved, language=spoken)
    nops = [grader.grade(task, Delta(), pass_to_pass=suite and turn == 0) for turn in range(repeat)]
    oracles = [grader.grade(task, oracle, pass_to_pass=suite) for _ in range(repeat)]
    problems = [
        *(f"oracle: {path} is not admitted" for path in oracle.ignored[:_TOLD]),
        *_problems("nop", nops, expected=0.0),
        *_broken(nops[0]),
        *(problem for nop in nops for problem in _passing(nop)),
        *_problems("oracle", oracles, expected=1.0),
    ]
    return Verification(
        task.id,
        tuple(_reward(grade) for grade in nops),
        tuple(_reward(grade) for grade in oracles),
        tuple(dict.fromkeys(problems)),
    )


def _reward(grade: Grade) -> float | None:
    return float(grade.resolved) if grade.valid else None


def _problems(who: str, grades: list[Grade], *, expected: float) -> list[str]:
    out = []
    for grade in grades:
        reward = _reward(grade)
        if reward is None:
            out.append(f"{who}: the grader failed: {grade.error}")
        elif reward != expected:
            out.append(f"{who}: reward {reward:g} instead of {expected:g}{_why(grade)}")
    return out


def _broken(nop: Grade) -> list[str]:
    """Return the problem that code outside the feature does not work without it."""
    wrong = _not_passed(nop.pass_to_pass) if nop.valid else ""
    return [f"nop: other tests do not pass{wrong}"] if wrong else []


def _passing(nop: Grade) -> list[str]:
    """Return the problem that tests which should need the feature pass without it."""
    told = [test for test, status in nop.fail_to_pass.items() if status == "passed"]
    return [f"nop: pass without the feature: {_first(told)}"] if told else []


def _why(grade: Grade) -> str:
    return _not_passed(grade.not_passed)


def _not_passed(statuses: Mapping[str, TestStatus]) -> str:
    wrong = [f"{test} {status}" for test, status in statuses.items() if status != "passed"]
    return f" ({_first(wrong)})" if wrong else ""


def _first(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _TOLD} more" if len(texts) > _TOLD else ""
    return f"{'; '.join(texts[:_TOLD])}{more}"
