"""``codeenv run --runner ray``, as people start and end it."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.harness.runners.nodes import below, lives

RUN = ("run", "toy", "--agent", "random", "--max-steps", "5", "--backend", "bubblewrap")


def begun(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "codeenv", *RUN, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def first_reward(process):
    for line in process.stderr:
        if line.startswith(("reward", "not valid")):
            return line
    raise AssertionError("no rollout ended")


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_json_stays_json_when_a_node_is_lost(nodes):
    with begun("--runner", "ray", "--ray-address", nodes.address, "--json") as process:
        first_reward(process)
        nodes.lose()
        out, err = process.communicate(timeout=300)

    records = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 0
    assert len({record["task_id"] for record in records}) == len(records) == 26
    assert "is lost; its " in err


@pytest.mark.slow
@pytest.mark.bubblewrap
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_on_the_nodes_when_a_run_is_ended(nodes, number, tmp_path):
    idle = nodes.pids()
    words = ("--runner", "ray", "--ray-address", nodes.address, "--out", str(tmp_path / "run"))
    with begun(*words) as process:
        first_reward(process)
        started = nodes.pids() - idle
        process.send_signal(number)
        err = process.communicate(timeout=120)[1]

    assert process.returncode == (-9 if number == signal.SIGKILL else 130)
    assert "Traceback" not in err
    assert len(started) >= 4
    assert not soon_left(started, number)
    assert (tmp_path / "run" / "outcomes.jsonl").read_text().count("\n") >= 1


def soon_left(pids, number):
    """Who is left; a killed run's workers are ended by Ray, which takes a moment."""
    wait = subprocess.Popen(["sleep", "20"]) if number == signal.SIGKILL else None
    while wait is not None and wait.poll() is None and any(map(lives, pids)):
        pass
    if wait is not None:
        wait.kill()
        wait.wait()
    return {pid for pid in pids if lives(pid)}


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_a_cluster_that_was_started_for_a_run_ends_with_it():
    with begun("--runner", "ray", "--ray-address", "local") as process:
        first_reward(process)
        started = below(process.pid)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=120)[1]

    assert process.returncode == 130
    assert err.endswith("interrupted\n")
    assert not {pid for pid in started if lives(pid)}


def run_code(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **variables},
    )


def test_a_machine_without_ray_is_told_what_to_install():
    words = [*RUN, "--runner", "ray"]
    done = run_code(
        "import sys; sys.modules['ray'] = None\n"
        f"from codeenv.cli import main; sys.exit(main({words!r}))"
    )

    assert done.returncode == 2
    assert "hint: pip install 'codeenv-gym[ray]'" in done.stderr


def test_an_address_where_nothing_answers_is_told_at_once():
    done = run_code(
        "import sys; from codeenv.cli import main\n"
        f"sys.exit(main({[*RUN, '--runner', 'ray', '--ray-address', '127.0.0.1:9']!r}))"
    )

    assert done.returncode == 2
    assert "error: no Ray cluster can be used at 127.0.0.1:9" in done.stderr


def test_a_cluster_that_cannot_be_started_is_told_with_what_to_look_at(tmp_path):
    (tmp_path / "file").touch()
    done = run_code(
        "import sys; from codeenv.cli import main\n"
        f"sys.exit(main({[*RUN, '--runner', 'ray', '--ray-address', 'local']!r}))",
        RAY_TMPDIR=str(tmp_path / "file"),
    )

    assert done.returncode == 2
    assert "error: no Ray cluster can be started on this machine: " in done.stderr
    assert "hint: is there memory" in done.stderr
    assert "Traceback" not in done.stderr


def test_threads_do_not_need_ray():
    done = run_code("import sys, codeenv.cli.run, codeenv_harness; sys.exit('ray' in sys.modules)")

    assert done.returncode == 0


def test_an_address_without_the_runner_is_refused():
    done = run_code(
        "import sys; from codeenv.cli import main\n"
        f"sys.exit(main({[*RUN, '--ray-address', 'here:1']!r}))"
    )

    assert (done.returncode, "add --runner ray" in done.stderr) == (2, True)
