"""Hints that tell what an agent must find out itself: the deleted code, the hidden tests."""

import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from codeenv.feedback.models import FeedbackEvent
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task

RUN = 8
"""Tokens in a row that are no coincidence."""
_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\w\s]")
_COMMENT = re.compile(r"#[^\n]*")
_FEWEST = 3
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_COMPOUND = frozenset("if elif else for while with try except finally def class async".split())
_OPERATORS = frozenset("+ - * / // % @ ** = == != < > <= >= & | ^ ~ << >> := ( [".split()) | {
    f"{sign}=" for sign in "+ - * / // % @ ** & | ^ << >>".split()
}
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_LARGEST = 512 * 1024
Grams = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Refused:
    """An event that was dropped, and why; the reason does not repeat the secret."""

    event: FeedbackEvent
    reason: str

    def told(self) -> dict[str, object]:
        """Return it as plain data, without the hint."""
        return {"id": self.event.id, "kind": self.event.kind, "reason": self.reason}


@dataclass(frozen=True)
class LeakCheck:
    """Refuses events that share a run of tokens, or a whole statement, with secret texts.

    Tokens are words, numbers and signs.  The hint is looked at with its comments and without, and
    so is the evidence, but for what the agent wrote itself.

    Attributes:
        secret: The runs of the secret texts, less those of what the agent was given.
        run: Tokens in a run.
        statements: Their statements that are shorter than a run, likewise.
    """

    secret: Grams = frozenset()
    run: int = RUN
    statements: Grams = frozenset()

    @classmethod
    def of(cls, secrets: Iterable[str], public: Iterable[str] = (), run: int = RUN) -> "LeakCheck":
        """Make a check of secret texts and of what the agent has anyway."""
        known = tuple(secrets)
        secret = {gram for text in known for gram in grams(text, run)}
        short = {s for text in known for s in statements(text[:_LARGEST], run)}
        lengths = {len(statement) for statement in short}
        for text in public if known else ():
            for tokens in _readings(text):
                secret.difference_update(_runs(tokens, run))
                for length in lengths:
                    short.difference_update(_runs(tokens, length))
        return cls(frozenset(secret), run, frozenset(short))

    def reason(self, event: FeedbackEvent) -> str:
        """Return why an event must not be shown, or ""; a privileged one may tell anything."""
        if event.privileged:
            return ""
        own = () if event.source == "judge" else ("args",)
        told = {key: value for key, value in event.evidence.items() if key not in own}
        for part, texts in (("hint", [event.hint]), ("evidence", _texts(told))):
            for tokens in (tokens for text in texts for tokens in _readings(text)):
                if not self.secret.isdisjoint(_runs(tokens, self.run)):
                    what = f"shares {self.run} tokens in a row with"
                elif self._has_statement(tokens):
                    what = "holds a statement of"
                else:
                    continue
                return f"the {part} {what} the solution or hidden tests"
        return ""

    def _has_statement(self, tokens: Sequence[str]) -> bool:
        lengths = {len(statement) for statement in self.statements}
        return any(not self.statements.isdisjoint(_runs(tokens, n)) for n in lengths)

    def sorted_out(
        self, events: Iterable[FeedbackEvent]
    ) -> tuple[tuple[FeedbackEvent, ...], tuple[Refused, ...]]:
        """Return the events that may be shown, and those that may not."""
        reasons = [(event, self.reason(event)) for event in events]
        kept = tuple(event for event, reason in reasons if not reason)
        return kept, tuple(Refused(event, reason) for event, reason in reasons if reason)


def grams(text: str, run: int = RUN) -> Grams:
    """Return the runs of tokens in a text, whatever its spaces, its case and its comments."""
    return frozenset(gram for tokens in _readings(text) for gram in _runs(tokens, run))


def statements(code: str, run: int = RUN) -> Iterator[tuple[str, ...]]:
    """Yield the statements of Python code that say something in fewer tokens than a run."""
    for line in _logical_lines(code):
        tokens = tuple(_TOKEN.findall(" ".join(line).casefold()))
        if _FEWEST <= len(tokens) < run and any(_does_something(token) for token in line):
            yield tokens


def _logical_lines(code: str) -> Iterator[list[str]]:
    """Yield statements as Python's own tokens; what stands behind a colon is one of its own."""
    line: list[str] = []
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            depth += (token.string in _OPENING) - (token.string in _CLOSING)
            split = token.string == ";" or (token.string == ":" and line and line[0] in _COMPOUND)
            if token.type == tokenize.NEWLINE or (split and depth == 0):
                yield line
                line = []
            elif token.type not in _NO_CODE:
                line.append(token.string)
    except (SyntaxError, tokenize.TokenError):
        return  # no Python, from here on


def _does_something(token: str) -> bool:
    return token in _OPERATORS or keyword.iskeyword(token)


def _readings(text: str) -> Iterator[list[str]]:
    """Yield the tokens of a text, and those without comments if there may be some."""
    text = text[:_LARGEST].casefold()
    yield _TOKEN.findall(text)
    if "#" in text:
        yield _TOKEN.findall(_COMMENT.sub("", text))


def _runs(tokens: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(islice(tokens, n, None) for n in range(length)), strict=False)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in plain data, keys too."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one


def leak_check(task: Task, more: Iterable[str] = ()) -> LeakCheck:
    """Return the check of a task: its deleted code and its hidden tests are secret.

    Args:
        task: The task; what stands in its workspace or its statement is no secret.
        more: Other secret texts.
    """
    given = without_git(task.workspace)
    tests = [e.data for p in task.layout.test_files if (e := task.grading_tree.get(p)) is not None]
    gold = [entry.data for entry in task.oracle.write.values()]
    public = [task.instruction, *(_text(entry.data) for entry in given.values())]
    return LeakCheck.of([*map(_text, [*gold, *tests]), *more], public)


def _text(data: bytes) -> str:
    return "" if b"\0" in data[:8192] else data[:_LARGEST].decode("utf-8", "replace")
