"""The compact form of a recipe in its file: a few KB that a person can still read.

Ids are grouped by file, class and function, in their order; a test is a name, or a list of a name
and its parameters.  An edit is a row, under its file: start, end, digest, and what follows it as far
as it is not the usual.  Every list of plain values stands on one line.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from pydantic import BaseModel

Json = Any
_IDS: Final = ("fail_to_pass", "excluded", "held_out", "unsplit")
_ROWS: Final[Mapping[str, tuple[tuple[str, str | None], ...]]] = {
    "deletions": (("kind", None), ("mode", None), ("symbol", ""), ("replacement", "")),
    "hidden": (("replacement", ""), ("kind", "test"), ("symbol", ""), ("mode", "hide")),
}
"""What a row says behind its digest, and what is meant where it does not."""


def pack(recipe: BaseModel) -> dict[str, Json]:
    """Return a recipe as it is written: packed, and without empty values that are the default."""
    document = _without_defaults(recipe)
    for name in _IDS:
        if name in document:
            document[name] = pack_ids(document[name])
    if _are_places(document.get("licences")):
        document["licences"] = _pack_licences(document["licences"])
    if "guards" in document:
        document["guards"] = _pack_sets(document["guards"])
    if "replays" in document:
        document["replays"] = [_pack_replay(each) for each in document["replays"]]
    for name, columns in _ROWS.items():
        if name in document:
            document[name] = _by_path([_row(edit, columns) for edit in document[name]])
    return document


def unpack(document: Mapping[str, Json]) -> dict[str, Json]:
    """Return the values of a recipe from what its file holds.

    Raises:
        ValueError: If ids or edits are not written as ``pack`` writes them.
    """
    values = dict(document)
    try:
        for name in filter(document.__contains__, _IDS):
            values[name] = list(unpack_ids(document[name]))
        for name in filter(document.__contains__, ("guards",)):
            values[name] = dict(_unpack_sets(document[name]))
        for name in filter(lambda n: isinstance(document.get(n), dict), ("licences",)):
            values[name] = sorted(_unpack_licences(document[name]))
        for name in filter(document.__contains__, ("replays",)):
            values[name] = [_unpack_replay(*row) for row in document[name]]
        for name in filter(document.__contains__, _ROWS):
            values[name] = list(_edits(document[name], _ROWS[name]))
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is not written as codeenv writes it: {error}") from None
    return values


def pack_ids(ids: Sequence[str]) -> Json:
    """Return test ids grouped by what they begin with; any ids, in any order."""
    return _pack([_split(test) for test in ids])


def unpack_ids(packed: Json, before: str = "") -> Iterator[str]:
    """Yield the ids that ``pack_ids`` was given."""
    for item in _parts(packed):
        if isinstance(item, dict):
            for name, inner in item.items():
                yield from unpack_ids(inner, f"{before}{name}::")
        elif isinstance(item, str):
            yield before + item
        else:
            name, *parameters = item
            yield from (before + name + parameter for parameter in parameters)


def _pack_sets(guards: Mapping[str, Sequence[str]]) -> Json:
    """Return the ids that have each set of names: tests of controls, places of licences."""
    sets: dict[str, list[str]] = {}
    for test, names in guards.items():
        sets.setdefault(" ".join(names), []).append(test)
    return {names: pack_ids(tests) for names, tests in sets.items()}


def _are_places(licences: Sequence[str] | None) -> bool:
    """Return whether each licence is for one place, and all are sorted."""
    parts = [licence.rpartition(" ") for licence in licences or ()]
    if licences is None or not all(space and what for _, space, what in parts):
        return False
    return list(licences) == sorted({*licences})


def _pack_licences(licences: Sequence[str]) -> Json:
    """Return the places of each set of licences."""
    by_place: dict[str, list[str]] = {}
    for licence in licences:
        place, _, what = licence.rpartition(" ")
        by_place.setdefault(place, []).append(what)
    return _pack_sets(by_place)


def _unpack_licences(packed: Json) -> Iterator[str]:
    for place, names in _unpack_sets(packed):
        yield from (f"{place} {name}" for name in names)


def _unpack_sets(packed: Json) -> Iterator[tuple[str, list[str]]]:
    for names, tests in packed.items():
        yield from ((test, names.split()) for test in unpack_ids(tests))


class _Line(list[Json]):
    """A list that is written on one line, whatever it holds."""


def _pack_replay(replay: Mapping[str, str]) -> Json:
    """Return the digest of the answer, and the steps of the script."""
    return _Line([replay["answer"], *json.loads(replay["script"])])


def _unpack_replay(answer: str, *steps: Json) -> dict[str, str]:
    return {"answer": answer, "script": json.dumps(steps)}


def write(value: Json, depth: int = 0) -> str:
    """Return JSON with an indent of one, lists of plain values on one line."""
    if isinstance(value, _Line):
        return json.dumps(value)
    if isinstance(value, dict) and value:
        rows = [f"{json.dumps(k, ensure_ascii=False)}: {write(v, depth + 1)}" for k, v in value.items()]
        return _lines("{", rows, "}", depth)
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        return _lines("[", [write(item, depth + 1) for item in value], "]", depth)
    return json.dumps(value, ensure_ascii=False)


def _lines(first: str, rows: Sequence[str], last: str, depth: int) -> str:
    inner = ",\n".join(f"{' ' * (depth + 1)}{row}" for row in rows)
    return f"{first}\n{inner}\n{' ' * depth}{last}"


def _without_defaults(model: BaseModel) -> dict[str, Json]:
    """Return a model's values by name, sorted, without the empty ones that are the default."""
    fields = type(model).model_fields
    values = model.model_dump(mode="json")
    kept = {}
    for name in sorted(values):
        value, inner = values[name], getattr(model, name)
        usual = inner == fields[name].default and fields[name].default in (None, "", (), {})
        if not usual:
            kept[name] = _without_defaults(inner) if isinstance(inner, BaseModel) else value
    return kept


def _parts(packed: Json) -> list[Json]:
    if not isinstance(packed, list | dict):
        raise TypeError(f"{packed!r} is no list")
    return packed if isinstance(packed, list) else [packed]


def _split(test: str) -> tuple[tuple[str, ...], str]:
    names, bracket, parameters = test.partition("[")
    return tuple(names.split("::")), bracket + parameters


def _pack(rows: Sequence[tuple[tuple[str, ...], str]]) -> Json:
    items: list[Json] = []
    for (name, deeper), group in groupby(rows, key=lambda row: (row[0][0], len(row[0]) > 1)):
        if deeper:
            inner = _pack([(names[1:], parameters) for names, parameters in group])
            if items and isinstance(items[-1], dict) and name not in items[-1]:
                items[-1][name] = inner
            else:
                items.append({name: inner})
        else:
            every = [parameters for _, parameters in group]
            items.append(name if every == [""] else [name, *every])
    return items[0] if len(items) == 1 and isinstance(items[0], dict) else items


def _row(edit: Mapping[str, Json], columns: Sequence[tuple[str, str | None]]) -> tuple[str, Json]:
    told = [edit[name] for name, _ in columns]
    while told and told[-1] == columns[len(told) - 1][1]:
        told.pop()
    return edit["path"], [edit["start"], edit["end"], edit["sha256"], *told]


def _by_path(rows: Sequence[tuple[str, Json]]) -> Json:
    groups = [(path, [row for _, row in group]) for path, group in groupby(rows, key=lambda r: r[0])]
    whole = dict(groups)
    return whole if len(whole) == len(groups) else [{path: rows} for path, rows in groups]


def _edits(packed: Json, columns: Sequence[tuple[str, str | None]]) -> Iterator[dict[str, Json]]:
    for part in _parts(packed):
        for path, rows in part.items():
            for start, end, digest, *told in rows:
                usual = {name: value for name, value in columns if value is not None}
                given = dict(zip((name for name, _ in columns), told, strict=False))
                place = {"path": path, "start": start, "end": end, "sha256": digest}
                if len(told) > len(columns):
                    raise TypeError(f"a row of {path} is too long")
                yield {**place, **usual, **given}
