"""Stand-ins for what installs and runs: no box is started."""

from codeenv.sandbox.image import InstallResult, Layer
from codeenv.sources.entries import Collector
from codeenv.sources.folder import read_folder
from codeenv.tree import Entry, Tree


def environment_tree(*distributions):
    """What a virtual environment with some (name, version) distributions looks like."""
    site = "lib/python3.13/site-packages"
    files = {
        "pyvenv.cfg": b"home = /usr/bin\n",
        "lib64": ("lib",),
        "bin/python": ("python3",),
        "bin/python3": ("/usr/bin/python3",),
    }
    for name, version in distributions:
        info = f"{name}-{version}.dist-info"
        record = (
            f"{name}/__init__.py,,\n{info}/RECORD,,\n{info}/REQUESTED,,\n../../../bin/{name},,\n"
        )
        files |= {
            f"{site}/{name}/__init__.py": f"version = {version!r}\n".encode(),
            f"{site}/{name}/__pycache__/__init__.cpython-313.pyc": b"code",
            f"{site}/{info}/RECORD": record.encode(),
            f"{site}/{info}/REQUESTED": b"",
            f"{site}/{info}/METADATA": f"Name: {name}\nVersion: {version}\n".encode(),
            f"bin/{name}": b"#!/opt/env/bin/python\n",
        }
    return Tree(
        {
            path: Entry(data[0].encode(), "link") if isinstance(data, tuple) else Entry(data)
            for path, data in files.items()
        }
    )


def read_layer(layer: Layer) -> Tree:
    """Return a layer's files as a tree."""
    collector = Collector(layer.digest)
    read_folder(layer.folder, collector)
    return Tree(collector.entries)


class FakeBackend:
    """Answers installations with ready trees and opens boxes that only know their image."""

    name = "bubblewrap"

    def __init__(self, answer):
        self.answer = answer
        self.jobs = []

    def install(self, job):
        self.jobs.append(job)
        result = self.answer(job)
        return result if isinstance(result, InstallResult) else InstallResult(0, "", result)

    def open(self, image, workspace, **options):
        return FakeBox(image)

    def close(self):
        pass


class FakeBox:
    """A box that is never used, only handed on."""

    def __init__(self, image):
        self.image = image

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass
