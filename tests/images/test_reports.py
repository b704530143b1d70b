"""Reports of builds: kept, found again, and not made twice."""

import pytest

from codeenv.errors import UsageError
from codeenv.images import build as build_module
from codeenv.images import build_environment, records
from codeenv.images.recipe_files import write_recipe_files
from codeenv.images.reports import build_and_judge, known_report
from codeenv.images.verdict import CheckResult, Judge
from codeenv.sources import Checkout
from codeenv.tasks.models import SourcePin
from tests.images.fakes import LAYOUT, TREE, FakeBackend, FakeLanguage, install, run


class Language(FakeLanguage):
    """Imports all that there is."""

    def probe_imports(self, box, image, layout):
        return {}


@pytest.fixture(autouse=True)
def prepared_base(index, base, monkeypatch):
    monkeypatch.setattr(build_module, "ensure_base", lambda kind="auto": base)
    monkeypatch.setattr(records, "named_base", lambda name: base)
    monkeypatch.setattr(
        "codeenv.images.verdict.run_check", lambda *args: CheckResult(args[-1], True, "")
    )


SOURCE = Checkout(SourcePin(kind="path", location="/x", sha256="a" * 64, tree="b" * 64), TREE)


def build(outcome, told=None):
    language = Language(["helper"], outcome)
    judge = Judge(TREE, LAYOUT, language, FakeBackend(install))
    log = told.append if told is not None else print
    report, environment = build_and_judge(SOURCE, judge, log)
    return report, environment, language


def test_a_report_is_kept_with_its_lock_and_log():
    report, environment, _ = build(lambda names, request: run("a", "b"))
    assert report.verdict.accepted
    assert known_report(TREE) == report
    assert report.lock == environment.lock
    assert report.layer == environment.image.layers[0].digest
    assert "pytest: 2 passed" in report.log


def test_what_was_accepted_is_not_judged_again():
    build(lambda names, request: run("a", "b"))
    report, _, language = build(lambda names, request: run("a", "b"))
    assert language.runs == []
    assert "pytest: 2 passed" in report.log, "the log is that of the build"


def test_what_was_discarded_is_judged_again():
    answers = iter([run("a", "b"), run("a", "b"), run("a", failed=["b"])])
    report, _, _ = build(lambda names, request: next(answers))
    assert report.verdict.reason == "too_few_pass"
    report, _, _ = build(lambda names, request: run("a", "b"))
    assert report.verdict.accepted


def test_a_failed_build_is_a_verdict_with_a_hint_and_a_log():
    report, environment, _ = build(lambda names, request: run(errors={"test_thing.py": "Boom"}))
    assert environment is None
    assert report.verdict.reason == "nothing_passes"
    assert "Boom" in report.verdict.told
    assert any("not collected" in line for line in report.log)
    assert known_report(TREE) == report


def test_odd_bytes_in_names_and_messages_do_not_lose_a_report():
    report, _, _ = build(lambda names, request: run(errors={"t\udcff.py": "Boom \udcff"}))
    assert report.verdict.reason == "nothing_passes"
    assert "Boom ?" in known_report(TREE).verdict.told


def test_a_tree_that_was_never_built_has_no_report(cache):
    assert known_report(TREE) is None


def test_an_environment_is_written_as_files_that_make_it_again(tmp_path):
    language = Language(["helper"], lambda names, request: run("a"))
    environment = build_environment(TREE, language, LAYOUT, FakeBackend(install))
    write_recipe_files(tmp_path / "out", environment)
    write_recipe_files(tmp_path / "out", environment)

    requirements = (tmp_path / "out" / "requirements.txt").read_text()
    assert requirements.splitlines()[0] == f"helper==1.0 --hash=sha256:{'a' * 64}"
    dockerfile = (tmp_path / "out" / "Dockerfile").read_text()
    assert "--require-hashes" in dockerfile
    assert 'ENV LANG="C.UTF-8" PATH="/opt/env/bin:' in dockerfile
    assert "USER 1000:1000" in dockerfile
    assert list((tmp_path / "out" / "bin").iterdir()) == []
    names = {path.name for path in (tmp_path / "out" / "site").iterdir()}
    assert names == {"_codeenv_project.pth", "thing-1.0.dist-info"}


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    environment = build_environment(
        TREE, Language([], lambda names, request: run("a")), LAYOUT, FakeBackend(install)
    )
    with pytest.raises(UsageError, match="not empty"):
        write_recipe_files(tmp_path, environment)
    assert [path.name for path in tmp_path.glob("*.txt")] == ["mine.txt"]
