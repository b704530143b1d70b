"""Data files of tests that nothing names any more once some tests are taken out."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from codeenv.languages.base import Layout
from codeenv.languages.python.layout import TEST_FOLDERS
from codeenv.languages.python.syntax import parse_source
from codeenv.tree import Tree

_LISTS = re.compile(rb"\b(i?glob|rglob|iterdir|listdir|scandir|walk|copytree|make_archive)\b")
_PATTERN = re.compile(r"[*?\[{%]")
_MODULE = re.compile(r"\w+(\.\w+)+")
_JOINS = frozenset({"join", "joinpath", "Path", "PurePath", "PosixPath"})


def unmissed_files(
    tree: Tree, layout: Layout, left: Mapping[str, bytes], files: Iterable[str]
) -> tuple[str, ...]:
    """Return the data files that code which went names, and nothing that stays can find.

    Args:
        tree: With everything.
        layout: Of the tree.
        left: What stays of it.
        files: The data files to choose from.
    """
    code = [*layout.test_files, *layout.support_files]
    code = [p for p in code if p.endswith(".py") and tree[p].mode != "link"]
    changed = [p for p in code if left.get(p) != tree[p].data]
    lost: dict[str, list[tuple[str, ...]]] = {}
    for text in sorted({text for path in changed for text in _texts(tree[path].data)}):
        given = tuple(part for part in re.split(r"[/\\]", text) if part not in ("", ".", ".."))
        lost.setdefault(given[-1] if given else "", []).append(given)
    named = [path for path in files if _is_named(path, lost)]
    staying = {path: left[path] for path in code if path in left} if named else {}
    folders = frozenset(name for data in staying.values() for name in _open_folders(data))
    lists = [PurePosixPath(p).parent for p, data in staying.items() if _LISTS.search(data)]
    return tuple(
        path
        for path in named
        if not folders & _folders(path)
        and not any(place in PurePosixPath(path).parents for place in lists)
        and not _is_mentioned(path, left)
    )


def _texts(data: bytes) -> frozenset[str]:
    """Return the string constants of a file, docstrings and parts of f-strings included."""
    source = parse_source(data)
    return frozenset(
        node.value
        for node in (ast.walk(source.module) if source else ())
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_named(path: str, texts: Mapping[str, Collection[tuple[str, ...]]]) -> bool:
    """Return whether a text is the name of a file, or the end of its path.

    The texts are given as parts of paths, by the last part.
    """
    parts = PurePosixPath(path).parts
    return any(parts[-len(given) :] == given for given in texts.get(parts[-1], ()))


def _folders(path: str) -> frozenset[str]:
    """Return the names of the folders around a file, those of all tests left out."""
    return frozenset(PurePosixPath(path).parts[:-1]) - TEST_FOLDERS


def _is_mentioned(path: str, left: Mapping[str, bytes]) -> bool:
    name = PurePosixPath(path).name.encode("utf-8", "surrogateescape")
    pattern = re.compile(rb"(?<![\w-])" + re.escape(name) + rb"(?!\w)")
    return any(
        name in data and pattern.search(data) for other, data in left.items() if other != path
    )


def _open_folders(data: bytes) -> Iterator[str]:
    """Yield the words of a file's texts that may be folders of which any file is read.

    A folder that is followed by the name of one file is none.
    """
    source = parse_source(data)
    if source is None:
        yield from re.findall(r"[\w.-]+", data.decode("utf-8", "replace"))
        return
    closed, joined = set[int](), set[int]()
    for node in ast.walk(source.module):
        closed |= {id(part) for part in _followed(node)}
        joined |= {id(part) for part in node.values} if isinstance(node, ast.JoinedStr) else set()
    for node in ast.walk(source.module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts = re.split(r"[/\\]", node.value)
            is_closed = id(node) in closed or (_is_one_file(parts) and id(node) not in joined)
            modules = node.value.split(".") if _MODULE.fullmatch(node.value) else []
            yield from () if is_closed else parts
            yield from modules if TEST_FOLDERS.intersection(modules) else ()


def _is_one_file(parts: Collection[str]) -> bool:
    *folders, name = parts
    return bool(folders) and "." in name.strip(".") and not any(map(_PATTERN.search, parts))


def _followed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the parts of a path expression before a constant that names one file."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        inner = node.left
        while isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
            parts.append(inner.right)
            inner = inner.left
        parts = [node.right, *parts, inner]
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        parts = list(reversed(node.args)) if name in _JOINS else []
    last = parts[0] if parts else None
    name = last.value if isinstance(last, ast.Constant) else None
    if isinstance(name, str) and _is_one_file(["", *re.split(r"[/\\]", name)]):
        yield from parts[1:]
