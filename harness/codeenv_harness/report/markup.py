"""HTML that is escaped unless it was made here.

``tag("p", text)`` escapes ``text``; only what another ``tag`` returned, or what is trusted by name,
goes in as it is.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from codeenv_harness.report.words import visible

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_EMPTY = frozenset({"br", "col", "hr", "input", "meta"})
_LONGEST = 4000
"""Characters of one text at most."""


@dataclass(frozen=True, slots=True)
class Html:
    """Text that is HTML already."""

    text: str


Child: TypeAlias = "Html | str"
Attribute: TypeAlias = "str | int | bool | None"


def escaped(text: str) -> str:
    """Return text as HTML, in elements and in attributes; control characters are told by code."""
    return html.escape(visible(text, _LONGEST), quote=True)


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Return an element.

    Args:
        name: Of the element.
        children: Text, which is escaped, or other elements.
        attributes: ``_`` at the end goes, elsewhere it is a dash; True is an attribute without a
            value, and None or False is none.
    """
    inner = together(children)
    opening = "".join(
        f" {_attribute(key, value)}" for key, value in attributes.items() if _said(value)
    )
    if name in _EMPTY:
        return Html(f"<{_checked(name)}{opening}>")
    return Html(f"<{_checked(name)}{opening}>{inner.text}</{name}>")


def together(children: Iterable[Child]) -> Html:
    """Return some elements and texts one after the other."""
    return Html("".join(c.text if isinstance(c, Html) else escaped(c) for c in children))


def table(caption: str, headings: Sequence[Child], rows: Iterable[Sequence[Child]]) -> Html:
    """Return a table that can be scrolled by itself; the first cell of a row is its heading."""
    head = tag("tr", *(tag("th", heading, scope="col") for heading in headings))
    body = (
        tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:]))
        for row in rows
    )
    drawn = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))
    return scrolled(caption, drawn)


def scrolled(label: str, inner: Html) -> Html:
    """Return what is wider than a phone in a box that scrolls, by keyboard as well."""
    return tag("div", inner, class_="scroll", role="region", aria_label=label, tabindex=0)


def _said(value: Attribute) -> bool:
    return value is not None and value is not False


def _attribute(key: str, value: Attribute) -> str:
    name = _checked(key.rstrip("_").replace("_", "-"))
    return name if value is True else f'{name}="{escaped(str(value))}"'


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an element or attribute")
    return name
