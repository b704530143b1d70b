import pytest

from codeenv.generate.journal import Journal
from codeenv.generate.models import Feature, Reason, Verdict
from codeenv.languages.base import Unit

UNIT = Unit("m.py", "f", "function", 1, 2, 3, (2, 3))
FEATURE = Feature(UNIT, (UNIT,), ("t",), 2, "function")


def ignore(event):
    pass


def always(reason, detail=""):
    return lambda features: [Verdict(f, reason, detail) for f in features]


def refuse(features):
    assert not features, "judged again"
    return []


def test_a_resumed_run_does_not_judge_again(tmp_path):
    first = Journal(tmp_path, "run", ignore, resume=False)
    verdict = first.judged(always(Reason.NO_FAILURE, "told"))([FEATURE])
    resumed = Journal(tmp_path, "run", ignore, resume=True)
    assert resumed.judged(refuse)([FEATURE]) == verdict


def test_a_run_that_is_not_resumed_judges_afresh(tmp_path):
    first = Journal(tmp_path, "run", ignore, resume=False)
    first.judged(always(Reason.NO_FAILURE))([FEATURE])
    afresh = Journal(tmp_path, "run", ignore, resume=False)
    assert afresh.judged(always(Reason.LEAK))([FEATURE])[0].reason == Reason.LEAK


def test_verdicts_of_another_run_do_not_count(tmp_path):
    first = Journal(tmp_path, "one", ignore, resume=False)
    first.judged(always(Reason.NO_FAILURE))([FEATURE])
    other = Journal(tmp_path, "other", ignore, resume=True)
    assert other.judged(always(Reason.LEAK))([FEATURE])[0].reason == Reason.LEAK


def test_a_torn_last_line_loses_only_itself(tmp_path):
    first = Journal(tmp_path, "run", ignore, resume=False)
    verdict = first.judged(always(Reason.NO_FAILURE))([FEATURE])
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"event": "verd')
    resumed = Journal(tmp_path, "run", ignore, resume=True)
    assert resumed.judged(refuse)([FEATURE]) == verdict


def test_what_is_written_behind_a_torn_line_is_whole(tmp_path):
    (tmp_path / "events.jsonl").write_text('{"event": "verd')
    resumed = Journal(tmp_path, "run", ignore, resume=True)
    verdict = resumed.judged(always(Reason.NO_FAILURE))([FEATURE])
    again = Journal(tmp_path, "run", ignore, resume=True)
    assert again.judged(refuse)([FEATURE]) == verdict


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\x0c", "\udcff"])
def test_any_character_may_stand_in_a_detail(odd, tmp_path):
    first = Journal(tmp_path, "run", ignore, resume=False)
    verdict = first.judged(always(Reason.NO_FAILURE, f"a{odd}b"))([FEATURE])
    resumed = Journal(tmp_path, "run", ignore, resume=True)
    assert resumed.judged(refuse)([FEATURE]) == verdict


def test_a_failed_sandbox_is_not_remembered(tmp_path):
    first = Journal(tmp_path, "run", ignore, resume=False)
    first.judged(always(Reason.INFRASTRUCTURE))([FEATURE])
    resumed = Journal(tmp_path, "run", ignore, resume=True)
    assert resumed.judged(always(Reason.LEAK))([FEATURE])[0].reason == Reason.LEAK


def test_what_still_runs_after_an_interruption_is_not_remembered(tmp_path):
    first = Journal(tmp_path, "run", ignore, resume=False)

    def judge(features):
        first.close()  # Ctrl-C: the sandbox goes away under the candidate
        return always(Reason.CRASHES)(features)

    first.judged(judge)([FEATURE])
    resumed = Journal(tmp_path, "run", ignore, resume=True)
    assert resumed.judged(always(Reason.EMITTED))([FEATURE])[0].reason == Reason.EMITTED


def test_every_event_is_told_and_written(tmp_path):
    told = []
    journal = Journal(tmp_path, "run", told.append, resume=False)
    journal.tell("baseline", "3 stable", stable=3)
    assert told[0].data == {"stable": 3}
    assert '"stable": 3' in (tmp_path / "events.jsonl").read_text()
