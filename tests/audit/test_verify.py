from dataclasses import replace
from pathlib import Path

from codeenv.audit import verify_task
from codeenv.grading import Grader
from codeenv.languages.base import TestRequest, TestResult, TestRun
from codeenv.materialise.models import Task
from codeenv.sandbox.fake import FakeBackend
from codeenv.sandbox.image import Image
from codeenv.tree import Delta, Entry, Tree
from tests.toytask import WRAP_TESTS, Script, ScriptedLanguage, honest, make_task

TASK = make_task()
IMAGE = Image("i" * 64, "base", Path("/"), ())


def verify(task: Task = TASK, script: Script = honest, failures: int = 0, repeat: int = 1):
    language = ScriptedLanguage(script)
    grader = Grader(
        FakeBackend(failures=failures), environments=lambda _: IMAGE, languages=lambda _: language
    )
    return verify_task(task, grader, repeat)


def test_a_good_task_is_0_for_nothing_and_1_for_the_oracle_every_time():
    found = verify(repeat=3)
    assert found.nop_rewards == (0.0, 0.0, 0.0)
    assert found.oracle_rewards == (1.0, 1.0, 1.0)
    assert found.ok
    assert found.task_id == TASK.id


def test_tests_that_pass_without_the_feature_are_a_problem():
    def script(tree: Tree, request: TestRequest) -> TestRun:
        return honest(tree.apply(TASK.oracle), request)

    found = verify(script=script)
    assert not found.ok
    assert found.problems[0] == "nop: reward 1 instead of 0"


def test_one_test_that_passes_without_the_feature_is_a_problem_though_nothing_scores_0():
    lucky = TASK.fail_to_pass[0]

    def script(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        return replace(run, results={**run.results, lucky: TestResult("passed")})

    found = verify(script=script)
    assert found.nop_rewards == (0.0,)
    assert found.problems == (f"nop: pass without the feature: {lucky}",)


def test_code_outside_the_feature_that_does_not_work_without_it_is_a_problem():
    broken = WRAP_TESTS[0]

    def script(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        works = b"def slug" in tree["src/notes/text.py"].data or broken not in run.results
        return run if works else replace(run, results={broken: TestResult("failed")})

    found = verify(script=script)
    assert "nop: other tests do not pass" in found.problems[0]
    assert f"{broken} failed" in found.problems[0]
    assert (found.nop_rewards, found.oracle_rewards) == ((0.0,), (1.0,))


def test_an_oracle_that_fails_is_a_problem_that_names_tests():
    found = verify(replace(TASK, oracle=Delta({"src/notes/text.py": Entry(b"")})))
    assert not found.ok
    assert "oracle: reward 0 instead of 1 (tests/test_text.py::" in found.problems[0]


def test_an_oracle_that_is_not_admitted_is_a_problem():
    oracle = Delta({**TASK.oracle.write, "setup.py": Entry(b"")})
    found = verify(replace(TASK, oracle=oracle))
    assert found.problems == ("oracle: setup.py is not admitted",)


def test_a_failed_grader_is_a_problem_and_no_reward():
    found = verify(failures=2)
    assert found.nop_rewards == (None,)
    assert "nop: the grader failed" in found.problems[0]
