"""What the viewer's server answers, over a real connection, and whom it refuses."""

import json
import socket
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest

from codeenv.errors import UsageError
from codeenv_harness.records import RunFolder
from codeenv_harness.viewer import Library, ViewerServer
from tests.harness.report.made import told
from tests.harness.runs import record
from tests.harness.viewer.made import BAD, served, shown, step, trajectory

KETTLE = {"run": "run", "task": "kettle", "rollout": "0"}


@pytest.fixture
def server(tmp_path):
    with served(shown(tmp_path / "run")) as opened:
        yield opened


def asked(server, path, query=None, method="GET", **headers):
    """Return the answer and its body."""
    connection = HTTPConnection(*server.server_address[:2], timeout=30)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path + ("?" + urlencode(query) if query else ""), headers=names)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def found(server, path, query=None):
    answer, body = asked(server, path, query)
    assert (answer.status, answer.getheader("Content-Type")) == (200, "application/json"), body
    return json.loads(body)


def test_it_listens_to_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}/"


@pytest.mark.parametrize(
    "name", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::2]"]
)
def test_a_site_whose_name_leads_here_is_refused(server, name):
    for path in ("/", "/api/runs"):
        answer, body = asked(server, path, Host=name)
        assert (answer.status, b"kettle" in body) == (403, False)


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:8000"])
def test_the_names_of_this_machine_are_served(server, name):
    assert asked(server, "/api/runs", Host=name)[0].status == 200


def test_the_page_of_another_site_learns_nothing(server):
    for site in ("cross-site", "same-site"):
        assert asked(server, "/api/runs", Sec_Fetch_Site=site)[0].status == 403
    answer, _ = asked(server, "/api/runs", Sec_Fetch_Site="same-origin")
    assert answer.status == 200
    assert answer.getheader("Access-Control-Allow-Origin") is None
    assert answer.getheader("Cross-Origin-Resource-Policy") == "same-origin"


@pytest.mark.parametrize("path", ["/", "/viewer.js", "/api/runs", "/nothing"])
def test_the_policy_allows_own_files_and_no_script_in_the_page(server, path):
    answer, _ = asked(server, path)
    policy = dict(
        part.split(" ", 1) for part in answer.getheader("Content-Security-Policy").split("; ")
    )

    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "img-src")} == {
        "'self'"
    }
    assert policy["frame-ancestors"] == "'none'"
    assert answer.getheader("X-Content-Type-Options") == "nosniff"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_it_only_reads(server, method):
    assert asked(server, "/api/runs", method=method)[0].status == 501


@pytest.mark.parametrize(
    "path",
    ["/../records.py", "/%2e%2e/server.py", "/viewer.py", "//etc/passwd", "/api/", "/static"],
)
def test_no_other_file_is_served(server, path):
    assert asked(server, path)[0].status in (400, 404)


def test_what_is_no_request_is_refused_and_others_are_served(server):
    for junk in (b"\x16\x03\x01\x02\x00\x01\n\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 70_000 + b"\n"):
        with socket.create_connection(server.server_address[:2], timeout=30) as opened:
            opened.sendall(junk)
            opened.shutdown(socket.SHUT_WR)
            opened.recv(100)
    assert asked(server, "/api/runs")[0].status == 200


def test_the_index_has_every_rollout_and_is_sent_again_only_if_it_has_grown(server, tmp_path):
    (run,) = (index := found(server, "/api/runs"))["runs"]
    kettle = next(row for row in run["rollouts"] if (row["task"], row["rollout"]) == ("kettle", 0))
    assert (len(run["rollouts"]), kettle["action"], kettle["labels"]) == (4, "mask", ["SC-CACHE"])

    known = {"known": index["version"]}
    assert found(server, "/api/runs", known) == {"version": index["version"]}
    RunFolder(tmp_path / "run").add(record("new", 1), None)
    with (tmp_path / "run" / "outcomes.jsonl").open("ab") as file:
        file.write(b'{"task_id": "to')
    assert len(found(server, "/api/runs", known)["runs"][0]["rollouts"]) == 5


def test_a_run_that_cannot_be_read_is_told_beside_the_others(tmp_path):
    shown(tmp_path / "runs" / "good")
    broken = told(tmp_path / "runs" / "broken", "x", [(record("a", 1), None)])
    (broken / "outcomes.jsonl").write_bytes(b"no record\n")
    with served(tmp_path / "runs") as server:
        runs = {run["id"]: run for run in found(server, "/api/runs")["runs"]}
    assert "outcomes.jsonl:1 is not a rollout's record" in runs["broken"]["error"]
    assert len(runs["good"]["rollouts"]) == 4


@pytest.mark.parametrize(
    "query",
    [
        KETTLE | {"run": "../run"},
        KETTLE | {"run": ""},
        KETTLE | {"task": "../../../etc/passwd"},
        KETTLE | {"task": "kettle\0"},
        KETTLE | {"rollout": "7"},
        KETTLE | {"rollout": "-1"},
        KETTLE | {"rollout": "9" * 400},
        KETTLE | {"rollout": "٣"},
        {},
    ],
)
def test_a_rollout_that_is_not_there_is_told_and_no_file_is_looked_for(server, query):
    for path in ("/api/rollout", "/api/step", "/api/change", "/api/search"):
        answer, body = asked(server, path, query | {"step": "1", "file": "0", "words": "a"})
        assert (answer.status, list(json.loads(body))) == (404, ["error"])


@pytest.mark.parametrize("step", ["0", "7", "x", ""])
def test_a_step_that_is_not_there_is_told(server, step):
    assert asked(server, "/api/step", KETTLE | {"step": step})[0].status == 404


def test_a_record_that_leads_outside_of_its_run_reads_no_file(tmp_path):
    outside = told(tmp_path / "other", "x", [(record("secret", 1), trajectory())])
    name = f"../../{outside.name}/trajectories/secret"
    with served(told(tmp_path / "run", "x", [(record(name, 1), None)])) as server:
        head = found(server, "/api/rollout", {"run": "run", "task": name, "rollout": "0"})
    assert head["steps"] == []
    assert "is no task id" in head["missing"]


def test_a_trajectory_that_is_none_is_told_with_what_is_known(tmp_path):
    run = told(tmp_path / "run", "x", [(record("kettle", 1), trajectory())])
    (run / "trajectories" / "kettle__0.json").write_text("[]")
    with served(run) as server:
        head = found(server, "/api/rollout", KETTLE)
    assert "is not a trajectory" in head["missing"]
    assert head["record"]["reward"] == 1.0


def test_the_head_tells_what_happened(server):
    head = found(server, "/api/rollout", KETTLE)

    assert (head["record"]["reward"], head["graded"], head["action"]) == (0.0, 1.0, "mask")
    assert [row["t"] for row in head["steps"]] == [
        "user", "read_file", "read_file", "edit_file", "run_command", "submit",
    ]  # fmt: skip
    assert [(row.get("e"), row.get("b"), row.get("v")) for row in head["steps"][1:5]] == [
        ("not_found", 1, None), (None, None, None), (None, None, None), ("exit 1", None, 1),
    ]  # fmt: skip
    assert head["findings"][0]["steps"] == [5, 0]
    assert [file["counted"] for file in head["changes"]["files"]] == [False, True]
    assert head["usage"]["completion_tokens"] == 5 * 34
    assert (head["program"]["command"], head["program"]["exit"]) == ("boil --now", 0)


def test_a_search_finds_steps_whatever_the_case_and_place(server):
    for words, steps in (("NEEDLE", [5]), ("line 987", [5]), ("before reading", [2]), ("", [])):
        assert found(server, "/api/search", KETTLE | {"words": words})["steps"] == steps


def test_words_of_a_run_leave_as_json_alone(server):
    for path, query in (("/api/runs", None), ("/api/step", KETTLE | {"step": "2"})):
        answer, body = asked(server, path, query)
        assert answer.getheader("Content-Type") == "application/json"
        assert not {0x1B, 0} & {*body}
    assert json.loads(body)["message"] == BAD


def test_a_port_that_is_taken_is_a_clear_error(server, tmp_path):
    with pytest.raises(UsageError, match="in use"):
        ViewerServer(Library(tmp_path / "run"), server.server_address[1])


@pytest.mark.parametrize("path", ["http://[x", "/?" + "a=1&" * 30, "/api/runs?" + "&" * 30])
def test_an_address_that_is_none_is_answered(server, path):
    with socket.create_connection(server.server_address[:2], timeout=30) as opened:
        opened.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert opened.recv(12) == b"HTTP/1.1 400"


def test_what_a_record_calls_a_number_is_one_or_is_not_told(tmp_path):
    bad = {"onclick": "x", "toLocaleString": "x"}
    for place, value in enumerate((bad, [bad], "1", True)):
        made = step(1, "run_command", {}, "x", tool={"exit_code": value}, reward=value)
        extra = {"program": {"exit_code": value, "command": bad, "output": bad}}
        seen = trajectory().model_copy(update={"steps": (made,), "extra": extra})
        with served(told(tmp_path / str(place), "x", [(record("kettle", 1), seen)])) as server:
            query = KETTLE | {"run": str(place)}
            head = found(server, "/api/rollout", query)
            body = found(server, "/api/step", query | {"step": "1"})
        assert (body["exit"], body["reward"], head["program"]["exit"]) == (None, None, None)
        assert isinstance(head["program"]["command"], str)
        assert "e" not in head["steps"][0]
