"""What images take on disk, and taking it back."""

import time
from calendar import timegm
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import docker
import requests
from docker.errors import DockerException

from codeenv._paths import cache_folder
from codeenv.images.locking import locked
from codeenv.images.rootfs import remove_tree

_LABEL = "codeenv.image"
_ABANDONED = 24 * 3600.0


@dataclass(frozen=True)
class StoredImage:
    """One thing that takes room.

    Attributes:
        kind: ``base`` and ``layer`` are folders of the cache, ``words`` are what the leak audit
            knows of some of their files, ``docker`` is an image of a daemon.
        name: Its name or digest.
        size: Bytes.
        used: When it was last used (seconds since 1970).
        place: Folder, or the daemon's image id.
    """

    kind: Literal["base", "layer", "words", "docker"]
    name: str
    size: int
    used: float
    place: str


def list_images() -> tuple[StoredImage, ...]:
    """Return everything images take room for, the most recently used first."""
    found = [
        *_folders("base", cache_folder("bases")),
        *_folders("layer", cache_folder("layers")),
        *_folders("words", cache_folder("words")),
        *_docker_images(),
    ]
    return tuple(sorted(found, key=lambda image: (-image.used, image.name)))


def prune(
    *,
    keep: Iterable[str] = (),
    max_age: float = 0.0,
    budget: int = 0,
    dry_run: bool = False,
) -> tuple[StoredImage, ...]:
    """Remove images that were not used for ``max_age`` seconds; everything is made again on demand.

    Args:
        keep: Names, or beginnings of names, to leave alone.
        max_age: Seconds since the last use.
        budget: Bytes that all images together may take: of those that may go, the ones that were
            used longest ago go until that is so.
        dry_run: Only tell what would go.

    Returns:
        What was (or would be) removed.
    """
    kept = tuple(keep)
    horizon = time.time() - max_age
    stored = list_images()
    old = [
        image
        for image in stored
        if image.used <= horizon and not (kept and image.name.startswith(kept))
    ]
    gone = _over(old, sum(image.size for image in stored) - budget)
    if dry_run:
        return gone
    for image in gone:
        if image.kind == "docker":
            _remove_docker(image.place)
        else:
            _remove_folder(Path(image.place))
    _remove_abandoned()
    return gone


def _over(images: Sequence[StoredImage], size: int) -> tuple[StoredImage, ...]:
    """Return the images at the end that make up a size, at least."""
    gone: list[StoredImage] = []
    for image in reversed(images):
        if sum(each.size for each in gone) >= size:
            break
        gone.append(image)
    return tuple(reversed(gone))


def _folders(kind: Literal["base", "layer", "words"], folder: Path) -> list[StoredImage]:
    return [
        StoredImage(kind, path.name, _size(path), path.stat().st_mtime, str(path))
        for path in sorted(folder.iterdir())
        if path.is_dir() and not path.name.startswith(".")
    ]


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


def _remove_folder(folder: Path) -> None:
    """Rename first, so that nobody finds half of it."""
    with locked(folder.parent, folder.name):
        waiting = folder.with_name(f".gone-{folder.name}")
        with suppress(FileNotFoundError):
            folder.rename(waiting)
            remove_tree(waiting)


def _remove_abandoned() -> None:
    """Remove what builders that were killed left half-made."""
    for name in ("bases", "layers", "downloads"):
        for path in cache_folder(name).glob(".*-*"):
            with suppress(FileNotFoundError):
                if path.is_dir() and path.stat().st_mtime < time.time() - _ABANDONED:
                    remove_tree(path)


def _docker_images() -> list[StoredImage]:
    """Return the labelled images of a daemon, if one answers."""
    try:
        client = docker.from_env()
    except (DockerException, requests.RequestException):
        return []
    try:
        found = client.images.list(filters={"label": _LABEL})
        return [
            StoredImage(
                "docker",
                (image.tags or [image.short_id])[0],
                int(image.attrs.get("Size", 0)),
                _created(str(image.attrs.get("Created", ""))),
                str(image.id),
            )
            for image in found
        ]
    except (DockerException, requests.RequestException):
        return []
    finally:
        client.close()


def _created(text: str) -> float:
    """Return seconds since 1970 of the daemon's date (``2024-05-01T10:20:30.123Z``)."""
    try:
        return float(timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return 0.0


def _remove_docker(image: str) -> None:
    """Remove an image; one that a container uses stays."""
    client = docker.from_env()
    try:
        with suppress(DockerException):
            client.images.remove(image)
    finally:
        client.close()
