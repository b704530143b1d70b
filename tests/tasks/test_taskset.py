import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeenv.errors import TaskError
from codeenv.tasks.digest import canonical, digest_of
from codeenv.tasks.models import (
    Baseline,
    Difficulty,
    EnvironmentLock,
    Provenance,
    Recipe,
    SourcePin,
)
from codeenv.tasks.taskset import Taskset, shipped_suites, write_atomic

PIN = SourcePin(kind="bundled", location="toy", sha256="a" * 64, tree="b" * 64, licence="MIT")
LOCK = EnvironmentLock(base="host", python="3.13.5", platform="x86_64", packages=())
BASELINE = Baseline(
    source=PIN,
    environment=digest_of(LOCK),
    runs=3,
    stable=("t.py::a", "t.py::b", "t.py::c"),
    quarantined={},
    timeout=10.0,
)


def recipe(task_id: str = "toy-one", **changes: Any) -> Recipe:
    values = {
        "id": task_id,
        "title": "One",
        "source": PIN,
        "language": "python",
        "environment": digest_of(LOCK),
        "baseline": digest_of(BASELINE),
        "deletions": (),
        "fail_to_pass": ("t.py::a",),
        "difficulty": Difficulty(lines=3, symbols=1, files=1, tests=1, prior=0.5),
        "damaged_tree": "c" * 64,
        "provenance": Provenance(generator="test", seed=0, seed_symbol="f"),
    }
    return Recipe.model_validate({**values, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Taskset.write(tmp_path / "set", [recipe("toy-two"), recipe()], [BASELINE], [LOCK])
    (tmp_path / "set/funnel.json").write_text("{}")
    (tmp_path / "set/events.jsonl").write_text("{}\n")
    return tmp_path / "set"


def test_limits_of_single_tests_are_written_where_there_are_any(folder: Path) -> None:
    assert b"test_timeouts" not in canonical(BASELINE)
    slow = BASELINE.model_copy(update={"test_timeouts": {"t.py::a": 60.0}})
    assert Baseline.model_validate_json(canonical(slow)) == slow
    assert digest_of(slow) != digest_of(BASELINE)


def test_what_is_written_is_read_again_sorted_by_id(folder: Path) -> None:
    taskset = Taskset.load(folder)
    assert taskset.recipes == (recipe(), recipe("toy-two"))
    assert taskset.baseline(digest_of(BASELINE)) == BASELINE
    assert taskset.environment(digest_of(LOCK)) == LOCK


def test_writing_twice_gives_the_same_bytes_and_no_debris(folder: Path, tmp_path: Path) -> None:
    Taskset.write(tmp_path / "again", [recipe(), recipe("toy-two")], [BASELINE], [LOCK])
    first = {p.name: p.read_bytes() for p in folder.rglob("*.json") if p.name != "funnel.json"}
    assert first == {p.name: p.read_bytes() for p in (tmp_path / "again").rglob("*") if p.is_file()}


def test_a_recipe_file_alone_finds_its_siblings(folder: Path) -> None:
    assert Taskset.load(folder / "toy-two.json").ids == ("toy-two",)
    assert Taskset.load(str(folder / "toy-two.json")).baselines


def test_select_keeps_what_the_chosen_tasks_refer_to(folder: Path) -> None:
    chosen = Taskset.load(folder).select(["toy-two"])
    assert chosen.ids == ("toy-two",)
    assert chosen.baseline(chosen.recipes[0].baseline) == BASELINE


def test_an_unknown_id_names_near_ones(folder: Path) -> None:
    with pytest.raises(TaskError, match="toy-tow") as caught:
        Taskset.load(folder).select(["toy-tow"])
    assert "toy-two" in caught.value.hint


def test_an_unknown_taskset_says_what_may_be_given() -> None:
    with pytest.raises(TaskError, match="neither a folder, a recipe file") as caught:
        Taskset.load("no-such-thing")
    assert caught.value.hint


def test_an_empty_folder_is_no_taskset(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no recipes"):
        Taskset.load(tmp_path)


def _broken(change: Callable[[dict[str, Any]], object]) -> bytes:
    values = json.loads(canonical(recipe("toy-bad")))
    change(values)
    return json.dumps(values).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "holds no JSON object"),
        (b"\xff", "cannot read"),
        (_broken(lambda v: v.update(schema_version=7)), "schema version 7 is not known"),
        (_broken(lambda v: v.pop("title")), "is not a recipe: title: Field required"),
        (_broken(lambda v: v.update(surprise=1)), "surprise: Extra inputs"),
        (_broken(lambda v: v.update(baseline="d" * 64)), "refers to baselines/dddd"),
        (_broken(lambda v: v.update(environment="d" * 64)), "refers to environments/dddd"),
        (_broken(lambda v: v.update(id="toy-one")), "two recipes have the id 'toy-one'"),
        (_broken(lambda v: v.update(id="../up")), "is not a recipe: id"),
    ],
)
def test_a_malformed_recipe_is_named_with_what_is_wrong(
    folder: Path, data: bytes, message: str
) -> None:
    (folder / "toy-bad.json").write_bytes(data)
    with pytest.raises(TaskError, match=message) as caught:
        Taskset.load(folder)
    assert "toy-" in caught.value.message
    assert caught.value.hint
    assert len(caught.value.message) < 600


def test_a_changed_baseline_is_noticed(folder: Path) -> None:
    path = folder / "baselines" / f"{digest_of(BASELINE)}.json"
    path.write_bytes(canonical(BASELINE.model_copy(update={"runs": 4})))
    with pytest.raises(TaskError, match="was changed"):
        Taskset.load(folder)


def test_an_atomic_write_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    write_atomic(tmp_path / "deep/file.json", b"1")
    write_atomic(tmp_path / "deep/file.json", b"2")
    assert [p.read_bytes() for p in (tmp_path / "deep").iterdir()] == [b"2"]


def test_every_shipped_suite_loads() -> None:
    for name in shipped_suites():
        assert Taskset.load(name).ids
