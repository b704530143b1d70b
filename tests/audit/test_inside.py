"""What is planted where an agent can read it is found, in a real box and on this machine alike."""

import gzip
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.audit import audit_task, look_inside
from codeenv.audit.inside import _times
from codeenv.audit.models import Leak
from codeenv.images.base import ensure_base
from codeenv.sandbox.image import Image, Layer
from codeenv.tree import Entry, Tree
from tests.audit.test_recall import ORIGINAL, _zip
from tests.toytask import make_task

pytestmark = pytest.mark.bubblewrap
TASK = make_task()
PACKED = {
    "usr/share/notes/slug.py": ORIGINAL,
    "usr/share/python-wheels/notes-1.0-py3-none-any.whl": _zip(ORIGINAL),
    "usr/lib/python3/dist-packages/notes/text.py": ORIGINAL,
    "usr/lib/python3.13/ensurepip/_bundled/notes-1.0.whl": _zip(ORIGINAL),
    "usr/local/lib/python3.13/site-packages/notes.py": ORIGINAL,
    "usr/src/notes.orig.gz": gzip.compress(ORIGINAL),
    "etc/notes.conf": ORIGINAL,
    "var/cache/pip/http-v2/0/1/2/body": _zip(ORIGINAL) + bytes(100),
    "var/lib/notes/plan.md": b"Deleted:\n\n" + ORIGINAL,
    "build/lib/notes/text.py": ORIGINAL,
}
IN_LAYER = {
    "lib/python3.13/site-packages/notes/text.py": ORIGINAL,
    "lib/python3.13/site-packages/pip/_vendor/notes.py": ORIGINAL,
    ".cache/uv/archive-v0/x/notes/text.py": ORIGINAL,
    "lib/python3.13/site-packages/.pytest_cache/v/cache/nodeids": (
        b'[\n "tests/test_text.py::test_slug_joins_the_words"\n]'
    ),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Image:
    """A base and a layer in which the deleted code lies about."""
    folder = tmp_path_factory.mktemp("base")
    folder.chmod(0o755)
    base = ensure_base()
    _copy(base.rootfs, folder / "rootfs")
    _write(folder / "rootfs", PACKED)
    _write(folder / "layer", IN_LAYER)
    secret = folder / "rootfs/usr/share/notes/unreadable.py"
    secret.write_bytes(ORIGINAL)
    secret.chmod(0o600)
    layer = Layer("l" * 64, folder / "layer", "/opt/env")
    return replace(base.image, digest="p" * 64, rootfs=folder / "rootfs", layers=(layer,))


def _copy(source: Path, target: Path) -> None:
    def linked(one: str, other: str) -> None:
        try:
            os.link(one, other)
        except OSError:
            shutil.copy2(one, other)

    shutil.copytree(source, target, symlinks=True, copy_function=linked)


def _write(root: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
        (root / path).chmod(0o644)


def test_what_lies_in_an_image_is_found_on_this_machine(planted):
    found = {leak.path.partition("!")[0] for leak in audit_task(TASK, planted)}
    assert found == {*(f"/{path}" for path in PACKED), *(f"/opt/env/{path}" for path in IN_LAYER)}


def test_an_agent_can_read_what_was_found_and_nothing_that_was_not_read(
    planted, bubblewrap_backend
):
    with bubblewrap_backend.open(planted, TASK.workspace) as box:
        for path in {*(f"/{p}" for p in PACKED), *(f"/opt/env/{p}" for p in IN_LAYER)}:
            assert box.exec(["test", "-r", path]).exit_code == 0, path
        assert box.exec(["cat", "/usr/share/notes/unreadable.py"]).exit_code != 0
    seen = look_inside(TASK, planted, bubblewrap_backend)
    assert seen.leaks == ()
    assert seen.unplanned == ("/etc/group", "/etc/hosts", "/etc/passwd")
    assert seen.files > len(PACKED)


def test_what_only_a_box_has_is_found_in_it(debian_image, bubblewrap_backend, tmp_path):
    startup = "\n".join(
        f"mkdir -p {folder} && printf %s '{gzip.compress(ORIGINAL).hex()}' > {folder}/left.txt"
        for folder in ("/tmp/build", "/var/tmp/build", "/home/agent/.cache/parso", "/dev/shm/x")
    )
    image = replace(debian_image, digest="s" * 64, startup=startup)
    assert audit_task(TASK, image) == ()
    seen = look_inside(TASK, image, bubblewrap_backend)
    assert {leak.path.partition("!")[0] for leak in seen.leaks} == {
        "/tmp/build/left.txt",
        "/var/tmp/build/left.txt",
        "/home/agent/.cache/parso/left.txt",
        "/dev/shm/x/left.txt",
    }


def test_what_was_changed_in_a_workspace_is_told_by_its_time(debian_image, bubblewrap_backend):
    image = replace(debian_image, digest="t" * 64, startup="touch /workspace/README.md")
    seen = look_inside(TASK, image, bubblewrap_backend)
    assert [(leak.kind, leak.path) for leak in seen.leaks] == [("box", "/workspace/README.md")]
    assert list(_times({"a": 1, "b": 1, "c": 2})) == [
        Leak("box", "c", "was changed at another time than most files")
    ]


def test_what_a_process_shows_is_found(debian_image, bubblewrap_backend):
    line = "surviving_pieces candidates EmptyTitle joiner"
    image = replace(
        debian_image,
        digest="v" * 64,
        startup=f"(SECRET='{line}' exec -a server setsid sleep 60 >/dev/null 2>&1 </dev/null &)",
    )
    seen = look_inside(TASK, image, bubblewrap_backend)
    assert {(leak.kind, leak.path) for leak in seen.leaks} == {("variable", "$SECRET")}


@pytest.mark.parametrize("base", ["debian_image", "host_image"])
def test_a_clean_box_has_no_leak(base, request, bubblewrap_backend):
    seen = look_inside(TASK, request.getfixturevalue(base), bubblewrap_backend)
    assert seen.leaks == ()
    assert seen.files > 0


def test_a_file_of_another_size_than_planned_is_read(debian_image, bubblewrap_backend):
    image = replace(debian_image, digest="w" * 64)
    other = Tree({**TASK.workspace, "README.md": Entry(ORIGINAL)})

    class Elsewhere:
        """Opens boxes with another workspace than it is asked to."""

        name = "bubblewrap"

        def open(self, image, workspace, **options):
            return bubblewrap_backend.open(image, other, **options)

    (leak,) = {found.path for found in look_inside(TASK, image, Elsewhere()).leaks}
    assert leak == "/workspace/README.md"
