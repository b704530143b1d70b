"""The classes of a repository by name: bases, methods, and what their bases do with subclasses."""

import argparse
import ast
import builtins
import collections
import collections.abc
import datetime
import enum
import io
import json
import logging
import pathlib
import re
import string
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from codeenv.languages.base import Layout
from codeenv.languages.python.bound import bindings
from codeenv.languages.python.definitions import find_definitions
from codeenv.languages.python.syntax import parse_source
from codeenv.tree import Tree

_KNOWN = (
    *(builtins, collections, collections.abc, io, enum, string, logging, threading, json),
    *(argparse, ast),
)

_OBJECTS = (
    *(str, bytes, int, float, list, tuple, dict, set, memoryview, BaseException),
    *(collections.OrderedDict, collections.Counter, collections.deque, io.StringIO, io.BytesIO),
    *(datetime.datetime, datetime.timedelta, datetime.tzinfo, pathlib.Path, re.Pattern, re.Match),
)
_COMMON = frozenset(name for kind in _OBJECTS for name in dir(kind))
"""Attributes that say nothing of whose they are."""


@dataclass(frozen=True)
class Class:
    """One class: last parts of its bases' names, names its body binds, whether it has hooks."""

    bases: tuple[str, ...]
    names: frozenset[str]
    registers: bool


@lru_cache(maxsize=8)
def read_classes(tree: Tree, layout: Layout) -> Mapping[str, tuple[Class, ...]]:
    """Return the classes of the source files by simple name."""
    found: dict[str, list[Class]] = {}
    for path in layout.source_files:
        source = parse_source(tree[path].data)
        for definition in find_definitions(source) if source else ():
            if isinstance(definition.node, ast.ClassDef):
                found.setdefault(definition.node.name, []).append(_read(definition.node))
    return {name: tuple(classes) for name, classes in found.items()}


def inherited_from(classes: Mapping[str, tuple[Class, ...]], node: ast.ClassDef, name: str) -> str:
    """Return the base class of a class that also has a name, or "".

    A base that is called like the class itself is another class, from elsewhere.
    """
    queue, seen = [b for b in base_names(node) if b != node.name], set[str]()
    while queue:
        base = queue.pop(0)
        if base in seen:
            continue
        seen.add(base)
        for known in classes.get(base, ()):
            if name in known.names:
                return base
            queue += known.bases
        if base not in classes and _standard_has(base, name):
            return base
    return ""


def registering_base(classes: Mapping[str, tuple[Class, ...]], bases: tuple[str, ...]) -> str:
    """Return the base class of the project that is told of its subclasses, or ""."""
    queue, seen = list(bases), set[str]()
    while queue:
        base = queue.pop(0)
        for known in classes.get(base, ()) if base not in seen else ():
            if known.registers:
                return base
            queue += known.bases
        seen.add(base)
    return ""


def ancestors(classes: Mapping[str, tuple[Class, ...]], name: str) -> tuple[str, ...]:
    """Return a class and its bases by simple name, nearest first."""
    queue, found = [name], dict[str, None]()
    while queue:
        current = queue.pop(0)
        if current not in found:
            found[current] = None
            queue += [b for known in classes.get(current, ()) for b in known.bases]
    return tuple(found)


def relatives(classes: Mapping[str, tuple[Class, ...]], name: str) -> frozenset[str]:
    """Return the subclasses of a class, and all bases of those: what ``self`` may be besides."""
    lines = [frozenset(ancestors(classes, other)) for other in classes]
    return frozenset().union(*(line for line in lines if name in line))


def others_have(
    classes: Mapping[str, tuple[Class, ...]], name: str, owners: Collection[str]
) -> bool:
    """Return whether a class besides the owners, or an object of Python itself, has a name."""
    if name in _COMMON:
        return True
    return any(
        name in known.names for other in classes if other not in owners for known in classes[other]
    )


def base_names(node: ast.ClassDef) -> tuple[str, ...]:
    """Return the last parts of the names of a class's bases."""
    return tuple(ast.unparse(b).partition("[")[0].rpartition(".")[2] for b in node.bases)


def metaclass_of(node: ast.ClassDef) -> str:
    """Return the metaclass a class names, or ""; the one for abstract classes does not count."""
    given = (ast.unparse(k.value) for k in node.keywords if k.arg == "metaclass")
    return next((name for name in given if not name.endswith("ABCMeta")), "")


def _read(node: ast.ClassDef) -> Class:
    names = {name for name, _ in bindings(node.body)}
    registers = "__init_subclass__" in names or bool(metaclass_of(node))
    return Class(base_names(node), frozenset(names), registers)


def _standard_has(base: str, name: str) -> bool:
    return any(hasattr(getattr(module, base, None), name) for module in _KNOWN)
