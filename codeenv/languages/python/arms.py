"""The arms of ``if`` statements that a parameter chooses, and which of them its default takes."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codeenv.languages.python.conditions import holds, mentions
from codeenv.languages.python.definitions import suites
from codeenv.languages.python.syntax import Function, Source

_JUMPS = ast.Return | ast.Raise | ast.Continue | ast.Break


@dataclass(frozen=True, eq=False)
class Chain:
    """An ``if`` with its ``elif`` links, some of which read the parameter.

    Attributes:
        node: The statement.
        links: The ``if`` and every ``elif``, in order.
        kept: The links whose conditions stay: they do not read the parameter.
        tail: What is done where no kept link holds: an arm that stays, or nothing.
        dropped: The arms that the default never comes to.
    """

    node: ast.If
    links: tuple[ast.If, ...]
    kept: tuple[ast.If, ...]
    tail: tuple[ast.stmt, ...]
    dropped: tuple[tuple[ast.stmt, ...], ...]

    @property
    def otherwise(self) -> list[ast.stmt]:
        """The ``else`` arm."""
        return self.links[-1].orelse


def default_of(node: Function, name: str) -> ast.expr | None:
    """Return the default of a function's parameter, if it has one."""
    return defaults_of(node).get(name)


def defaults_of(node: Function) -> dict[str, ast.expr]:
    """Return parameter name -> default, for those that have one."""
    plain = [*node.args.posonlyargs, *node.args.args]
    late = plain[len(plain) - len(node.args.defaults) :]
    pairs = [*zip(late, node.args.defaults, strict=True)]
    only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return {arg.arg: value for arg, value in (*pairs, *only) if value is not None}


def find_chains(source: Source, node: Function, name: str) -> tuple[Chain, ...]:
    """Return the statements in which a function's parameter chooses what is done, outermost first.

    Raises:
        ValueError: If it is read in any other way, or its default does not tell which arm is taken.
    """
    default = default_of(node, name)
    if default is None:
        raise ValueError(f"no default: {name}")
    chains = tuple(_find(source, node.body, name, default))
    gone = {id(inner) for chain in chains for inner in vanishing(chain, name)}
    for inner in (n for statement in node.body for n in ast.walk(statement)):
        if id(inner) not in gone and _names(inner, name):
            raise ValueError(f"used outside of conditions and their arms: {name}")
    if not any(chain.dropped for chain in chains):
        raise ValueError(f"chooses no arm of its own: {name}")
    return chains


def vanishing(chain: Chain, name: str) -> Iterator[ast.AST]:
    """Yield every syntax node that goes with a chain's conditions and arms."""
    for link in chain.links:
        if link not in chain.kept and mentions(link.test, name):
            yield from ast.walk(link.test)
    for arm in chain.dropped:
        for statement in arm:
            yield from ast.walk(statement)


def links_of(source: Source, node: ast.If) -> tuple[ast.If, ...]:
    """Return an ``if`` statement with its ``elif`` links."""
    links = [node]
    while (following := links[-1].orelse) and _is_elif(source, following):
        links.append(following[0])  # type: ignore[arg-type]
    return tuple(links)


def _is_elif(source: Source, block: list[ast.stmt]) -> bool:
    inner = block[0]
    return isinstance(inner, ast.If) and source.text.startswith("elif", source.span(inner)[0])


def _find(source: Source, block: list[ast.stmt], name: str, default: ast.expr) -> Iterator[Chain]:
    for statement in block:
        links = links_of(source, statement) if isinstance(statement, ast.If) else ()
        staying: list[list[ast.stmt]] = list(suites(statement))
        if any(mentions(link.test, name) for link in links):
            chain = _chain(links, name, default)
            ends = chain.tail and isinstance(chain.tail[-1], _JUMPS) and not chain.kept
            if ends and statement is not block[-1]:
                raise ValueError(f"code after the arm of the default would never run: {name}")
            yield chain
            staying = [*(link.body for link in chain.kept), list(chain.tail)]
        elif links:
            staying = [*(link.body for link in links), links[-1].orelse]
        for inner in staying:
            yield from _find(source, inner, name, default)


def _chain(links: tuple[ast.If, ...], name: str, default: ast.expr) -> Chain:
    kept: list[ast.If] = []
    dropped: list[tuple[ast.stmt, ...]] = []
    for place, link in enumerate(links):
        if not mentions(link.test, name):
            kept.append(link)
            continue
        taken = holds(link.test, name, default)
        if taken is None:
            raise ValueError(f"the default does not decide: {ast.unparse(link.test)}")
        if taken and kept:
            raise ValueError(f"an elif that the default always takes: {ast.unparse(link.test)}")
        if taken:
            later = [tuple(other.body) for other in links[place + 1 :]]
            dropped += [*later, *([tuple(links[-1].orelse)] if links[-1].orelse else [])]
            return Chain(links[0], links, (), tuple(link.body), tuple(dropped))
        dropped.append(tuple(link.body))
    return Chain(links[0], links, tuple(kept), tuple(links[-1].orelse), tuple(dropped))


def _names(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=found) | ast.arg(arg=found) | ast.ExceptHandler(name=found):
            return found == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
        case ast.MatchAs(name=found) | ast.MatchStar(name=found) | ast.MatchMapping(rest=found):
            return found == name
    return False
