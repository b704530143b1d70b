"""A fresh container per episode: the way out where a machine refuses nested namespaces."""

import json

import pytest

from codeenv.errors import SandboxError, UsageError
from codeenv.sandbox.image import Mount
from codeenv.sandbox.select import open_backend
from codeenv.tree import Entry, Tree
from tests.sandbox.conftest import LIMITS, WORKSPACE

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def backend():
    found = open_backend("docker", isolation="container")
    yield found
    found.close()


@pytest.fixture
def box(backend, debian_image):
    with backend.open(debian_image, WORKSPACE, limits=LIMITS) as found:
        yield found


def test_files_and_commands_work_as_in_a_box(box):
    box.write_file("new", b"1")
    result = box.exec("pwd; id -un; cat new; echo >&3", report_limit=5)

    assert (result.text, result.report) == ("/workspace\nagent\n1", b"\n")
    assert set(box.export()) == {*WORKSPACE, "new"}


def test_every_episode_has_a_container_of_its_own(backend, debian_image):
    with backend.open(debian_image, WORKSPACE) as first:
        first.exec("echo x > /tmp/planted")
    with backend.open(debian_image, WORKSPACE) as second:
        assert second.host is not first.host
        assert second.exec("ls /tmp").text == ""


def test_commands_have_no_privilege(box):
    status = box.exec("grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status").text

    assert status.split() == ["CapEff:", "0" * 16, "NoNewPrivs:", "1", "Seccomp:", "2"]
    assert box.exec("cat /proc/net/dev | tail -n +3 | cut -d: -f1").text.strip() == "lo"


def test_the_supervisor_and_the_tool_server_cannot_be_read(box):
    for place in ("/proc/1", "/proc/$PPID"):
        for name in ("mem", "environ", "maps"):
            assert box.exec(f"head -c 1 {place}/{name}").exit_code != 0
        assert box.exec(f"ls {place}/fd").exit_code != 0


def test_a_deadline_kills_everything_but_the_supervisor(box):
    assert box.exec("setsid sleep 60 & sleep 60", timeout=0.3).timed_out

    assert "sleep" not in box.exec("cat /proc/[0-9]*/comm").text


def test_a_mounted_tree_is_there(backend, debian_image):
    mounts = [Mount("/opt/tools", Tree({"t": Entry(b"tool")}))]
    with backend.open(debian_image, WORKSPACE, mounts=mounts) as box:
        assert box.exec("cat /opt/tools/t").text == "tool"


def test_an_agent_that_kills_its_tool_server_gets_no_result(backend, debian_image):
    with (
        backend.open(debian_image, WORKSPACE) as box,
        pytest.raises(SandboxError),
    ):
        box.exec("kill -9 $PPID; sleep 5")


def test_a_machine_that_refuses_nesting_is_told_what_to_pass(monkeypatch, debian_image):
    rule = {"names": ["mount"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}
    profile = json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]})
    monkeypatch.setattr("codeenv.sandbox.docker_wall._PROFILE", profile)
    backend = open_backend("docker")

    with pytest.raises(SandboxError, match="mount") as caught:
        backend.open(debian_image, WORKSPACE)
    assert 'isolation="container"' in caught.value.hint
    backend.close()


def test_an_unknown_isolation_is_refused():
    with pytest.raises(UsageError, match="isolation"):
        open_backend("docker", isolation="none")
