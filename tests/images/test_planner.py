"""Planners: what they may do, what comes of it, and that only what they declare is kept."""

import json
import sys
import threading
from dataclasses import replace

import pytest
from pydantic import ValidationError

from codeenv.errors import BuildError
from codeenv.images import build as build_module
from codeenv.images import build_environment
from codeenv.images.planners.base import ACTIONS, Brief, Install, Run
from codeenv.images.planners.command import CommandPlanner
from codeenv.images.planners.workshop import MOST_ACTIONS
from codeenv.sandbox.image import InstallResult
from codeenv.tree import Entry, Tree
from tests.images.fakes import LAYOUT, TREE, FakeBackend, FakeLanguage, install, run

BRIEF = Brief("thing 1.0", "3.13.5", {}, [{"command": "true"}], ["pytest: 1 passed"], {})


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ({"action": "fly"}, "does not match any of the expected tags"),
        ({"action": "run"}, "Field required"),
        ({"action": "install", "requirements": []}, "at least 1"),
        ({"action": "install", "requirements": ["x @ git+https://h.example/x"]}, "locked by its"),
        ({"action": "install", "requirements": ["--index-url https://h.example"]}, "requirement"),
        ({"action": "install", "requirements": ["a\n-r /etc/passwd"]}, "not a requirement"),
        ({"action": "install", "requirements": ["a"], "packages": ["a;reboot"]}, "Debian package"),
        ({"action": "install", "requirements": ["a"], "packages": ["-o=x"]}, "Debian package"),
        ({"action": "install", "requirements": ["a"], "services": ["oracle"]}, "no server"),
        (
            {"action": "install", "requirements": ["a"], "variables": {"PATH": "/x"}},
            "cannot be set",
        ),
        (
            {"action": "install", "requirements": ["a"], "variables": {"PYTEST_ADDOPTS": ""}},
            "be set",
        ),
        ({"action": "install", "requirements": ["a"], "variables": {"LD_PRELOAD": "x"}}, "be set"),
    ],
)
def test_what_a_planner_may_not_ask_for_is_refused(action, problem):
    with pytest.raises(ValidationError, match=problem):
        ACTIONS.validate_python(action)


class Bench:
    """Notes what it is asked for."""

    def __init__(self):
        self.actions = []

    def act(self, action):
        self.actions.append(action)
        return {"exit_code": 0, "output": "said"}


def program(tmp_path, text):
    file = tmp_path / "planner.py"
    file.write_text(
        "import json, sys\n"
        "def hear():\n    return json.loads(sys.stdin.readline())\n"
        "def act(**action):\n    print(json.dumps(action), flush=True)\n" + text
    )
    return f"{sys.executable} {file}"


def test_a_program_hears_the_brief_acts_and_hears_what_came_of_it(tmp_path):
    command = program(
        tmp_path,
        "start = hear()\nassert start['event'] == 'start', start\n"
        "act(action='run', command=start['checks'][0]['command'])\n"
        "assert hear() == {'event': 'result', 'exit_code': 0, 'output': 'said'}\n"
        "act(action='nonsense')\nassert hear()['event'] == 'error'\n"
        "act(action='install', requirements=['pytest'])\nhear()\nact(action='done')\n"
        "import time\ntime.sleep(60)\n",
    )
    bench = Bench()
    CommandPlanner(command).plan(BRIEF, bench)
    assert bench.actions == [Run(command="true"), Install(requirements=("pytest",))]


def test_a_program_that_just_ends_is_done(tmp_path):
    CommandPlanner(program(tmp_path, "hear()\n")).plan(BRIEF, Bench())


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("/nonsuch/planner", "cannot be started"),
        ("'unbalanced", "cannot be started"),
    ],
)
def test_a_program_that_cannot_be_started_is_a_clear_error(command, problem):
    with pytest.raises(BuildError, match=problem):
        CommandPlanner(command).plan(BRIEF, Bench())


def test_a_program_that_fails_is_a_clear_error(tmp_path):
    with pytest.raises(BuildError, match="ended with exit code 3"):
        CommandPlanner(program(tmp_path, "sys.exit(3)\n")).plan(BRIEF, Bench())


def test_what_a_program_started_ends_with_it(tmp_path):
    command = f"bash -c '{program(tmp_path, 'import time; time.sleep(60)')} | cat; true'"
    with pytest.raises(BuildError, match="exit code -9"):
        CommandPlanner(command, timeout=0.5).plan(BRIEF, Bench())


def test_the_time_that_the_bench_takes_is_not_the_program_s(tmp_path):
    class Slow(Bench):
        def act(self, action):
            ended.wait(1.0)
            return super().act(action)

    ended = threading.Event()
    CommandPlanner(
        program(tmp_path, "hear()\nact(action='run', command='x')\nhear()\n"), timeout=0.8
    ).plan(BRIEF, Slow())


def test_a_program_that_does_not_end_is_ended(tmp_path):
    command = program(tmp_path, "import time\ntime.sleep(60)\n")
    with pytest.raises(BuildError, match="exit code -9"):
        CommandPlanner(command, timeout=0.5).plan(BRIEF, Bench())


class Scripted:
    """A planner that does ready actions."""

    def __init__(self, *actions):
        self.actions, self.heard, self.brief = actions, [], None

    def plan(self, brief, bench):
        self.brief = brief
        self.heard = [bench.act(action) for action in self.actions]


@pytest.fixture(autouse=True)
def prepared_base(index, base, monkeypatch):
    monkeypatch.setattr(build_module, "ensure_base", lambda kind="auto": base)
    monkeypatch.setattr("codeenv.images.planners.workshop.extended_base", lambda base, names: base)


def build(planner, outcome, answer=install, told=None):
    backend = FakeBackend(answer)
    backend.open = opened(backend.open)
    found = build_environment(
        TREE,
        FakeLanguage(["helper"], outcome),
        LAYOUT,
        backend,
        planner=planner,
        log=(told if told is not None else []).append,
    )
    return found, backend


def opened(inner):
    def open_(image, workspace, **options):
        box = inner(image, workspace, **options)
        box.exec = lambda command, timeout: type(
            "Result", (), {"timed_out": False, "exit_code": 0, "text": "1.0"}
        )()
        return box

    return open_


def more_with(name):
    return lambda names, request: run("a", "b") if name in names else run("a", failed=["b"])


def test_what_a_planner_declares_becomes_the_environment_if_more_tests_pass():
    planner = Scripted(
        Install(requirements=("pytest", "better"), variables={"MODE": "x"}),
        Install(requirements=("pytest",)),
    )
    told = []
    found, _ = build(planner, more_with("better"), told=told)
    assert [package.name for package in found.lock.packages] == ["better", "pytest"]
    assert found.lock.variables == {"MODE": "x"}
    assert [heard["passed"] for heard in planner.heard] == [2, 1]
    assert planner.brief.state["passed"] == 1
    assert "planner installs: pytest, better, MODE" in told


def test_a_planner_sees_only_the_checks_that_do_not_judge():
    planner = Scripted(Install(requirements=("pytest",)))
    build(planner, more_with("better"))
    plan = build_module.make_environment_plan(TREE, FakeLanguage(["helper"], None), LAYOUT)
    shown = [check["command"] for check in planner.brief.checks]
    assert shown == [check.command for check in plan.shown]
    assert not set(shown) & {check.command for check in plan.held_out}
    assert [check["command"] for check in planner.heard[0]["checks"]] == shown


def test_the_project_itself_is_never_part_of_what_a_planner_makes():
    planner = Scripted(Install(requirements=("pytest", "thing", "better")))
    found, _ = build(planner, more_with("better"))
    assert [package.name for package in found.lock.packages] == ["better", "pytest"]


def test_a_base_that_holds_the_project_is_refused_and_the_planner_is_told(
    tmp_path, base, monkeypatch
):
    folder = tmp_path / "twin" / "usr" / "lib" / "python3" / "dist-packages"
    folder.mkdir(parents=True)
    (folder / "thing.py").write_text("")
    twin = replace(base, rootfs=tmp_path / "twin")
    monkeypatch.setattr("codeenv.images.planners.workshop.extended_base", lambda base, names: twin)
    planner = Scripted(Install(requirements=("pytest", "better"), packages=("python3-thing",)))
    found, _ = build(planner, more_with("better"))
    assert (
        "the project itself (usr/lib/python3/dist-packages/thing.py)"
        in (planner.heard[0]["problem"])
    )
    assert [package.name for package in found.lock.packages] == ["helper", "pytest"]


def test_a_planner_that_fails_costs_nothing_that_was_there():
    class Failing(Scripted):
        def plan(self, brief, bench):
            super().plan(brief, bench)
            raise BuildError("the server is down")

    told = []
    found, _ = build(
        Failing(Install(requirements=("pytest", "better"))), more_with("better"), told=told
    )
    assert [package.name for package in found.lock.packages] == ["better", "pytest"]
    assert "the planner failed: the server is down" in told


def test_a_poorer_planner_does_not_take_the_place_of_what_was_better():
    build(Scripted(Install(requirements=("pytest", "better"))), more_with("better"))
    told = []
    found, _ = build(Scripted(), more_with("better"), told=told)
    assert [package.name for package in found.lock.packages] == ["better", "pytest"]
    assert "the environment that was there is kept: 2 tests pass in it" in told


def test_what_a_planner_asks_for_in_vain_is_told_to_it():
    planner = Scripted(
        Install(requirements=("a; python_version < '3'",)), Run(command="echo \udc80")
    )

    def answer(job):
        wanted = job.inputs.get("requirements.txt")
        if wanted and b"python_version" in wanted.data:
            return InstallResult(0, "", Tree({}))
        return install(job) if wanted else InstallResult(0, "said", Tree({}))

    build(planner, lambda n, r: run("a"), answer)
    assert "nothing was installed" in planner.heard[0]["problem"]
    assert planner.heard[1] == {"exit_code": 0, "output": "said"}


def test_a_planner_that_makes_nothing_better_changes_nothing():
    found, _ = build(Scripted(Install(requirements=("pytest",))), lambda n, r: run("a"))
    assert [package.name for package in found.lock.packages] == ["helper", "pytest"]


def test_a_shell_starts_from_what_is_installed_and_keeps_nothing():
    def answer(job):
        if "command.sh" not in job.inputs:
            return install(job)
        assert "src/test_thing.py" in job.inputs
        assert any(path.startswith("env/") and "helper" in path for path in job.inputs)
        return InstallResult(7, job.inputs["command.sh"].data.decode(), Tree({"x": Entry(b"")}))

    planner = Scripted(Run(command="pip download x"))
    found, _ = build(planner, lambda n, r: run("a"), answer)
    assert planner.heard == [{"exit_code": 7, "output": "pip download x"}]
    assert [package.name for package in found.lock.packages] == ["helper", "pytest"]


def test_what_cannot_be_installed_is_told_to_the_planner():
    planner = Scripted(Install(requirements=("pytest", "broken")))
    build(planner, lambda n, r: run("a"))
    assert planner.heard[0]["installed"] is False
    assert "No matching distribution" in planner.heard[0]["output"]


def test_a_planner_cannot_go_on_for_ever():
    planner = Scripted(*[Install(requirements=("pytest",))] * (MOST_ACTIONS + 1))
    build(planner, lambda n, r: run("a"))
    assert "are enough" in planner.heard[-1]["problem"]
    json.dumps(planner.heard)
