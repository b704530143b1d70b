"""What an agent says beside its calls."""

from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.feedback import feedback_of
from codeenv_harness.episode import play


class Saying:
    """Submits with words beside the call."""

    name = "saying"

    def __init__(self, words):
        self._words = words

    def reset(self, briefing):
        """Begin."""

    def act(self, result):
        return {"tool": "submit", "arguments": {}, "content": self._words}


def test_words_beside_a_call_are_the_same_live_and_recorded():
    episode = FakeRuntime().open(fake_task())

    played = play(Saying("- [ ] write the tests"), episode).trajectory

    (event,) = [e for e in episode.noticed if e.kind == "todo_left"]
    assert event.evidence == {"items": ["write the tests"]}
    assert event in feedback_of(played)
