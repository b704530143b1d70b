"""Turn Poetry's dependency tables into standard requirements."""

import re
from collections.abc import Callable, Iterator

from codeenv.languages.python.manifests import Table, as_table, table, tables, text


def poetry_requirements(
    poetry: Table, is_test_group: Callable[[str], bool]
) -> Iterator[tuple[str, bool]]:
    """Yield requirement lines, and whether the code itself needs them."""
    for name, value in table(poetry, "dependencies").items():
        if name.lower() != "python":
            yield from ((line, True) for line in _lines(name, value))
    yield from ((line, False) for line in _table_lines(poetry.get("dev-dependencies")))
    for group, value in table(poetry, "group").items():
        if is_test_group(group):
            dependencies = as_table(value).get("dependencies")
            yield from ((line, False) for line in _table_lines(dependencies))


def poetry_specifier(version: str) -> str:
    """Turn a Poetry constraint into a PEP 440 specifier; "" for any version."""
    if "|" in version:
        return ""
    parts = [_one(part.strip()) for part in version.replace(" ", ",").split(",") if part.strip()]
    return ",".join(p for p in parts if p)


def _table_lines(value: object) -> Iterator[str]:
    for name, entry in as_table(value).items():
        yield from _lines(name, entry)


def _lines(name: str, value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield f"{name}{poetry_specifier(value)}"
    elif isinstance(value, list):
        for entry in tables(value):
            yield from _lines(name, entry)
    else:
        entry = as_table(value)
        if {"git", "path", "url"} & set(entry) or entry.get("optional") is True:
            return
        extras = entry.get("extras")
        bracket = f"[{','.join(map(str, extras))}]" if isinstance(extras, list) and extras else ""
        marker = text(entry.get("markers"))
        if not marker and text(entry.get("python")):
            marker = _python_marker(text(entry.get("python")))
        line = f"{name}{bracket}{poetry_specifier(text(entry.get('version')))}"
        yield f"{line}; {marker}" if marker else line


def _python_marker(version: str) -> str:
    specifiers = poetry_specifier(version)
    found = re.findall(r"(>=|<=|<|>|==|!=|~=)\s*([\d.]+)", specifiers)
    return " and ".join(f'python_version {op} "{number}"' for op, number in found)


def _one(part: str) -> str:
    match = re.fullmatch(r"(\^|~(?!=)|)\s*(\d[\w.*+!-]*)", part)
    if not match:
        return "" if part == "*" else part
    operator, version = match.groups()
    if not operator:
        return f"=={version}"
    numbers = [int(n) for n in re.match(r"\d+(\.\d+)*", version).group().split(".")]  # type: ignore[union-attr]
    return f">={version},<{_ceiling(operator, numbers)}"


def _ceiling(operator: str, numbers: list[int]) -> str:
    if operator == "~":
        keep = min(1, len(numbers) - 1)
    else:
        nonzero = [i for i, n in enumerate(numbers) if n]
        keep = nonzero[0] if nonzero else len(numbers) - 1
    head = numbers[: keep + 1]
    return ".".join(str(n) for n in (*head[:-1], head[-1] + 1))
