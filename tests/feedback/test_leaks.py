"""No hint tells the solution."""

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


def test_the_hints_of_rules_are_no_leaks():
    hints = ["Reminder: Available tools are: read_file, edit_file, run_command, search, submit."]

    assert not any(leak_check(make_task()).reason(event(hint)) for hint in hints)
