"""The package index: which files a project has (simple API, JSON or HTML), and getting one.

Nothing here runs or builds a package; pip is only asked for its configuration.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from codeenv._paths import cache_folder
from codeenv.errors import SourceError
from codeenv.sources.entries import DEFAULT_CAPS, Caps
from codeenv.sources.http import HttpClient, NotFound, Page
from codeenv.sources.pip_settings import local_folder, read_settings

_SIMPLE = "application/vnd.pypi.simple.v1"
_ACCEPT = f"{_SIMPLE}+json, {_SIMPLE}+html;q=0.2, text/html;q=0.1"


@dataclass(frozen=True, slots=True)
class Archive:
    """One downloadable file of a project.

    Attributes:
        filename: e.g. ``boltons-25.0.0.tar.gz``.
        url: Absolute address, or path on this machine.
        version: Its version.
        sha256: Declared by the index, or "".
        kind: What it is.
        yanked: Whether its authors took it back.
    """

    filename: str
    url: str
    version: Version
    sha256: str
    kind: str
    yanked: bool = False


class IndexClient:
    """Reads the indexes that pip is configured to use."""

    def __init__(self, http: HttpClient | None = None) -> None:
        self.http = http or HttpClient(read_settings())
        self._pages: dict[str, tuple[Archive, ...]] = {}

    def archives(self, name: str) -> tuple[Archive, ...]:
        """Return all files of a project, over all indexes and link folders, in pip's order.

        Raises:
            SourceError: If no index has the project, or an index cannot be reached.
        """
        project = canonicalize_name(name)
        if project not in self._pages:
            settings = self.http.settings
            links = [link for index in settings.indexes for link in self._index(index, project)]
            links += [link for where in settings.find_links for link in self._links(where)]
            found = tuple(a for link in links if (a := _archive(link, project)) is not None)
            if not found:
                raise SourceError(
                    f"no package index has a project {name!r}",
                    hint="check the spelling, and pip's index configuration (pip config list)",
                )
            self._pages[project] = found
        return self._pages[project]

    def sdist(self, name: str, version: str) -> Archive:
        """Return the source archive of one version.

        Raises:
            SourceError: If the version is unknown or has no source archive.
        """
        try:
            wanted = Version(version)
        except InvalidVersion:
            raise SourceError(f"{version!r} is not a version") from None
        all_files = self.archives(name)
        files = [a for a in all_files if a.version == wanted]
        if not files:
            known = sorted({a.version for a in all_files if a.kind == "sdist"}, reverse=True)
            newest = ", ".join(str(v) for v in known[:5]) or "none with a source archive"
            raise SourceError(f"{name} has no version {version}", hint=f"newest versions: {newest}")
        sdists = [a for a in files if a.kind == "sdist"]
        if not sdists:
            raise SourceError(
                f"{name} {version} has wheels only, no source archive",
                hint="use its git repository",
            )
        return min(sdists, key=lambda a: not a.filename.endswith(".tar.gz"))

    def newest_wheel(self, name: str) -> Archive:
        """Return the newest final, pure-Python wheel of a project.

        Raises:
            SourceError: If there is none.
        """
        wheels = [
            a
            for a in self.archives(name)
            if a.filename.endswith("-py3-none-any.whl")
            and not a.yanked
            and not a.version.is_prerelease
        ]
        if not wheels:
            raise SourceError(f"no package index has a pure-Python wheel of {name!r}")
        return max(wheels, key=lambda a: a.version)

    def get(self, archive: Archive, *, caps: Caps = DEFAULT_CAPS) -> tuple[Path, str]:
        """Return the file in the cache and its sha256, downloading it if need be.

        Raises:
            SourceError: If it cannot be had, or its bytes are not those the index declares.
        """
        if archive.sha256 and (cached := cached_download(archive.sha256)):
            return cached, archive.sha256
        with TemporaryDirectory(dir=cache_folder("downloads"), prefix=".new-") as folder:
            waiting = Path(folder) / archive.filename
            local = local_folder(archive.url)
            if local is None:
                sha256 = self.http.download(archive.url, waiting, limit=caps.download)
            else:
                sha256 = _copied(local, waiting)
            if archive.sha256 and sha256 != archive.sha256:
                raise SourceError(
                    f"{archive.filename} is not the file its index describes: sha256 {sha256}, "
                    f"declared {archive.sha256}"
                )
            target = cache_folder("downloads", sha256) / archive.filename
            waiting.replace(target)
        return target, sha256

    def _index(self, index: str, project: str) -> Iterator["_Link"]:
        folder = local_folder(index)
        if folder is not None:
            page = folder / project / "index.html"
            if page.is_file():
                yield from _parse(Page(page.resolve().as_uri(), "text/html", page.read_bytes()))
            return
        try:
            yield from _parse(self.http.page(f"{index}/{project}/", accept=_ACCEPT))
        except NotFound:
            return

    def _links(self, where: str) -> Iterator["_Link"]:
        path = local_folder(where)
        if path is None:
            yield from _parse(self.http.page(where, accept="text/html"))
        elif path.is_dir():
            for file in sorted(path.iterdir()):
                yield _Link(file.name, str(file))
        elif path.suffix == ".html" and path.is_file():
            yield from _parse(Page(path.resolve().as_uri(), "text/html", path.read_bytes()))


def _copied(local: Path, target: Path) -> str:
    """Copy a file of a local index and return its sha256."""
    try:
        shutil.copyfile(local, target)
    except OSError as error:
        reason = error.strerror or error
        raise SourceError(f"{local.name} cannot be taken from its index: {reason}") from error
    return hashlib.sha256(target.read_bytes()).hexdigest()


def cached_download(sha256: str) -> Path | None:
    """Return the downloaded file with that hash, checked again, or None."""
    for file in sorted(cache_folder("downloads", sha256).iterdir()):
        if hashlib.sha256(file.read_bytes()).hexdigest() == sha256:
            return file
        file.unlink()
    return None


@dataclass(frozen=True, slots=True)
class _Link:
    filename: str
    url: str
    sha256: str = ""
    yanked: bool = False


def _parse(page: Page) -> Iterator[_Link]:
    if page.media_type.endswith("+json") or page.media_type == "application/json":
        yield from _parse_json(page)
    else:
        parser = _Anchors(page.url)
        parser.feed(page.data.decode("utf-8", "replace"))
        yield from parser.links


def _parse_json(page: Page) -> Iterator[_Link]:
    try:
        files = json.loads(page.data)["files"]
        for file in files:
            yield _Link(
                file["filename"],
                urljoin(page.url, file["url"]),
                file.get("hashes", {}).get("sha256", ""),
                bool(file.get("yanked")),
            )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(
            f"the package index sent a page that cannot be read: {error!r}"
        ) from error


class _Anchors(HTMLParser):
    """Collects the links of an HTML page of the simple API."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.base, self.links = base, list[_Link]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        target = values.get("href")
        if tag == "base" and target:
            self.base = urljoin(self.base, target)
        elif tag == "a" and target:
            url, fragment = urldefrag(urljoin(self.base, target))
            filename = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
            sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
            self.links.append(_Link(filename, url, sha256, "data-yanked" in values))


def _archive(link: _Link, project: str) -> Archive | None:
    """Return the archive a link names, or None for other projects' and other files."""
    try:
        if link.filename.endswith(".whl"):
            name, version, *_ = parse_wheel_filename(link.filename)
            kind = "wheel"
        else:
            name, version = parse_sdist_filename(link.filename)
            kind = "sdist"
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return None
    if name != project:
        return None
    return Archive(link.filename, link.url, version, link.sha256, kind, link.yanked)
