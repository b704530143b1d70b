"""Many repositories in one run."""

import json

import pytest

from codeenv.errors import UsageError
from codeenv.generate import GenerateOptions, generate_many, parse_repositories

LIST = """\
# ours
pypi:Some-Thing==1.2   # with a comment
https://example.org/x/y.git ref=v1#2 subdir=a/b

"/tmp/my repo"
https://example.org/z/y.git ref=v1#2 subdir=a/b/
"""


def test_a_line_is_a_source_with_its_fields():
    first, second, third, fourth = parse_repositories("l", LIST)
    assert (first.spec, first.folder) == ("pypi:Some-Thing==1.2", "some-thing-1.2")
    assert (second.ref, second.subdir) == ("v1#2", "a/b")
    assert third.spec == "/tmp/my repo"
    assert fourth.subdir == "a/b"


def test_every_repository_has_a_folder_of_its_own_wherever_it_stands_in_the_list():
    found = parse_repositories("l", LIST)
    assert len({r.folder for r in found}) == len(found)
    backwards = parse_repositories("l", "\n".join(reversed(LIST.splitlines())))
    assert {r.spec: r.folder for r in backwards} == {r.spec: r.folder for r in found}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "l names no repository"),
        ("# nothing\n\n", "l names no repository"),
        ("x\nx y=1\n", "l, line 2: 'y=1' is not understood"),
        ("x ref=\n", "line 1: 'ref=' is not understood"),
        ("x ref=1 ref=2\n", "'ref=2' is not understood"),
        ("x\ny\nx\n", "line 3: x is also in line 1"),
        ("'x\n", "line 1: no closing quotation"),
    ],
)
def test_a_list_that_is_wrong_is_told_with_its_line(text, told):
    with pytest.raises(UsageError, match=told) as refused:
        parse_repositories("l", text)
    assert refused.value.hint


@pytest.fixture
def run(tmp_path, local_backend):
    def go(text, **options):
        events = []
        ends = generate_many(
            parse_repositories("l", text),
            GenerateOptions(out=tmp_path / "out", **options),
            backend=local_backend,
            on_event=events.append,
        )
        return list(ends), [e.kind for e in events]

    return go


def test_a_repository_that_fails_does_not_end_the_others(run, tmp_path):
    (tmp_path / "empty").mkdir()
    ends, _ = run(f"{tmp_path}/empty\n{tmp_path}/nowhere\nbundled:nothing\n")
    assert len(ends) == 3
    assert all(end.error and not end.tasks for end in ends)


def finish(out, tasks=("a-1", "a-2"), **options):
    (out / "funnels").mkdir(parents=True)
    asked = GenerateOptions(out, **options).digest
    counts = {"emitted": len(tasks), "leak": 2, "duplicate": 3, "not_tried": 5}
    (out / "funnels" / "a.json").write_text(json.dumps({"counts": counts, "options": asked}))
    for task in tasks:
        (out / f"{task}.json").write_text("{}")


def test_a_resumed_run_skips_what_has_its_tasks_and_its_funnel(run, tmp_path):
    finish(tmp_path / "out" / "nowhere")
    (end,), kinds = run(f"{tmp_path}/nowhere\n", resume=True)
    assert (end.tasks, end.known, end.error) == (("a-1", "a-2"), True, "")
    assert (end.candidates, end.share) == (4, 0.5)
    assert "finished" in kinds


@pytest.mark.parametrize("more", [{"limit": 9}, {"level": "L1"}, {"seed": 2}])
def test_what_was_made_with_other_options_is_not_finished(run, tmp_path, more):
    finish(tmp_path / "out" / "nowhere")
    (end,), _ = run(f"{tmp_path}/nowhere\n", resume=True, **more)
    assert end.error
    assert not end.known


def test_where_and_how_fast_it_was_made_does_not_matter(run, tmp_path):
    finish(tmp_path / "out" / "nowhere", jobs=7, resume=True)
    (end,), _ = run(f"{tmp_path}/nowhere\n", resume=True)
    assert end.known


def test_what_gave_no_task_is_tried_again(run, tmp_path):
    finish(tmp_path / "out" / "nowhere", tasks=())
    (end,), _ = run(f"{tmp_path}/nowhere\n", resume=True)
    assert end.error


def test_without_resume_everything_is_run(run, tmp_path):
    finish(tmp_path / "out" / "nowhere")
    (end,), _ = run(f"{tmp_path}/nowhere\n")
    assert end.error
