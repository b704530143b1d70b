"""The to-do items that an agent wrote itself, and which of them are open."""

import posixpath
import re
from dataclasses import dataclass, field

_BOX = re.compile(
    r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[([ xX])\][ \t]+(\S[^\n]*?)[ \t]*$", re.MULTILINE
)
_TODO = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?TODO\b[:\s][ \t]*(\S[^\n]*?)[ \t]*$", re.MULTILINE)
_PLAN = re.compile(
    r"(?i)(?:[\w.-]*(?:plan|todos?|tasks?|checklist|progress|notes?)[\w.-]*\.(?:md|txt|rst)|plan|todo)"
)
_ITEM = 200


def open_items(text: str) -> tuple[str, ...] | None:
    """Return the open items of a list in a text, or None if there is no list in it."""
    boxes = _BOX.findall(text)
    todos = _TODO.findall(text)
    if not boxes and not todos:
        return None
    left = [item for mark, item in boxes if mark == " "]
    return tuple(dict.fromkeys(item[:_ITEM] for item in (*left, *todos)))


def is_plan(path: str) -> bool:
    """Return whether a file is one in which agents keep their lists, by its name."""
    return _PLAN.fullmatch(posixpath.basename(path)) is not None


@dataclass
class Plans:
    """The lists of an episode: the last one that was said, and one for each plan file."""

    said: tuple[str, ...] = ()
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Take the list of a message, if there is one in it: it replaces the last one."""
        found = open_items(text) if "[" in text or "TODO" in text else None
        self.said = self.said if found is None else found

    def edit(self, path: str, old: str, new: str) -> None:
        """Take an edit of a file: of a plan, what is written there and was not before is open."""
        if not is_plan(path):
            return
        before, after = open_items(old) or (), open_items(new) or ()
        known = self.files.get(path, ()) if old else ()
        kept = [item for item in known if item not in before or item in after]
        self.files[path] = tuple(dict.fromkeys([*kept, *(i for i in after if i not in before)]))

    @property
    def in_files(self) -> tuple[str, ...]:
        """Open items of plan files."""
        return tuple(item for items in self.files.values() for item in items)

    @property
    def left(self) -> tuple[str, ...]:
        """All open items, each once."""
        return tuple(dict.fromkeys([*self.said, *self.in_files]))
