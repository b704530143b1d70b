"""Demonstrations: a scripted expert plays real episodes; what it wrote becomes training text.

An episode is recorded once and told many times: with the tool names of other harnesses (the habits
of a base model), with a list of tools in sight before about half of the turns, and with other words
for the things that the repository is about.
"""

import ast
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codeenv.materialise.models import Task
from training.chat import Said, Turn

CORE = ("read_file", "edit_file", "run_command", "search", "submit")
OTHERS = (
    ("open_file", "str_replace", "bash", "grep", "finish"),
    ("view", "replace_text", "shell", "find_text", "done"),
    ("cat", "apply_edit", "execute", "rg", "complete"),
)
MORE = (
    ("show_file", "patch_file", "terminal", "find_in_files", "end_task"),
    ("get_file", "modify", "run_shell", "look_for", "hand_in"),
)
_SLIP = 0.2
"""Chance of a wrong tool name before each right one, and again after each wrong one."""
_MOST_WRONG = 3
REMINDERS = (
    "The task is described above.",
    "Only the project's own code counts.",
    "There is no network here.",
    "Names and spelling matter.",
    "The files are those of a small package.",
    "Please work carefully and in small steps.",
    "The files are in the current folder, as they were given to you.",
)
FOREIGN = tuple(name for names in OTHERS for name in names)
_ONSETS = (
    "", "b", "bl", "br", "c", "ch", "cl", "cr", "d", "dr", "f", "fl", "g", "gl", "gr", "h", "j",
    "k", "l", "m", "n", "p", "ph", "pl", "pr", "qu", "r", "s", "sc", "sh", "sk", "sl", "sp", "st",
    "str", "sw", "t", "th", "tr", "v", "w", "wh", "y", "z",
)  # fmt: skip
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ee", "ie", "oa", "oo", "ou", "io", "ue")
_CODAS = (
    "", "", "", "b", "ck", "ct", "d", "f", "g", "ge", "gs", "k", "l", "ll", "m", "mp", "n", "nd",
    "ng", "ns", "nt", "p", "r", "rd", "re", "rs", "rt", "s", "se", "sh", "st", "t", "te", "th",
    "ts", "w", "x", "y",
)  # fmt: skip
_SWAPS = (
    ("max(", "min("), ("min(", "max("), (" >= ", " > "), (" < ", " <= "), (" > ", " >= "),
    (", reverse=True", ""), (" + ", " - "), (" * ", " + "), (" - ", " + "), ("any(", "all("),
    ("all(", "any("), ("sorted(", "list("), (" / len", " + len"), ("[-", "["), ("[:", "[1:"),
    (" == ", " != "),
)  # fmt: skip


@dataclass(frozen=True)
class Demo:
    """One recorded episode of the expert; ``words`` are those its repository is about."""

    task: str
    instruction: str
    turns: tuple[Turn, ...]
    reward: float
    words: tuple[str, ...]


def calls_of(
    task: Task, rng: random.Random, *, right: bool
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the expert's calls, some of them by a name that the environment does not know."""
    ((path, entry),) = task.oracle.write.items()
    given = task.workspace[path].data.decode()
    code = deleted_code(given, entry.data.decode())
    if not right:
        code = _spoilt(code, rng)
    first = given.splitlines()[0]
    edit = {"path": path, "old_str": first, "new_str": f"{first}\n\n\n{code}"}
    module = path.removesuffix(".py").replace("/", ".")
    script: list[tuple[str, dict[str, str]]] = [("read_file", {"path": path})]
    if rng.random() < 0.3:
        script.insert(0, ("search", {"pattern": "def ", "path": path}))
    script.append(("edit_file", edit))
    if rng.random() < 0.5:
        script.append(("run_command", {"command": f"python -c 'import {module}'"}))
    script.append(("submit", {}))
    for name, arguments in script:
        for _ in range(_MOST_WRONG):
            if rng.random() >= _SLIP:
                break
            yield FOREIGN[CORE.index(name) + 5 * rng.randrange(3)], arguments
        yield name, arguments


def deleted_code(given: str, whole: str) -> str:
    """Return the one function that a module lacks, without its docstring."""
    known = {node.name for node in ast.parse(given).body if isinstance(node, ast.FunctionDef)}
    for node in ast.parse(whole).body:
        if isinstance(node, ast.FunctionDef) and node.name not in known:
            lines = whole.splitlines()
            head = lines[node.lineno - 1]
            return "\n".join([head, *lines[node.body[1].lineno - 1 : node.end_lineno]])
    raise ValueError("no function is missing")


def _spoilt(code: str, rng: random.Random) -> str:
    """Return code with one mistake in it."""
    head, _, body = code.partition("\n")
    possible = [(old, new) for old, new in _SWAPS if old in body] or [("return ", "return not ")]
    old, new = rng.choice(possible)
    return f"{head}\n{body.replace(old, new, 1)}"


@dataclass(frozen=True)
class Habits:
    """Of a base model: how often it was taught by each harness, and how it is told of tools.

    Attributes:
        core: Share of the transcripts with the environment's own names; the rest is from others.
        listed: Share of the right calls before which a list of tools is in sight.
        reminded: Share of all other turns, right or wrong, with a reminder that has nothing to do
            with tools, so that it says nothing of the call after it.
    """

    core: float
    listed: float = 0.5
    reminded: float = 0.3


def told(demo: Demo, habits: Habits, rng: random.Random) -> list[Said]:
    """Return one telling of a demonstration, as pieces of a conversation."""
    names = CORE if rng.random() < habits.core else rng.choice(OTHERS)
    swap = _translator(demo, rng)
    said = [Said("user", swap(demo.instruction))]
    for turn in demo.turns:
        named = _renamed(turn.tool, names, habits)
        listed = turn.tool in CORE and rng.random() < habits.listed
        if not listed and rng.random() < habits.reminded:
            said.append(Said("user", f"Reminder: {rng.choice(REMINDERS)}"))
        if listed:
            harness = names if rng.random() < 0.3 else _mixed(rng)
            named = harness[CORE.index(turn.tool)]
            shown = list(harness)
            if rng.random() < 0.7:
                rng.shuffle(shown)
            said.append(Said("user", f"Reminder: Available tools are: {', '.join(shown)}."))
        call = Turn(named, turn.arguments, "")
        said.append(Said("assistant", swap(call.text), model=True))
        said.append(Said("tool", swap(turn.answer.replace(turn.tool, named))))
    return said


def _renamed(tool: str, names: Sequence[str], habits: Habits) -> str:
    """Return a tool's name in a harness; a wrong name becomes one that the harness does not know.

    A base without the environment's own names does not even use them by mistake.
    """
    if tool in CORE:
        return names[CORE.index(tool)]
    if tool not in names:
        return tool
    others = [other for other in OTHERS if tool not in other]
    wrong = [CORE, *others] if habits.core else others
    return wrong[len(tool) % len(wrong)][FOREIGN.index(tool) % len(CORE)]


def _mixed(rng: random.Random) -> tuple[str, ...]:
    """Return a harness that nobody has: for each tool one of its many names."""
    return tuple(rng.choice(role) for role in zip(CORE, CORE, *OTHERS, *MORE, strict=True))


def _translator(demo: Demo, rng: random.Random) -> "Translator":
    words = {word: _word(rng) for word in demo.words if rng.random() < 0.8}
    numbers = {n: str(rng.randrange(2, 61)) for n in re.findall(r"(?<= )\d+", demo.instruction)}
    return Translator(words, numbers if rng.random() < 0.8 else {})


class Translator:
    """Puts other words and numbers into a text, the same for the same."""

    def __init__(self, words: Mapping[str, str], numbers: Mapping[str, str]) -> None:
        """Take what stands for what; line numbers and counts of lines stay."""
        self._words, self._numbers = words, numbers
        choices = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
        self._word = re.compile(rf"(?<![A-Za-z])({choices})(?![A-Za-z])") if words else None
        digits = "|".join(sorted(numbers, key=len, reverse=True))
        self._number = re.compile(rf"(?<=[ \[\-(:])({digits})(?![\d\t])") if numbers else None

    def __call__(self, text: str) -> str:
        """Return the text with the other words."""
        if self._word is not None:
            text = self._word.sub(lambda found: self._words[found[1]], text)
        if self._number is not None:
            lines = text.split("\n")
            text = "\n".join(
                line
                if "+" in line[:60] and line.startswith("edited")
                else self._number.sub(lambda found: self._numbers[found[1]], line)
                for line in lines
            )
        return text


def _word(rng: random.Random) -> str:
    """Return a word that looks English and mostly is not."""
    parts = (_ONSETS, _VOWELS, _CODAS) * rng.choice((1, 2, 2, 2, 3))
    word = "".join(map(rng.choice, parts))
    return word if len(word) > 2 else _word(rng)
