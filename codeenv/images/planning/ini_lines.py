"""INI files with the line of every value: tox.ini, setup.cfg."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SECTION = re.compile(r"^\[(?P<name>[^\]]+)\]\s*$")
_KEY = re.compile(r"^(?P<key>[A-Za-z_][\w. {},!:-]*?)\s*[=:]\s?(?P<value>.*)$")


@dataclass(frozen=True, slots=True)
class IniLine:
    """One line of a value: its first one stands beside the key."""

    section: str
    key: str
    text: str
    line: int


def ini_lines(text: str) -> Iterator[IniLine]:
    """Yield the lines of values that are not empty."""
    section = key = ""
    for number, raw in enumerate(text.splitlines(), start=1):
        if not raw.strip() or raw.lstrip().startswith(("#", ";")):
            continue
        named, started = _SECTION.match(raw), _KEY.match(raw)
        if named:
            section, key = named["name"].strip(), ""
        elif raw[0] in " \t":
            yield IniLine(section, key, raw.strip(), number)
        elif started:
            key = started["key"].strip()
            if started["value"].strip():
                yield IniLine(section, key, started["value"].strip(), number)
