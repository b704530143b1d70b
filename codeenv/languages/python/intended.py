"""What a source is to mean without a parameter, told from its syntax tree and not from the edits.

The edits only take bytes away; that what they leave is meant is seen by comparing the two.
"""

import ast
from collections.abc import Sequence

from codeenv.languages.python.arms import Chain
from codeenv.languages.python.syntax import Function, Source, parse_quietly

_BLOCKS = ("body", "orelse", "finalbody")


def means_the_same(
    source: Source, left: bytes, node: Function, name: str, chains: Sequence[Chain]
) -> bool:
    """Return whether bytes are a source without conditions, arms and, if gone, the parameter.

    Args:
        source: The pristine file.
        left: What edits made of it.
        node: The function.
        name: Its parameter; "" if it stays in the signature.
        chains: What chooses by it.
    """
    try:
        found = parse_quietly(left)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    wanted = _Without(node, name, chains).visit(parse_quietly(source.data))
    return ast.dump(_plain(wanted)) == ast.dump(_plain(found))


class _Without(ast.NodeTransformer):
    """Takes a parameter and its arms out of a fresh tree of the same text."""

    def __init__(self, node: Function, name: str, chains: Sequence[Chain]) -> None:
        self._function, self._name = _place(node), name
        self._chains = {_place(chain.node): chain for chain in chains}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._visit_function(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        chain = self._chains.get(_place(node))
        self.generic_visit(node)
        if chain is None:
            return node
        links = {_place(link): link for link in _links(node, len(chain.links))}
        tail = _tail(chain, links)
        for link in reversed(chain.kept):
            fresh = links[_place(link)]
            tail = [ast.If(test=fresh.test, body=fresh.body, orelse=tail)]
        return tail

    def _visit_function(self, node: Function) -> ast.AST:
        if self._name and _place(node) == self._function:
            _drop(node.args, self._name)
        return self.generic_visit(node)


def _tail(chain: Chain, links: dict[tuple[int, int], ast.If]) -> list[ast.stmt]:
    if not chain.tail:
        return []
    for link in chain.links:
        if link.body[0] is chain.tail[0]:
            return links[_place(link)].body
    return links[_place(chain.links[-1])].orelse


def _links(node: ast.If, count: int) -> list[ast.If]:
    links = [node]
    while len(links) < count:
        following = links[-1].orelse[0]
        assert isinstance(following, ast.If)
        links.append(following)
    return links


def _drop(arguments: ast.arguments, name: str) -> None:
    plain = [*arguments.posonlyargs, *arguments.args]
    for place, arg in enumerate(plain):
        if arg.arg == name:
            del arguments.defaults[place - len(plain)]
    for place, arg in enumerate(arguments.kwonlyargs):
        if arg.arg == name:
            del arguments.kw_defaults[place]
    for block in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs):
        block[:] = [arg for arg in block if arg.arg != name]


def _place(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _plain(module: ast.AST) -> ast.AST:
    """Return a tree without the statements that do nothing, which edits may have to add."""
    for node in ast.walk(module):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                block[:] = [s for s in block if not isinstance(s, ast.Pass)]
    return module
