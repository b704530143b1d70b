"""The idioms of the study's functions: one to three lines that a docstring describes."""

import random

from training.words import Function, Idiom, Words


def _rows(number: str, *values: int) -> str:
    return "[" + ", ".join(f'{{"{number}": {value}}}' for value in values) + "]"


def _number_and_two(w: Words, r: random.Random) -> tuple[str, int, int]:
    """Return what a number is called, and two values of it, the smaller one first."""
    return r.choice(w.numbers), *sorted(r.sample(range(2, 60), 2))


def _total(w: Words, r: random.Random) -> Function:
    f = r.choice(w.numbers)
    a, b = r.sample(range(2, 40), 2)
    return Function(
        f"total_{f}",
        w.many,
        f"Return the sum of the {f} of all {w.many}.",
        [f'return sum({w.one}["{f}"] for {w.one} in {w.many})'],
        [f"assert total_{f}({_rows(f, a, b)}) == {a + b}", f"assert total_{f}([]) == 0"],
    )


def _mean(w: Words, r: random.Random) -> Function:
    f = r.choice(w.numbers)
    a, b = r.randrange(2, 20) * 2, r.randrange(21, 40) * 2
    return Function(
        f"mean_{f}",
        w.many,
        f"Return the mean {f} of the {w.many}.",
        [f'return sum({w.one}["{f}"] for {w.one} in {w.many}) / len({w.many})'],
        [f"assert mean_{f}({_rows(f, a, b)}) == {(a + b) // 2}"],
    )


def _listed(w: Words, r: random.Random) -> Function:
    f = r.choice(w.texts)
    return Function(
        f"every_{f}",
        w.many,
        f"Return the {f} of all {w.many}, in their order.",
        [f'return [{w.one}["{f}"] for {w.one} in {w.many}]'],
        [f'assert every_{f}([{{"{f}": "b"}}, {{"{f}": "a"}}]) == ["b", "a"]'],
    )


def _distinct(w: Words, r: random.Random) -> Function:
    f = r.choice(w.texts)
    rows = ", ".join(f'{{"{f}": "{v}"}}' for v in "bab")
    return Function(
        f"distinct_{f}",
        w.many,
        f"Return every {f} of the {w.many} once, sorted.",
        [f'return sorted({{{w.one}["{f}"] for {w.one} in {w.many}}})'],
        [f'assert distinct_{f}([{rows}]) == ["a", "b"]'],
    )


def _largest(w: Words, r: random.Random) -> Function:
    f, a, b = _number_and_two(w, r)
    return Function(
        f"most_{f}",
        w.many,
        f"Return the one of the {w.many} with the largest {f}.",
        [f'return max({w.many}, key=lambda {w.one}: {w.one}["{f}"])'],
        [f'assert most_{f}({_rows(f, a, b, 1)}) == {{"{f}": {b}}}'],
    )


def _smallest(w: Words, r: random.Random) -> Function:
    f, a, b = _number_and_two(w, r)
    return Function(
        f"least_{f}",
        w.many,
        f"Return the one of the {w.many} with the smallest {f}.",
        [f'return min({w.many}, key=lambda {w.one}: {w.one}["{f}"])'],
        [f'assert least_{f}({_rows(f, b, a, 90)}) == {{"{f}": {a}}}'],
    )


def _ordered(w: Words, r: random.Random) -> Function:
    f, a, b = _number_and_two(w, r)
    return Function(
        f"by_{f}",
        w.many,
        f"Return the {w.many} sorted by {f}.",
        [f'return sorted({w.many}, key=lambda {w.one}: {w.one}["{f}"])'],
        [f"assert by_{f}({_rows(f, b, a)}) == {_rows(f, a, b)}"],
    )


def _descending(w: Words, r: random.Random) -> Function:
    f, a, b = _number_and_two(w, r)
    return Function(
        f"ranked_by_{f}",
        w.many,
        f"Return the {w.many} sorted by {f}, the largest first.",
        [f'return sorted({w.many}, key=lambda {w.one}: {w.one}["{f}"], reverse=True)'],
        [f"assert ranked_by_{f}({_rows(f, a, b)}) == {_rows(f, b, a)}"],
    )


def _at_least(w: Words, r: random.Random) -> Function:
    f, n = r.choice(w.numbers), r.randrange(5, 50)
    return Function(
        f"with_{f}",
        w.many,
        f"Return the {w.many} whose {f} is at least {n}.",
        [f'return [{w.one} for {w.one} in {w.many} if {w.one}["{f}"] >= {n}]'],
        [f"assert with_{f}({_rows(f, n - 1, n, n + 3)}) == {_rows(f, n, n + 3)}"],
    )


def _below(w: Words, r: random.Random) -> Function:
    f, n = r.choice(w.numbers), r.randrange(5, 50)
    return Function(
        f"low_{f}",
        w.many,
        f"Return the {w.many} whose {f} is less than {n}.",
        [f'return [{w.one} for {w.one} in {w.many} if {w.one}["{f}"] < {n}]'],
        [f"assert low_{f}({_rows(f, n - 2, n, n + 3)}) == {_rows(f, n - 2)}"],
    )


def _counted(w: Words, r: random.Random) -> Function:
    f = r.choice(w.numbers)
    a, b = sorted(r.sample(range(10, 60), 2))
    return Function(
        f"count_{f}",
        f"{w.many}, limit",
        f"Return how many of the {w.many} have a {f} above the limit.",
        [f'return sum({w.one}["{f}"] > limit for {w.one} in {w.many})'],
        [
            f"assert count_{f}({_rows(f, a, b, b + 1)}, {a}) == 2",
            f"assert count_{f}({_rows(f, a)}, {a}) == 0",
        ],
    )


def _product(w: Words, r: random.Random) -> Function:
    f, g = r.sample(list(w.numbers), 2)
    a, b = r.sample(range(2, 12), 2)
    return Function(
        f"{f}_times_{g}",
        w.one,
        f"Return {f} times {g} of the {w.one}.",
        [f'return {w.one}["{f}"] * {w.one}["{g}"]'],
        [f'assert {f}_times_{g}({{"{f}": {a}, "{g}": {b}}}) == {a * b}'],
    )


def _difference(w: Words, r: random.Random) -> Function:
    f, g = r.sample(list(w.numbers), 2)
    a, b = r.sample(range(2, 40), 2)
    return Function(
        f"{f}_less_{g}",
        w.one,
        f"Return {f} minus {g} of the {w.one}.",
        [f'return {w.one}["{f}"] - {w.one}["{g}"]'],
        [f'assert {f}_less_{g}({{"{f}": {a}, "{g}": {b}}}) == {a - b}'],
    )


def _index(w: Words, r: random.Random) -> Function:
    f, g = r.choice(w.texts), r.choice(w.numbers)
    a, b = r.sample(range(2, 40), 2)
    rows = f'[{{"{f}": "a", "{g}": {a}}}, {{"{f}": "b", "{g}": {b}}}]'
    return Function(
        f"{g}_of_{f}",
        w.many,
        f"Return a dictionary from {f} to {g} of the {w.many}.",
        [f'return {{{w.one}["{f}"]: {w.one}["{g}"] for {w.one} in {w.many}}}'],
        [f'assert {g}_of_{f}({rows}) == {{"a": {a}, "b": {b}}}'],
    )


def _joined(w: Words, r: random.Random) -> Function:
    f = r.choice(w.texts)
    name, mark = r.choice([("commas", ", "), ("dashes", "-"), ("slashes", "/"), ("dots", ".")])
    return Function(
        f"{f}_text",
        w.many,
        f"Return the {f} of all {w.many} as one text, with {name} between.",
        [f'return "{mark}".join({w.one}["{f}"] for {w.one} in {w.many})'],
        [f'assert {f}_text([{{"{f}": "a"}}, {{"{f}": "b"}}]) == "a{mark}b"'],
    )


def _any_of(w: Words, r: random.Random) -> Function:
    f = r.choice(w.texts)
    return Function(
        f"has_{f}",
        f"{w.many}, {f}",
        f"Return whether any of the {w.many} has this {f}.",
        [f'return any({w.one}["{f}"] == {f} for {w.one} in {w.many})'],
        [
            f'assert has_{f}([{{"{f}": "a"}}, {{"{f}": "b"}}], "b") is True',
            f'assert has_{f}([{{"{f}": "a"}}], "b") is False',
        ],
    )


def _every_above(w: Words, r: random.Random) -> Function:
    f, n = r.choice(w.numbers), r.randrange(5, 50)
    return Function(
        f"all_above_{f}",
        w.many,
        f"Return whether all {w.many} have a {f} of more than {n}.",
        [f'return all({w.one}["{f}"] > {n} for {w.one} in {w.many})'],
        [
            f"assert all_above_{f}({_rows(f, n + 1, n + 4)}) is True",
            f"assert all_above_{f}({_rows(f, n + 1, n)}) is False",
        ],
    )


def _changed(w: Words, r: random.Random) -> Function:
    f = r.choice(w.numbers)
    a, b = r.sample(range(2, 60), 2)
    return Function(
        f"set_{f}",
        f"{w.one}, {f}",
        f"Return a copy of the {w.one} that has this {f}.",
        [f'return {{**{w.one}, "{f}": {f}}}'],
        [f'assert set_{f}({{"{f}": {a}, "x": 1}}, {b}) == {{"{f}": {b}, "x": 1}}'],
    )


def _first(w: Words, r: random.Random) -> Function:
    n = r.randrange(2, 6)
    return Function(
        f"first_{w.many}",
        w.many,
        f"Return the first {n} of the {w.many}.",
        [f"return {w.many}[:{n}]"],
        [f"assert first_{w.many}(list(range(9))) == {list(range(n))}"],
    )


def _last(w: Words, r: random.Random) -> Function:
    n = r.randrange(2, 6)
    return Function(
        f"last_{w.many}",
        w.many,
        f"Return the last {n} of the {w.many}.",
        [f"return {w.many}[-{n}:]"],
        [f"assert last_{w.many}(list(range(9))) == {list(range(9))[-n:]}"],
    )


def _scaled(w: Words, r: random.Random) -> Function:
    f, n, m = r.choice(w.numbers), r.randrange(2, 10), r.randrange(2, 30)
    return Function(
        f"scaled_{f}",
        f,
        f"Return the {f} times {n} plus {m}.",
        [f"return {f} * {n} + {m}"],
        [f"assert scaled_{f}(7) == {7 * n + m}", f"assert scaled_{f}(0) == {m}"],
    )


def _clamped(w: Words, r: random.Random) -> Function:
    f, n = r.choice(w.numbers), r.randrange(2, 20)
    m = n + r.randrange(5, 40)
    return Function(
        f"bounded_{f}",
        f,
        f"Return the {f}, but at least {n} and at most {m}.",
        [f"return max({n}, min({m}, {f}))"],
        [
            f"assert bounded_{f}({n - 1}) == {n}",
            f"assert bounded_{f}({m + 5}) == {m}",
            f"assert bounded_{f}({n + 2}) == {n + 2}",
        ],
    )


IDIOMS: tuple[Idiom, ...] = (
    _total, _mean, _listed, _distinct, _largest, _smallest, _ordered, _descending, _at_least,
    _below, _counted, _product, _difference, _index, _joined, _any_of, _every_above, _changed,
    _first, _last, _scaled, _clamped,
)  # fmt: skip
