"""Texts that only the deleted code knew and that its tests expect: a statement must tell them."""

from collections.abc import Iterable, Sequence

from codeenv.tree import Tree


def expected_texts(
    pieces: Iterable[str], texts: Sequence[str], damaged: Tree
) -> dict[str, tuple[str, ...]]:
    """Return which texts nobody could guess, by the piece of deleted code they need.

    Args:
        pieces: Texts of the deleted code, without what is filled in.
        texts: Texts of its tests.
        damaged: What the agent can read; what is in there needs no telling.

    Returns:
        Piece -> the lines of tests that hold it, or the parts of it that tests look for.
    """
    visible = "\n".join(
        entry.data.decode("utf-8", "replace") for entry in damaged.values() if entry.mode != "link"
    )
    found: dict[str, tuple[str, ...]] = {}
    for piece in dict.fromkeys(pieces):
        if not _is_known(piece, texts, visible):
            lines = (line.strip() for text in texts for line in text.splitlines() or [text])
            whole = [line for line in lines if piece in line]
            parts = [t for t in texts if _is_part(t, piece) and t not in visible]
            if whole or parts:
                found[piece] = tuple(dict.fromkeys((*whole, *parts)))
    return found


def _is_known(piece: str, texts: Sequence[str], visible: str) -> bool:
    """Return whether the agent can read a text; one that tests name alone, as a text of its own."""
    if piece in texts:
        return any(f"{quote}{piece}{quote}" in visible for quote in "'\"`")
    return piece in visible


def _is_part(text: str, piece: str) -> bool:
    return len(text.strip()) > 2 and text in piece


def untold_texts(expected: dict[str, tuple[str, ...]], statement: str) -> list[str]:
    """Return a text for each piece of which the statement says nothing."""
    return [
        texts[0]
        for piece, texts in expected.items()
        if piece not in statement and not any(text in statement for text in texts)
    ]
