"""The to-do items that an agent wrote itself, and which of them are open."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = 2000  # characters of a line that can be an item
_ITEM = 200
_MARK = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_TODO = re.compile(r"TODO\b[:\s]")
_NOTHING = re.compile(
    r"(?i)(none|nothing|n/?a|nil|no|no (items?|todos?|tasks?)|-+)"
    r"( (left|open|more|remaining|remains|else|to do|for now))?"
)
_NAMES = frozenset("plan todo todos task tasks checklist progress note notes".split())
_ENDINGS = (".md", ".txt", ".rst")


def open_items(text: str) -> tuple[str, ...] | None:
    """Return the open items of a list in a text, or None if there is no list in it."""
    found = list(_items(text)) if "[" in text or "TODO" in text else []
    if not found:
        return None
    return tuple(dict.fromkeys(item[:_ITEM] for item, is_open in found if is_open))


def is_plan(path: str) -> bool:
    """Return whether a file is one in which agents keep their lists, by its name."""
    name = posixpath.basename(path).lower()
    if name in ("plan", "todo"):
        return True
    stem, ending = posixpath.splitext(name)
    return ending in _ENDINGS and any(word in stem for word in _NAMES)


@dataclass
class Plans:
    """The lists of an episode's plan files; a list that was only said grows old unseen."""

    files: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def edit(self, path: str, old: str, new: str) -> None:
        """Take an edit of a file: of a plan, what is written there and was not before is open."""
        if not is_plan(path):
            return
        before = dict.fromkeys(open_items(old) or ())
        after = dict.fromkeys(open_items(new) or ())
        known = self.files.get(path, ()) if old else ()
        kept = [item for item in known if item not in before or item in after]
        self.files[path] = tuple(dict.fromkeys([*kept, *(i for i in after if i not in before)]))

    @property
    def left(self) -> tuple[str, ...]:
        """All open items, each once."""
        return tuple(dict.fromkeys(item for items in self.files.values() for item in items))


def _items(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each item and whether it is open."""
    for whole in text.split("\n"):
        line = whole.strip()
        if not line or len(line) > _LINE:
            continue
        mark = _MARK.match(line)
        rest = line[mark.end() :] if mark else line
        if mark and (box := _BOX.match(rest)):
            yield rest[box.end() :], box[1] == " " and not _is_nothing(rest[box.end() :])
        elif (mark is None or line[0] in "-*+") and (todo := _TODO.match(rest)):
            item = rest[todo.end() :].strip()
            if item:
                yield item, not _is_nothing(item)


def _is_nothing(item: str) -> bool:
    return _NOTHING.fullmatch(item.strip(" .!")) is not None
