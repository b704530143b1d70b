"""Repairs on the ladder: what the system lacks, what files of the repository do for their tests."""

from dataclasses import replace

import pytest

from codeenv.errors import BuildError, SandboxError
from codeenv.images import build as build_module
from codeenv.images import build_environment, ladder, records, restore_environment
from codeenv.images.allowed import packages_in
from codeenv.languages.base import TestResult, TestRun
from codeenv.tree import Entry, Tree
from tests.images.fakes import LAYOUT, PASS, TREE, FakeBackend, FakeLanguage, install, run

NO_DOT = TestResult("failed", message="FileNotFoundError: No such file or directory: 'dot'")


class Language(FakeLanguage):
    """What passes depends on the image."""

    def run_tests(self, sandbox, image, request):
        self.runs.append((image.base, dict(image.variables), request.test_timeout))
        return self.outcome(image)


@pytest.fixture
def bases(index, base, monkeypatch):
    """Bases with more packages are made of their names alone; ``nonsuch`` does not exist."""
    asked = []

    def extended(before, packages):
        asked.append(list(packages))
        if "libreoffice" in packages:
            raise BuildError("the mirror cannot be reached")
        known = sorted({*packages_in(before.name), *packages} - {"nonsuch"})
        if known == sorted(packages_in(before.name)):
            return before
        name = f"{before.name.partition('+')[0]}+{','.join(known)}"
        return replace(before, name=name, digest=name)

    def named(name):
        return replace(base, name=name, digest=name) if "+" in name else base

    monkeypatch.setattr(build_module, "ensure_base", lambda kind="auto": base)
    monkeypatch.setattr("codeenv.images.restore.named_base", named)
    monkeypatch.setattr(records, "named_base", named)
    monkeypatch.setattr(ladder, "extended_base", extended)
    return asked


def build(outcome, tree=TREE, told=None):
    language = Language([], outcome)
    log = told.append if told is not None else print
    found = build_environment(tree, language, LAYOUT, FakeBackend(install), log=log)
    return found, language


def test_a_program_that_tests_miss_is_put_into_the_base(bases):
    def outcome(image):
        if "graphviz" in image.base:
            return run("a", "b")
        return TestRun(("a", "b"), {"a": PASS, "b": NO_DOT}, True, 1)

    told = []
    found, _ = build(outcome, told=told)
    assert found.lock.base.endswith("+graphviz")
    assert bases == [["graphviz"]]
    again, _ = build(outcome)
    assert again.image == found.image, "from the cache it stands on the same base"
    assert restore_environment(found.lock, FakeBackend(install)).image == found.image
    assert "missing in the system: graphviz" in "\n".join(told)
    assert "with more packages: 2 passed; without: 1 failed, 1 passed" in told


def test_packages_that_help_no_test_stay_out_and_are_not_tried_again(bases):
    result = TestRun(("a", "b"), {"a": PASS, "b": NO_DOT}, True, 1)
    found, _ = build(lambda image: result)
    assert "+" not in found.lock.base
    assert bases == [["graphviz"]]


def test_a_base_that_cannot_be_made_is_told_and_the_rest_goes_on(bases):
    missing = TestResult("failed", message="RuntimeError: libreoffice not found in PATH")
    told = []
    found, _ = build(
        lambda image: TestRun(("a", "b"), {"a": PASS, "b": missing}, True, 1), told=told
    )
    assert "+" not in found.lock.base
    assert "libreoffice cannot be had: the mirror cannot be reached" in told


def passing(ids, *passes):
    """What a run of some ids, or of a, b and c, reports where some pass."""
    wanted = ids or ("a", "b", "c")
    good = [id_ for id_ in wanted if id_ in passes]
    return run(*good, failed=[id_ for id_ in wanted if id_ not in passes])


def test_other_runners_get_the_whole_suite_only_if_they_make_a_failing_test_pass(bases):
    asked = []

    def outcome(names, request):
        asked.append(request.ids)
        return passing(request.ids, *(("a", "b") if "pytest_lt_8" in names else ("a",)))

    told = []
    found = build_environment(
        TREE, FakeLanguage([], outcome), LAYOUT, FakeBackend(install), log=told.append
    )
    assert asked == [None, ("b", "c"), ("b", "c"), None]
    assert "pytest<9: no more tests pass" in told
    assert [package.name for package in found.lock.packages] == ["pytest-lt-8"]


def test_a_file_that_cannot_be_collected_is_looked_at_before_the_whole_suite_runs(bases):
    asked = []

    def outcome(names, request):
        asked.append(request.ids)
        if "pytest_lt_8" in names:
            return run("a", "b") if request.ids is None else run()
        return run("a", errors={"test_thing.py": "KeyError: 'x'"})

    found = build_environment(TREE, FakeLanguage([], outcome), LAYOUT, FakeBackend(install))
    assert asked == [None, ("test_thing.py::",), ("test_thing.py::",), None]
    assert [package.name for package in found.lock.packages] == ["pytest-lt-8"]


def test_a_suite_that_does_not_end_in_time_is_not_run_again_for_hints(bases):
    asked = []

    def outcome(names, request):
        asked.append(request.ids)
        return replace(run("a"), complete=False, timed_out=True)

    tree = with_files(**{"tox.ini": TOX, "test_thing.py": READS})
    build_environment(tree, FakeLanguage([], outcome), LAYOUT, FakeBackend(install))
    assert asked == [None]


def test_what_hides_behind_a_missing_library_is_found_as_well(bases):
    """A library, then another one, then a module: nothing passes before all three are there."""
    lib = "ImportError: lib{}.so.1: cannot open shared object file: No such file or directory"

    class Serial(Language):
        def run_tests(self, sandbox, image, request):
            if "libfirst1" not in image.base:
                return run(errors={"test_thing.py": lib.format("first")})
            if "libsecond1" not in image.base:
                return run(errors={"test_thing.py": lib.format("second")})
            return FakeLanguage.run_tests(self, sandbox, image, request)

    def outcome(names, request):
        return run("a") if "hidden" in names else run(errors={"missing": "hidden"})

    found = build_environment(TREE, Serial([], outcome), LAYOUT, FakeBackend(install))
    assert [package.name for package in found.lock.packages] == ["hidden", "pytest"]
    assert {"libfirst1", "libsecond1"} <= set(packages_in(found.lock.base))


def test_the_project_is_never_installed_as_a_program(bases):
    missing = TestResult("failed", message="FileNotFoundError: No such file or directory: 'thing'")
    build(lambda image: TestRun(("a", "b"), {"a": PASS, "b": missing}, True, 1))
    assert bases == []


def with_files(**files):
    return Tree({**TREE, **{path: Entry(data) for path, data in files.items()}})


TOX = b"[testenv]\nsetenv =\n    THING_MODE = test\ncommands = pytest\n"
READS = b"import os\nMODE = os.environ['THING_MODE']\n"


def test_variables_that_the_repository_tests_with_are_tried_where_tests_fail(bases):
    def outcome(image):
        return run("a", "b") if image.variables.get("THING_MODE") else run("a", failed=["b"])

    tree = with_files(**{"tox.ini": TOX, "test_thing.py": READS})
    found, _ = build(outcome, tree)
    assert found.lock.variables == {"THING_MODE": "test"}
    assert found.image.variables["THING_MODE"] == "test"


def test_variables_are_left_alone_where_all_passes(bases):
    tree = with_files(**{"tox.ini": TOX, "test_thing.py": READS})
    found, language = build(lambda image: run("a"), tree)
    assert found.lock.variables == {}
    assert len(language.runs) == 1


def test_packages_that_workflows_install_are_tried_where_tests_fail(bases):
    workflow = (
        b"jobs:\n  test:\n    steps:\n    - run: sudo apt-get install -y enchant-2 nonsuch\n"
        b"    - run: pytest\n"
    )

    def outcome(image):
        return run("a", "b") if "enchant-2" in image.base else run("a", failed=["b"])

    tree = with_files(**{".github/workflows/ci.yml": workflow})
    found, _ = build(outcome, tree)
    assert found.lock.base.endswith("+enchant-2")


NO_REDIS = TestResult("failed", message="ConnectionError: Error 111 connecting to localhost:6379.")


def test_a_server_that_tests_cannot_reach_is_started_in_every_box(bases):
    def outcome(image):
        if "redis-server" in image.startup:
            return run("a", "b")
        return TestRun(("a", "b"), {"a": PASS, "b": NO_REDIS}, True, 1)

    found, _ = build(outcome)
    assert found.lock.services == ("redis",)
    assert found.lock.base.endswith("+redis-server,redis-tools")
    again, _ = build(outcome)
    assert again.image == found.image


def test_a_server_and_the_variable_that_says_where_it_is_are_tried_together(bases):
    def outcome(image):
        both = image.startup and image.variables.get("THING_MODE")
        return run("a", "b") if both else TestRun(("a", "b"), {"a": PASS, "b": NO_REDIS}, True, 1)

    found, _ = build(outcome, with_files(**{"tox.ini": TOX, "test_thing.py": READS}))
    assert (found.lock.services, found.lock.variables) == (("redis",), {"THING_MODE": "test"})


def test_a_server_that_helps_alone_still_gets_the_variable_that_helps_more(bases):
    def outcome(image):
        passed = ["a", *(["b"] if image.startup else [])]
        passed += ["c"] if image.startup and image.variables.get("THING_MODE") else []
        results = {t: PASS if t in passed else NO_REDIS for t in "abc"}
        return TestRun(tuple("abc"), results, True, 1)

    found, _ = build(outcome, with_files(**{"tox.ini": TOX, "test_thing.py": READS}))
    assert (found.lock.services, found.lock.variables) == (("redis",), {"THING_MODE": "test"})


def test_a_server_of_a_workflow_has_its_user_and_database(bases):
    workflow = (
        b"jobs:\n  test:\n    services:\n      db:\n        image: postgres:16\n        env:\n"
        b"          POSTGRES_USER: app\n          POSTGRES_DB: shop\n"
    )
    tree = with_files(**{".github/workflows/ci.yml": workflow})
    told = []
    found, _ = build(lambda image: run("a", failed=["b"]), tree, told)
    assert any("servers (postgresql user=app database=shop)" in line for line in told)
    assert found.lock.services == (), "no test passes by it"


def test_a_server_that_does_not_start_is_told_and_left_out(bases):
    def outcome(image):
        if image.startup:
            raise SandboxError("the box's servers do not start")
        return TestRun(("a", "b"), {"a": PASS, "b": NO_REDIS}, True, 1)

    told = []
    found, _ = build(outcome, told=told)
    assert found.lock.services == ()
    assert "with servers (redis): the box's servers do not start" in told


def test_a_suite_that_runs_out_of_time_ends_the_search(bases):
    slow = replace(run("a"), timed_out=True, complete=False)
    told = []
    _, language = build(lambda image: slow, told=told)
    assert len(language.runs) == 1
    assert "pytest: 1 passed, out of time" in told


def test_a_test_that_hangs_has_a_deadline_of_its_own(bases):
    _, language = build(lambda image: run("a"))
    assert all(timeout > 0 for *_, timeout in language.runs)
