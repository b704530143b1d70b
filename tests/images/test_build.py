from dataclasses import replace

import pytest

from codeenv.errors import BuildError
from codeenv.images import build as build_module
from codeenv.images import build_environment, restore_environment
from codeenv.languages.base import TestResult, TestRun
from codeenv.tree import Entry, Tree
from tests.images.fakes import (
    LAYOUT,
    PASS,
    TREE,
    FakeBackend,
    FakeLanguage,
    install,
    read_layer,
    run,
)


@pytest.fixture(autouse=True)
def prepared_base(index, base, monkeypatch):
    monkeypatch.setattr(build_module, "ensure_base", lambda kind="auto": base)
    monkeypatch.setattr("codeenv.images.restore.named_base", lambda name: base)
    return base


@pytest.fixture
def backend():
    return FakeBackend(install)


def names(environment):
    return [package.name for package in environment.lock.packages]


def test_the_first_clean_rung_is_kept(backend):
    language = FakeLanguage(["helper"], lambda names, request: run("a", "b"))
    environment = build_environment(TREE, language, LAYOUT, backend)
    assert names(environment) == ["helper", "pytest"]
    assert len(backend.jobs) == 1
    assert environment.lock.metadata == ("thing==1.0",)
    assert environment.image.python == "/opt/env/bin/python"
    assert environment.image.layers[0].target == "/opt/env"


def test_an_older_runner_is_tried_when_the_newest_cannot_collect(backend):
    def outcome(names, request):
        return run("a", "b") if "pytest_lt_9" in names else run("a", errors={"f.py": "no"})

    told = []
    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend, log=told.append)
    assert names(found) == ["pytest-lt-9"]
    assert any("not collected" in line for line in told)


def test_the_rung_with_most_passing_tests_is_kept_when_none_is_clean(backend):
    passing = {"pytest": ["a"], "pytest_lt_9": ["a", "b", "c"], "pytest_lt_8": ["a", "b"]}

    def outcome(names, request):
        return run(*passing[min(names)], errors={"f.py": "no"})

    assert names(build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend)) == [
        "pytest-lt-9"
    ]


NOSE = TestResult("failed", message="AttributeError: 'TestA' object has no attribute 'x'")
OLD_HOOK = (
    "Plugin '/workspace/conftest.py' for hook 'pytest_ignore_collect' hookimpl definition: "
    "pytest_ignore_collect(path, config) Argument(s) {'path'} are declared in the hookimpl but "
    "can not be found in the hookspec"
)


def test_suites_that_need_the_set_up_of_nose_get_the_last_pytest_that_calls_it(backend):
    def outcome(names, request):
        if "pytest_lt_8" in names:
            return run("t.py::TestA::test_a", "t.py::test_b")
        results = {"t.py::TestA::test_a": NOSE, "t.py::test_b": PASS}
        return TestRun(tuple(results), results, complete=True, exit_code=1)

    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend)
    assert names(found) == ["pytest-lt-8"]


def test_hooks_of_an_older_pytest_get_the_last_pytest_that_accepts_them(backend):
    def outcome(names, request):
        if "pytest_lt_9" in names:
            return run("a")
        return TestRun((), {}, complete=False, exit_code=1, errors={"<options>": OLD_HOOK})

    told = []
    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend, log=told.append)
    assert names(found) == ["pytest-lt-9"]
    assert any("pytest_ignore_collect(path, config)" in line for line in told)


def test_missing_modules_are_added_until_none_is_missing(backend):
    def outcome(names, request):
        for needed in ("yaml", "dateutil"):
            if needed not in names:
                return run("a", errors={"missing": needed})
        return run("a", "b")

    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend)
    assert names(found) == ["dateutil", "pytest", "yaml"]


def test_a_missing_module_is_what_an_extra_of_the_project_names(backend, monkeypatch):
    plan = FakeLanguage([], None).plan(None, None)
    stated = replace(plan, optional=("railroad-diagrams",))
    monkeypatch.setattr(FakeLanguage, "plan", lambda self, tree, layout: stated)

    def outcome(names, request):
        return run("a") if "railroad-diagrams" in names else run(errors={"missing": "railroad"})

    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend)
    assert names(found) == ["pytest", "railroad-diagrams"]


def test_what_tests_are_skipped_for_is_installed_if_an_extra_names_it(backend, monkeypatch):
    plan = FakeLanguage(["six"], None).plan(TREE, LAYOUT)
    stated = replace(plan, optional=("docs-theme", "trio>=0.3"))
    monkeypatch.setattr(FakeLanguage, "plan", lambda *_: stated)
    skipped = {"b": TestResult("skipped", message="trio"), "c": TestResult("skipped", message="x")}

    def outcome(names, request):
        return run("a", "b") if any("trio" in n for n in names) else _with(run("a"), skipped)

    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend)

    assert any("trio" in p.name for p in found.lock.packages)
    assert not any("docs" in p.name for p in found.lock.packages)


def _with(found, results):
    return replace(found, collected=("a", *results), results={**found.results, **results})


def test_a_module_that_stays_missing_does_not_loop(backend):
    language = FakeLanguage([], lambda names, request: run("a", errors={"missing": "ghost"}))
    build_environment(TREE, language, LAYOUT, backend)
    assert len(backend.jobs) <= 6


def test_a_module_that_no_index_has_is_asked_for_once_and_older_runners_are_still_tried(backend):
    def outcome(names, request):
        passed = ("a", "b") if "pytest_lt_9" in names else ("a",)
        return run(*passed, errors={"missing": "broken"})

    told = []
    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend, log=told.append)
    assert names(found) == ["pytest-lt-9"]
    assert len([line for line in told if line == "missing: broken"]) <= 3, "once for each rung"


def test_the_project_is_never_installed_as_its_own_missing_module(backend):
    language = FakeLanguage([], lambda names, request: run("a", errors={"missing": "thing"}))
    assert "thing" not in names(build_environment(TREE, language, LAYOUT, backend))


def test_a_dependency_that_brings_the_project_itself_is_cleaned(backend):
    language = FakeLanguage(["thing"], lambda names, request: run("a"))
    found = build_environment(TREE, language, LAYOUT, backend)
    assert names(found) == ["pytest"]
    assert not [p for p in read_layer(found.image.layers[0]) if "/thing/" in p]


def test_what_cannot_be_installed_is_left_out(backend):
    told = []
    language = FakeLanguage(["broken", "helper"], lambda names, request: run("a"))
    found = build_environment(TREE, language, LAYOUT, backend, log=told.append)
    assert names(found) == ["helper", "pytest"]
    assert any("cannot be installed" in line and "broken" in line for line in told)


def test_own_options_are_switched_off_when_the_runner_refuses_them(backend):
    def outcome(names, request):
        return run("a") if request.options else run(exit_code=4)

    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, backend)
    assert found.lock.test_options == ("-o", "addopts=")


def test_tests_that_the_runner_does_not_find_are_an_error_that_says_what_to_do(backend):
    language = FakeLanguage([], lambda names, request: run())
    with pytest.raises(BuildError, match=r"finds no test here.*test_thing\.py") as error:
        build_environment(TREE, language, LAYOUT, backend)
    assert "python_files" in error.value.hint


def test_no_passing_test_at_all_is_an_error_that_says_why(backend):
    language = FakeLanguage(
        [], lambda names, request: run(errors={"test_x.py": "SyntaxError: bad"})
    )
    with pytest.raises(BuildError, match=r"no test passes.*test_x\.py: SyntaxError: bad"):
        build_environment(TREE, language, LAYOUT, backend)


def test_an_environment_is_built_once(backend):
    language = FakeLanguage([], lambda names, request: run("a"))
    first = build_environment(TREE, language, LAYOUT, backend)
    assert build_environment(TREE, language, LAYOUT, backend) == first
    assert len(backend.jobs) == 1


def test_a_lock_gives_the_same_environment_again(backend, cache):
    built = build_environment(
        TREE, FakeLanguage(["helper"], lambda n, r: run("a")), LAYOUT, backend
    )
    assert restore_environment(built.lock, backend).image == built.image
    for file in (cache / "environments").iterdir():
        file.unlink()
    backend.answer = lambda job: install(type(job)(**{**vars(job), "inputs": _bare(job.inputs)}))
    restored = restore_environment(built.lock, backend)
    assert restored.digest == built.digest
    assert "--require-hashes" in backend.jobs[-1].script


def _bare(inputs):
    lines = inputs["requirements.txt"].data.decode().splitlines()
    text = "".join(line.split("==")[0] + "\n" for line in lines)
    return Tree({**inputs, "requirements.txt": Entry(text.encode())})


def test_a_lock_for_another_machine_is_refused(backend):
    built = build_environment(TREE, FakeLanguage([], lambda n, r: run("a")), LAYOUT, backend)
    other = built.lock.model_copy(update={"platform": "s390x"})
    with pytest.raises(BuildError, match="locked for s390x"):
        restore_environment(other, backend)


def test_a_lock_for_another_python_is_refused(backend, cache):
    built = build_environment(TREE, FakeLanguage([], lambda n, r: run("a")), LAYOUT, backend)
    other = built.lock.model_copy(update={"python": "3.9.1"})
    with pytest.raises(BuildError, match=r"locked for Python 3\.9\.1"):
        restore_environment(other, backend)
