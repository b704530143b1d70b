"""Calls that no test makes, answered by a submission and compared with the known-good solution.

What tests call of the deleted code is recorded when a task is made, and changed a little: other
numbers, other words.  The recipe keeps such calls, and digests of the right answers.  A submission
is asked them in a box that holds no test and no answer; whoever has a table of what the tests
expect, or has talked a test into passing, does not know them.

A right solution may well differ from the known-good one where no test looks.  So it is enough to
agree with it on most calls of each function.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from codeenv.grading.guarded import digest_of_delta
from codeenv.grading.runs import Runs
from codeenv.languages.base import Language
from codeenv.materialise.models import Task
from codeenv.tasks.models import Recipe, Replay, span_digest
from codeenv.tree import Delta

_LEAST, _EACH, _MOST, _BYTES = 3, 5, 24, 4096
"""Calls of one function, at least and at most; of all, and their size."""
_TRIED, _VARIATIONS = 160, 6
_WORLDS = 4
"""How often the known-good solution must give the same answer: other orders, another day."""
_BRIEF = 1.0
"""Seconds in which the known-good solution must answer: a submission has more."""
_RAISES = "raises "


def with_replays(task: Task, runs: Runs) -> Recipe:
    """Return the recipe with calls that tell the known-good solution from others.

    Raises:
        SandboxError: If a box failed.
    """
    found = [runs.record(task, task.oracle, task.fail_to_pass, seed) for seed in (0, 1)]
    again = frozenset(found[1])
    common = [script for script in found[0] if script in again]
    language = runs.language(task)
    origins = _varied(language, _spread(language, common))
    scripts = tuple(dict.fromkeys((*origins.values(), *origins)))
    if not scripts:
        return task.recipe
    right = _constant(task, runs, scripts)
    told = runs.call_again(task, Delta(), scripts, range(len(scripts)), limit=_BRIEF)
    damaged = _by_script(told, scripts)
    usable = {
        script: right[script]
        for script, origin in origins.items()
        if script in right
        and right[script] not in (damaged.get(script, right[script]), right.get(origin))
    }
    return task.recipe.model_copy(update={"replays": tuple(_chosen(language, usable))})


def replay(task: Task, delta: Delta, runs: Runs, seed: int) -> Mapping[str, tuple[int, int]]:
    """Return, per function, how many calls a submission answers rightly, and of how many.

    Args:
        task: The task.
        delta: What counts of the submission.
        runs: Runs them.
        seed: Chooses their order, with task and submission.

    Raises:
        SandboxError: If the box failed.
    """
    replays, language = task.recipe.replays, runs.language(task)
    order = list(range(len(replays)))
    Random(f"{task.id} {digest_of_delta(delta)} {seed}").shuffle(order)
    told = runs.call_again(task, delta, [each.script for each in replays], order)
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for number, each in enumerate(replays):
        target = language.target_of(each.script)
        asked[target] += 1
        right[target] += number in told and _digest(told[number]) == each.answer
    return {target: (right[target], asked[target]) for target in asked}


def _spread(language: Language, scripts: Sequence[str]) -> list[str]:
    """Return scripts of many functions: the first ones of each, the second ones, and so on."""
    by_target: dict[str, list[str]] = defaultdict(list)
    for script in scripts:
        by_target[language.target_of(script)].append(script)
    longest = max(map(len, by_target.values()), default=0)
    rounds = [each[i] for i in range(longest) for each in by_target.values() if i < len(each)]
    return rounds[:_TRIED]


def _varied(language: Language, scripts: Sequence[str]) -> dict[str, str]:
    """Return scripts that no test makes, with the ones they were made of: first one of each."""
    known = frozenset(scripts)
    found = {script: language.vary(script, _VARIATIONS) for script in scripts}
    turns = (
        (others[turn], script)
        for turn in range(_VARIATIONS)
        for script, others in found.items()
        if turn < len(others) and others[turn] not in known
    )
    origins: dict[str, str] = {}
    for other, script in turns:
        origins.setdefault(other, script)
    return origins


def _constant(task: Task, runs: Runs, scripts: Sequence[str]) -> dict[str, str]:
    """Return the answers that the known-good solution gives every time."""
    chance = Random(task.id)
    order = list(range(len(scripts)))
    right = _by_script(runs.call_again(task, task.oracle, scripts, order, limit=_BRIEF), scripts)
    right = {script: told for script, told in right.items() if not told.startswith(_RAISES)}
    for world in range(1, _WORLDS):
        chance.shuffle(order)
        told = runs.call_again(
            *(task, task.oracle, scripts, order),
            hash_seed=world,
            strange=world == _WORLDS - 1,
            limit=_BRIEF,
        )
        again = _by_script(told, scripts)
        right = {script: answer for script, answer in right.items() if again.get(script) == answer}
    return right


def _by_script(told: Mapping[int, str], scripts: Sequence[str]) -> dict[str, str]:
    return {scripts[number]: answer for number, answer in told.items()}


def _chosen(language: Language, usable: Mapping[str, str]) -> Iterable[Replay]:
    """Yield calls with different answers, some of each function, of as many tests as may be."""
    by_target: dict[str, dict[str, str]] = defaultdict(dict)
    for script in usable:
        by_target[language.target_of(script)].setdefault(usable[script], script)
    groups = [answers for answers in by_target.values() if len(answers) >= _LEAST]
    count = size = 0
    for answers in sorted(groups, key=lambda group: sum(map(len, group.values())) / len(group)):
        kept = list(answers.items())[:_EACH]
        count += len(kept)
        size += sum(len(script) for _, script in kept)
        if count > _MOST or size > _BYTES:
            return
        yield from (Replay(script=script, answer=_digest(answer)) for answer, script in kept)


def _digest(answer: str) -> str:
    return span_digest(answer.encode("utf-8", "surrogatepass"))
