"""What an environment lets an agent read: the same for every task of a repository."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Sequence

from codeenv.audit.decode import Unread, View
from codeenv.audit.manifests import Manifests
from codeenv.audit.reach import Shelf, Shown, shelves
from codeenv.audit.words import Words, key_of, read, searched, words_of
from codeenv.sandbox.image import Image

_KEPT = 96 * 1024**2
"""Bytes of files whose forms stay in memory; what comes of them takes several times as much."""
File = tuple[int, int]
"""Which file of which shelf."""
_lock = threading.Lock()
_last: dict[tuple[object, ...], "Library"] = {}


class Library:
    """Files that are looked into again and again.  Thread-safe."""

    def __init__(self, shown: Sequence[Shelf]) -> None:
        """Learn the words of all files, from the cache where it has them.

        Args:
            shown: The folders; bytecode beside its source is left out: it says nothing more.
        """
        self._shelves = [
            (shelf, words_of(shelf), Manifests(shelf.root))
            for shelf in map(_without_bytecode, shown)
        ]
        self._forms: OrderedDict[Shown, tuple[View, ...]] = OrderedDict()
        self._held = 0
        self._mutex = threading.Lock()

    @property
    def key(self) -> str:
        """A digest of what there is to read."""
        return " ".join(key_of(shelf) for shelf, _, _ in self._shelves)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """What cannot be read and came with no package."""
        return tuple(found for _, words, _ in self._shelves for found in words.unread)

    def places(self, words: Collection[bytes], *, but: int = 0) -> list["File"]:
        """Return the files that have all of some distinct words, but for so many.

        Words that are too short to be looked up count as there; without any other, nothing is.
        """
        return list(self._having(words, len(set(words)) - but))

    def places_of(self, names: Collection[bytes], least: int) -> list["File"]:
        """Return the files that have at least so many of some names."""
        return list(self._having(names, least))

    def read(self, place: "File") -> tuple[View, ...]:
        """Return the texts of a file."""
        shelf, _, manifests = self._shelves[place[0]]
        return self._read(shelf.files[place[1]], manifests)

    def _having(self, words: Collection[bytes], least: int) -> Iterator["File"]:
        wanted = {word for word in words if searched(word)}
        least -= len(set(words)) - len(wanted)
        if wanted:
            for number, (_, known, _) in enumerate(self._shelves):
                yield from ((number, file) for file in _having(known, wanted, max(least, 1)))

    def _read(self, shown: Shown, manifests: Manifests) -> tuple[View, ...]:
        with self._mutex:
            if shown in self._forms:
                self._forms.move_to_end(shown)
                return self._forms[shown]
        found = tuple(form for form in read(shown, manifests) if isinstance(form, View))
        with self._mutex:
            if shown not in self._forms:
                self._held += shown.size
            self._forms[shown] = found
            while self._held > _KEPT and len(self._forms) > 1:
                self._held -= self._forms.popitem(last=False)[0].size
        return found


def library_of(image: Image) -> Library:
    """Return the files of an image's layers and of its base, in all readable forms."""
    key = (image.digest, image.rootfs, *(layer.folder for layer in image.layers))
    with _lock:
        if key not in _last:
            _last.clear()
            _last[key] = Library(tuple(shelves(image)))
        return _last[key]


def _having(known: Words, words: Collection[bytes], least: int) -> list[int]:
    found = Counter(number for word in words for number in known.files_with(word))
    return sorted(number for number, count in found.items() if count >= least)


def _without_bytecode(shelf: Shelf) -> Shelf:
    places = {shown.place for shown in shelf.files}
    return Shelf(shelf.root, shelf.target, [s for s in shelf.files if not _is_beside(s, places)])


def _is_beside(shown: Shown, places: Collection[str]) -> bool:
    folder, _, name = shown.place.rpartition("/")
    if not name.endswith(".pyc"):
        return False
    return f"{folder.rpartition('/')[0]}/{name.split('.', 1)[0]}.py" in places
