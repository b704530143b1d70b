"""Makefiles, Dockerfiles, shell scripts, conda files and what a README tells people to type."""

import re
from collections.abc import Iterator

import yaml

from codeenv.images.planning.facts import Fact, Place, Script
from codeenv.images.planning.workflows import child, compose, scalars

_ASSIGNED = re.compile(r"(?m)^([A-Za-z_]\w*)\s*[?:]?=[ \t]*(.*)$")
_USED = re.compile(r"\$[({](\w+)[)}]")
_USUAL = {"PYTHON": "python", "PY": "python", "PIP": "pip", "PYTEST": "pytest", "RM": "rm"}
_TARGET = re.compile(r"^(?P<name>[\w./ -]+?)\s*::?(?!=)")
_FENCE = re.compile(r"^\s*(```+|~~~+)\s*(?P<language>[\w+-]*)")
_DIRECTIVE = re.compile(
    r"^\s*\.\. (code-block|code|sourcecode|prompt)::\s*(?P<language>\w*)|^.*::\s*$"
)
_SHELLS = frozenset({"", "sh", "bash", "shell", "console", "zsh", "text", "terminal"})
_PROMPT = re.compile(r"^\s*(?:\(\w+\)\s*)?[$%>]\s+")
_FROM_PYTHON = re.compile(r"(?i)^FROM\s+(?:\S+/)?python:(\d+\.\d+)")
_CONDA_ONLY = frozenset({"python", "pip", "conda", "mamba", "compilers", "c-compiler"})


def read_makefile(path: str, text: str) -> Iterator[Script]:
    """Yield the recipe lines, with the file's own simple variables put in."""
    values = {**_USUAL, **{name: value.strip() for name, value in _ASSIGNED.findall(text)}}
    within = ""
    for number, raw in enumerate(text.splitlines(), start=1):
        target = _TARGET.match(raw)
        if raw.startswith("\t") and within:
            yield Script(_expanded(raw.strip().lstrip("@-+"), values), Place(path, number))
        elif target:
            within = target["name"]


def _expanded(text: str, values: dict[str, str]) -> str:
    for _ in range(3):  # a variable may name another
        text = _USED.sub(lambda found: values.get(found[1], ""), text)
    return text


def read_dockerfile(path: str, text: str) -> Iterator[Script | Fact]:
    """Yield the commands of ``RUN``, the variables of ``ENV``, and the Python of ``FROM``."""
    lines, number = text.splitlines(), 0
    while number < len(lines):
        start, joined = number, lines[number]
        while joined.endswith("\\") and number + 1 < len(lines):
            number += 1
            joined = f"{joined[:-1]} {lines[number]}"
        number += 1
        place = Place(path, start + 1)
        word, _, rest = joined.strip().partition(" ")
        version = _FROM_PYTHON.match(joined.strip())
        if word.upper() == "RUN":
            yield Script(re.sub(r"^(\s*--\S+)+", "", rest).strip(), place)
        elif word.upper() == "ENV" and "$" not in rest:
            pairs = rest.split() if "=" in rest else ["=".join(rest.split(None, 1))]
            yield from (Fact("variable", pair, place) for pair in pairs if "=" in pair)
        elif version:
            yield Fact("python", version[1], place)


def read_shell(path: str, text: str) -> Iterator[Script]:
    """Yield a shell script as it is."""
    yield Script(text, Place(path, 1))


def read_conda(path: str, text: str) -> Iterator[Fact]:
    """Yield the dependencies of a conda environment file."""
    document = compose(text)
    listed = child(document, "dependencies") if document is not None else None
    for item in listed.value if isinstance(listed, yaml.SequenceNode) else ():
        pip = child(item, "pip")
        for scalar in scalars(pip if pip is not None else item):
            place = Place(path, scalar.start_mark.line + 1)
            name = re.match(r"(?:[\w-]+::)?([A-Za-z0-9][\w.-]*)", scalar.value)
            if name and name[1] not in _CONDA_ONLY:
                yield Fact("requirement", scalar.value if pip is not None else name[1], place)


def read_readme(path: str, text: str) -> Iterator[Script]:
    """Yield the lines of shell blocks in Markdown and reStructuredText."""
    for number, line in _block_lines(text):
        typed = _PROMPT.sub("", line).strip()
        if typed and not typed.startswith("#"):
            yield Script(typed, Place(path, number), user=True)


def _block_lines(text: str) -> Iterator[tuple[int, str]]:
    fence, language, indented = "", "", -1
    for number, line in enumerate(text.splitlines(), start=1):
        mark, directive = _FENCE.match(line), _DIRECTIVE.match(line)
        depth = len(line) - len(line.lstrip())
        if mark and (not fence or line.strip() == fence):
            fence, language = ("", "") if fence else (mark[1], mark["language"].lower())
        elif fence:
            if language in _SHELLS:
                yield number, line
        elif indented >= 0 and (depth > indented or not line.strip()):
            if line.strip() and not line.strip().startswith(":"):
                yield number, line
        elif directive:
            told = (directive["language"] or "").lower()
            indented = depth if told in _SHELLS else -1
        else:
            indented = -1
