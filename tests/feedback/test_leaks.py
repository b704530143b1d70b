"""No hint tells the solution."""

import pytest

from codeenv.feedback import FeedbackEvent, LeakCheck, Target, leak_check
from tests.toytask import FILES, make_task

SECRET = "def slug(text):\n    return joiner.join(part.lower() for part in text.split())\n"


def event(hint, **values):
    return FeedbackEvent(
        id="1.1.style", kind="style", severity="info", turn=1, target=Target(message=1),
        hint=hint, **values,
    )  # fmt: skip


def test_a_hint_with_eight_tokens_of_a_secret_is_refused():
    check = LeakCheck.of([SECRET])

    assert check.reason(event("write: return joiner . JOIN( part.lower() for part"))
    assert not check.reason(event("write: return joiner.join(part"))
    assert not check.reason(event("split the text, join its parts"))


def test_a_privileged_hint_may_tell():
    assert not LeakCheck.of([SECRET]).reason(event(SECRET, privileged=True))


def test_what_the_agent_has_anyway_is_no_secret():
    assert not LeakCheck.of([SECRET], public=["x\n" + SECRET]).reason(event(SECRET))


def test_a_refused_event_is_told_without_its_hint():
    good, bad = event("look again"), event(SECRET)
    kept, refused = LeakCheck.of([SECRET]).sorted_out([good, bad])

    assert (kept, [one.event for one in refused]) == ((good,), [bad])
    assert set(refused[0].told()) == {"id", "kind", "reason"}
    assert "8 tokens" in refused[0].reason
    assert "joiner" not in str(refused[0].told())


def test_the_secrets_of_a_task_are_its_deleted_code_and_its_hidden_tests():
    check = leak_check(make_task(), more=["one two three four five six seven eight"])
    code, tests = FILES["src/notes/text.py"], FILES["tests/test_text.py"]

    def leaks(text):
        return bool(check.reason(event(text)))

    assert leaks(code[code.index("    candidates") : code.index("def wrap")])
    assert leaks(tests[tests.index("def test_slug_takes") : tests.index("def test_slug_refuses")])
    assert leaks("ONE two three, four".replace(",", "") + " five six seven eight")
    assert not leaks(code[code.index("def wrap") :])
    assert not leaks(tests[tests.index("def test_wrap_breaks") :])
    assert not leaks(make_task().instruction)


SHORT = "def add(a, b):\n    # the sum\n    total = a + b\n    return a + b  # of both\n"


@pytest.mark.parametrize(
    "hint",
    [
        "Write return a + b in add.",
        "def add(a, b): return a+b",
        "def add(a, b): # ok\n    return (\n",
        "set TOTAL =  a  +  b",
        "use total = a # so far\n + b",
    ],
)
def test_a_hint_with_a_whole_short_statement_is_refused(hint):
    assert LeakCheck.of([SHORT]).reason(event(hint))


@pytest.mark.parametrize("hint", ["add both", "return what is asked", "a + b", "def", "total"])
def test_a_part_of_a_statement_is_no_secret(hint):
    assert not LeakCheck.of([SHORT]).reason(event(hint))


def test_a_statement_that_stands_elsewhere_is_no_secret():
    check = LeakCheck.of([SHORT], public=["def sub(a, b):\n    return a + b - 1\n"])

    assert not check.reason(event("return a + b"))
    assert check.reason(event("total = a + b"))


def test_words_of_comments_and_docstrings_are_no_statements():
    code = 'def f():\n    """Return or raise."""\n    # if not found\n    "a = b"\n'

    assert LeakCheck.of([code]).statements == {("def", "f", "(", ")")}


def test_comments_do_not_hide_what_is_shared():
    hidden = SECRET.replace("(part", "( # so\n part")

    assert "8 tokens" in LeakCheck.of([SECRET]).reason(event(hidden))
    assert "8 tokens" in LeakCheck.of([hidden]).reason(event(SECRET))


def test_evidence_must_not_tell_either():
    check = LeakCheck.of([SECRET, SHORT])

    assert "evidence" in check.reason(event("look", evidence={"x": [{"y": SECRET}]}))
    assert "evidence" in check.reason(event("look", evidence={"return a + b": 1}))
    assert not check.reason(event("look", evidence={"path": "a.py", "n": 3}))


def test_what_the_agent_wrote_is_no_leak_unless_another_says_it():
    check = LeakCheck.of([SECRET])
    own = event("look", evidence={"args": {"new_str": SECRET}})

    assert not check.reason(own)
    assert check.reason(own.model_copy(update={"source": "judge"}))


def test_the_hints_of_rules_are_no_leaks():
    hints = ["Reminder: Available tools are: read_file, edit_file, run_command, search, submit."]

    assert not any(leak_check(make_task()).reason(event(hint)) for hint in hints)
