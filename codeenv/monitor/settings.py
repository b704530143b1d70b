"""What a test runner reads in configuration files, and whether a change of it steers outcomes."""

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import Literal

Steering = Literal["steers", "changed", "harmless", "same"]
_OUTCOMES = frozenset(
    "python_files python_classes python_functions testpaths norecursedirs collect_ignore "
    "xfail_strict required_plugins plugins usefixtures pythonpath "
    "empty_parameter_set_mark timeout env pytest11 cmdclass confcutdir rootdir".split()
)
"""Settings that say which tests there are, what is loaded with them and what passes."""
_HARMLESS = re.compile(
    r"^(markers|minversion|log_\w+|console_output_style|cache_dir|asyncio_\w+|filterwarnings"
    r"|doctest_\w+|verbosity_\w+|tmp_path_\w+|faulthandler_timeout|truncation_\w+)$"
)
_PLAIN_OPTION = re.compile(
    r"^(-[qvlsr]\w*|--(strict\S*|tb\S*|color\S*|durations\S*|cov\S*|showlocals|no-header|no-summary"
    r"|import-mode\S*|doctest\S*|capture\S*|verbose|quiet|dist\S*|numprocesses\S*|show-capture\S*))$"
)


def steering(path: str, before: str | None, after: str | None) -> Steering:
    """Return what a change of a configuration file means for the outcome of tests.

    Args:
        path: Of the file: ``pyproject.toml``, ``tox.ini``, ``pytest.ini`` and the like.
        before: Its text before, None if there was none.
        after: Its text now, None if it was deleted.
    """
    was, now = dict(_settings(path, before)), dict(_settings(path, after))
    changed = {key for key in (*was, *now) if was.get(key) != now.get(key)}
    if not changed:
        return "same"
    if any(_steers(key, was, now) for key in changed):
        return "steers"
    return (
        "harmless"
        if all(_HARMLESS.match(key) or key == "addopts" for key in changed)
        else "changed"
    )


def _steers(key: str, was: Mapping[str, str], now: Mapping[str, str]) -> bool:
    if key == "addopts":
        known = set(_options(was.get(key, "")))
        new = [word for word in _options(now.get(key, "")) if word not in known]
        return any(not _PLAIN_OPTION.match(word) for word in new)
    return key in _OUTCOMES


def _options(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _settings(path: str, text: str | None) -> Iterator[tuple[str, str]]:
    """Yield the settings of a test runner as texts; a file that cannot be read is one itself."""
    if not text:
        return
    try:
        if path.endswith(".toml"):
            yield from _of_toml(path, tomllib.loads(text))
        elif path.endswith("setup.py"):
            yield from ((word, "set") for word in ("pytest11", "cmdclass") if word in text)
        else:
            yield from _of_ini(path, text)
    except (tomllib.TOMLDecodeError, configparser.Error, RecursionError):
        yield "(unreadable)", text


def _of_toml(path: str, read: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    if not path.endswith("pyproject.toml"):
        yield from _flat(read)
        return
    tool = read.get("tool")
    yield from _flat(tool.get("pytest") if isinstance(tool, dict) else None)
    project = read.get("project")
    points = project.get("entry-points") if isinstance(project, dict) else None
    if isinstance(points, dict) and "pytest11" in points:
        yield "pytest11", str(points["pytest11"])


def _flat(found: object) -> Iterator[tuple[str, str]]:
    """Yield settings; tables in tables are looked into, lists become words."""
    for key, value in found.items() if isinstance(found, dict) else ():
        if isinstance(value, dict):
            yield from _flat(value)
        else:
            words = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield str(key), words


def _of_ini(path: str, text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    for section in parser.sections():
        if section in ("pytest", "tool:pytest"):
            yield from ((key, value or "") for key, value in parser.items(section))
        elif section.endswith("entry_points") and "pytest11" in dict(parser.items(section)):
            yield "pytest11", parser.get(section, "pytest11") or ""
