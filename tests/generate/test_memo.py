"""What an interrupted run has done is not done again."""

from pathlib import Path

import pytest

from codeenv.generate.memo import RunMemo, key_of
from codeenv.generate.workbench import Workbench
from codeenv.images.layers import Environment
from codeenv.languages import get_language
from codeenv.languages.base import CoverageMap, Swap, SwapResult, TestRequest, TestResult, TestRun
from codeenv.sandbox.fake import FakeBackend
from codeenv.sandbox.image import Image, Mount
from codeenv.tree import Delta, Entry, Tree
from tests.toytask import LOCK, SOURCE, ScriptedLanguage, honest

RUN = TestRun(
    ("a", "b"),
    {"a": TestResult("passed", 0.5), "b": TestResult("failed", message="\ud800 odd")},
    complete=True,
    exit_code=1,
    errors={"c.py": "no"},
    coverage=CoverageMap(("a",), {"m.py": {3: frozenset({0})}}, {"m.py": frozenset({1})}),
)


def test_a_run_comes_back_as_it_was(tmp_path):
    RunMemo(tmp_path, resume=True).keep("key", RUN)
    assert RunMemo(tmp_path, resume=True).recall("key") == RUN


def test_a_process_does_not_look_up_its_own_runs(tmp_path):
    memo = RunMemo(tmp_path, resume=True)
    memo.keep("key", RUN)
    assert memo.recall("key") is None


def test_a_run_afresh_forgets(tmp_path):
    RunMemo(tmp_path, resume=True).keep("key", RUN)
    RunMemo(tmp_path, resume=False)
    assert RunMemo(tmp_path, resume=True).recall("key") is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]"])
def test_a_torn_file_is_no_run(tmp_path, damage):
    RunMemo(tmp_path, resume=True).keep("key", RUN)
    (tmp_path / ".runs" / "key").write_bytes(damage)
    assert RunMemo(tmp_path, resume=True).recall("key") is None


def test_a_run_that_was_cut_off_is_not_kept(tmp_path):
    RunMemo(tmp_path, resume=True).keep("key", TestRun((), {}, complete=False, exit_code=-9))
    assert RunMemo(tmp_path, resume=True).recall("key") is None


def test_tries_come_back_as_they_were(tmp_path):
    tries = (
        SwapResult(
            failing=frozenset({"a", "b", "c"}),
            weak={"b": "None"},
            untried=frozenset({"c"}),
            survivors=("m.py:3: + is -",),
            mutants=4,
            waits=True,
        ),
        SwapResult(problem="not in memory: f"),
    )
    RunMemo(tmp_path, resume=True).keep_tries("key", tries)
    assert RunMemo(tmp_path, resume=True).recall_tries("key") == tries


def test_tries_that_were_cut_off_are_not_kept(tmp_path):
    tries = (SwapResult(), SwapResult(problem="the process ended before", complete=False))
    RunMemo(tmp_path, resume=True).keep_tries("key", tries)
    assert RunMemo(tmp_path, resume=True).recall_tries("key") is None


def test_a_run_is_named_by_all_that_it_depends_on():
    mount = Mount("/opt/tools", Tree({"a": Entry(b"")}))
    keys = [
        key_of("e", "t", TestRequest()),
        key_of("f", "t", TestRequest()),
        key_of("e", "u", TestRequest()),
        key_of("e", "t", TestRequest(ids=("a",))),
        key_of("e", "t", TestRequest(coverage=True)),
        key_of("e", "t", TestRequest(), mounts=(mount,)),
        key_of("e", "t", TestRequest(), swaps=(Swap((("m.py", "f"),), ("a",)),)),
        key_of("e", "t", TestRequest(), swaps=(Swap((("m.py", "g"),), ("a",)),)),
    ]
    assert len(set(keys)) == len(keys)
    assert key_of("e", "t", TestRequest(ids=("a",))) == keys[3]


def test_a_bench_asks_the_memo_first(tmp_path):
    changed = SOURCE.apply(Delta({"new.py": Entry(b"")}))

    def bench():
        language = ScriptedLanguage(honest)
        image = Image("i" * 64, "base", Path("/"), ())
        layout = get_language("python").layout(SOURCE)
        memo = RunMemo(tmp_path, resume=True)
        environment = Environment(LOCK, image)
        return language, Workbench(SOURCE, language, layout, environment, FakeBackend(), memo)

    first, one = bench()
    runs = [one.run(TestRequest()), one.run(TestRequest(), changed), one.run(TestRequest())]
    assert len(first.requests) == 3
    second, other = bench()
    assert [other.run(TestRequest()), other.run(TestRequest(), changed)] == runs[:2]
    assert second.requests == []
