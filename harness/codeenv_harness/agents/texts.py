"""Texts of chat messages, whatever form they have."""

from collections.abc import Mapping, Sequence


def text_of(content: object) -> str:
    """Return the text of a content: a text, or parts of which some have one."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "".join(text for text in texts if isinstance(text, str))
