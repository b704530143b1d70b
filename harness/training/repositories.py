"""Writes the study's repositories: small packages of our own, every one about another subject.

    python -m training.repositories        writes tasks/study/<name>/repository.json

A package has six modules of four functions, each one to three lines long and described by its
docstring; which idiom a function is, and about which words, is drawn with a fixed seed.  The last
two packages are held out: no word of theirs is in the others.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path

from training.idioms import IDIOMS
from training.words import Function, Words

ROOT = Path(__file__).resolve().parents[2] / "tasks" / "study"
MODULES, FUNCTIONS = 6, 4
SUBJECTS = {
    "pantry": ("jars jar", "weight price shelf sugar label", "fruit brand"),
    "library": ("books book", "pages year copies loans rating", "author title"),
    "garage": ("cars car", "wheels power doors mileage seats", "maker colour"),
    "orchard": ("trees tree", "height age apples rows depth", "kind site"),
    "school": ("pupils pupil", "grade marks absences lessons hours", "surname town"),
    "harbour": ("boats boat", "length crew sails cargo knots", "flag berth"),
    "theatre": ("plays play", "acts cast seating scenes minutes", "writer hall"),
    "workshop": ("tools tool", "teeth watts handles stock width", "owner drawer"),
    "museum": ("vases vase", "century cracks value inches gilding", "potter room"),
    "railway": ("trains train", "wagons speed stops delay tickets", "line driver"),
}
HELD_OUT = ("museum", "railway")


def functions_of(name: str) -> list[Function]:
    """Return the functions of a package: every idiom once, then drawn ones, none twice."""
    rng = random.Random(name)
    (many, one), numbers, texts = (group.split() for group in SUBJECTS[name])
    words = Words(many, one, numbers, texts)
    made: dict[str, Function] = {}
    wanted = [*IDIOMS, *rng.choices(IDIOMS, k=60)]
    for idiom in wanted:
        function = idiom(words, rng)
        made.setdefault(function.name, function)
    chosen = list(made.values())[: MODULES * FUNCTIONS]
    rng.shuffle(chosen)
    return chosen


def repository(name: str) -> dict[str, list[str]]:
    """Return a package's files: path -> lines."""
    functions = functions_of(name)
    files = {
        "LICENSE": ["Licensed under the Apache License, Version 2.0, as codeenv is."],
        "README.md": [f"# {name}", "", f"Small functions about {SUBJECTS[name][0].split()[0]}."],
        "pyproject.toml": _pyproject(name),
        f"{name}/__init__.py": [f'"""Functions about {SUBJECTS[name][0].split()[0]}."""'],
    }
    for number in range(MODULES):
        part = functions[number * FUNCTIONS : (number + 1) * FUNCTIONS]
        module = f"part{number + 1}"
        files[f"{name}/{module}.py"] = _module(name, part)
        files[f"tests/test_{module}.py"] = _tests(name, module, part)
    return files


def _pyproject(name: str) -> list[str]:
    return ["[project]", f'name = "{name}"', 'version = "1.0.0"', 'requires-python = ">=3.11"']


def _module(name: str, functions: Sequence[Function]) -> list[str]:
    lines = [f'"""A part of {name}."""']
    for function in functions:
        lines += ["", "", f"def {function.name}({function.parameters}):"]
        lines += [f'    """{function.doc}"""', *(f"    {line}" for line in function.body)]
    return lines


def _tests(name: str, module: str, functions: Sequence[Function]) -> list[str]:
    lines = [f"from {name} import {module}"]
    for function in functions:
        lines += ["", "", f"def test_{function.name}():"]
        lines += [f"    {_of_module(line, function.name, module)}" for line in function.test]
    return lines


def _of_module(line: str, name: str, module: str) -> str:
    return line.replace(f"assert {name}(", f"assert {module}.{name}(")


def main() -> None:
    """Write all repositories."""
    for name in SUBJECTS:
        folder = ROOT / name
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(repository(name), indent=1, ensure_ascii=False) + "\n"
        (folder / "repository.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
