import io
import os
import subprocess
import tarfile

import pytest

from codeenv.errors import BuildError
from codeenv.images import base as base_module
from codeenv.images import debian
from codeenv.images.base import ensure_base, extended_base, named_base
from codeenv.images.debian import UnknownPackages
from codeenv.images.rootfs import clean_tar, packages_of, python_of, unpack_tar

STATUS = """\
Package: git
Architecture: amd64
Version: 1:2.47.2-0.1

Package: python3.13-minimal
Status: install ok installed
Architecture: amd64
Version: 3.13.5-2+deb13u1
"""


def member(name, kind=tarfile.REGTYPE, link="", data=b""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mode = kind, link, len(data), 0o755
    return info, io.BytesIO(data)


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.tar"
    with tarfile.open(path, "w") as archive:
        for info, data in (
            member("./usr", tarfile.DIRTYPE),
            member("./usr/b", tarfile.LNKTYPE, "./usr/c"),
            member("./usr/c", data=b"text"),
            member("./dev/null", tarfile.CHRTYPE),
            member("./run/lock", data=b"x"),
            member("./.dockerenv"),
            member("./bin", tarfile.SYMTYPE, "usr/bin"),
            member("./var/lib/dpkg/status", data=STATUS.encode()),
        ):
            archive.addfile(info, data)
    return path


def write_tar(path, raw):
    path.write_bytes(raw.read_bytes())


class TestRootfs:
    def test_device_nodes_and_volatile_files_are_left_out(self, raw, tmp_path):
        clean_tar(raw, tmp_path / "clean.tar")
        with tarfile.open(tmp_path / "clean.tar") as archive:
            names = [name.removeprefix("./") for name in archive.getnames()]
        assert names == ["bin", "usr", "usr/c", "var/lib/dpkg/status", "usr/b"]

    def test_cleaning_gives_the_same_bytes_whatever_the_order(self, raw, tmp_path):
        clean_tar(raw, tmp_path / "one.tar")
        clean_tar(tmp_path / "one.tar", tmp_path / "two.tar")
        assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()

    def test_unpacking_makes_the_folders_that_boxes_mount_over(self, raw, tmp_path):
        clean_tar(raw, tmp_path / "clean.tar")
        unpack_tar(tmp_path / "clean.tar", tmp_path / "rootfs")
        assert {p.name for p in (tmp_path / "rootfs").iterdir()} >= {"dev", "proc", "sys", "tmp"}
        assert (tmp_path / "rootfs" / "usr" / "b").read_bytes() == b"text"

    def test_packages_and_python_are_read_without_running_anything(self, raw, tmp_path):
        clean_tar(raw, tmp_path / "clean.tar")
        unpack_tar(tmp_path / "clean.tar", tmp_path / "rootfs")
        assert packages_of(tmp_path / "rootfs") == (
            "git:amd64=1:2.47.2-0.1",
            "python3.13-minimal:amd64=3.13.5-2+deb13u1",
        )
        assert python_of(tmp_path / "rootfs") == "3.13.5"

    def test_a_system_without_python_is_an_error(self, tmp_path):
        with pytest.raises(BuildError, match="no Python"):
            python_of(tmp_path)


class TestEnsure:
    @pytest.fixture
    def made(self, cache, raw, monkeypatch):
        """Count how often the debian base is made, from a ready tar."""
        calls = []

        def make(target, packages):
            if "nonsuch" in packages:
                raise UnknownPackages.of(["nonsuch"])
            calls.append(tuple(packages))
            write_tar(target, raw)

        maker = base_module._Maker("debian:test", make)
        monkeypatch.setitem(base_module._MAKERS, "debian", maker)
        return calls

    def test_a_base_is_made_once_and_then_cached(self, made):
        first = ensure_base("debian")
        assert ensure_base("debian") == first
        assert len(made) == 1
        assert (first.name, first.python) == ("debian:test", "3.13.5")
        assert first.tar.is_file()
        assert first.tar == first.rootfs.with_name("rootfs.tar")

    def test_a_base_with_more_packages_is_another_one_and_its_name_says_so(self, made):
        plain = ensure_base("debian")
        more = ensure_base("debian", ["zsh", "graphviz", "zsh"])
        assert more.name == "debian:test+graphviz,zsh"
        assert more.digest != plain.digest
        assert named_base(more.name) == more
        assert named_base(plain.name) == plain
        assert made == [(), ("graphviz", "zsh")]

    def test_packages_that_the_distribution_lacks_are_left_out(self, made):
        plain = ensure_base("debian")
        more = extended_base(plain, ["graphviz", "nonsuch"])
        assert more.name == "debian:test+graphviz"
        assert extended_base(more, ["zsh"]).name == "debian:test+graphviz,zsh"
        assert extended_base(plain, ["nonsuch"]) == plain

    def test_the_digest_names_packages_not_bytes(self, made, raw, monkeypatch, tmp_path):
        first = ensure_base("debian").digest
        with tarfile.open(raw, "a") as archive:
            archive.addfile(*member("./usr/extra", data=b"y"))
        monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "other"))
        assert ensure_base("debian").digest == first

    def test_nothing_half_made_is_left_after_a_failure(self, cache, monkeypatch):
        def fail(target, packages):
            target.write_bytes(b"half")
            raise BuildError("no network")

        monkeypatch.setitem(base_module._MAKERS, "debian", base_module._Maker("debian:x", fail))
        with pytest.raises(BuildError, match="no network"):
            ensure_base("debian")
        assert [p for p in (cache / "bases").iterdir() if p.is_dir()] == []

    def test_a_full_disk_is_a_clear_error(self, cache, monkeypatch):
        def fail(target, packages):
            raise OSError(28, "No space left on device")

        monkeypatch.setitem(base_module._MAKERS, "debian", base_module._Maker("debian:x", fail))
        with pytest.raises(BuildError, match="cannot be stored: No space left"):
            ensure_base("debian")

    def test_the_host_needs_no_making(self, cache):
        base = ensure_base("host")
        assert (base.name, str(base.rootfs), base.tar) == ("host", "/", None)
        assert os.access(base.interpreter, os.X_OK)

    def test_without_any_maker_the_hint_says_what_to_install(self, cache, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
        with pytest.raises(BuildError) as caught:
            ensure_base("auto")
        assert "mmdebstrap" in caught.value.hint


class TestMirror:
    @pytest.fixture
    def machine(self, tmp_path, monkeypatch):
        monkeypatch.delenv("CODEENV_DEBIAN_MIRROR", raising=False)
        (tmp_path / "apt" / "sources.list.d").mkdir(parents=True)
        (tmp_path / "os-release").write_text('ID=debian\nVERSION_CODENAME="bookworm"\n')

        def find():
            return debian.mirror(tmp_path / "apt", tmp_path / "os-release")

        return tmp_path, find

    def test_it_can_be_configured(self, machine, monkeypatch):
        monkeypatch.setenv("CODEENV_DEBIAN_MIRROR", "http://mirror.example/debian")
        assert machine[1]() == "http://mirror.example/debian"

    def test_deb822_sources(self, machine):
        (machine[0] / "apt/sources.list.d/a.sources").write_text(
            "Types: deb\nURIs: http://other.example/x\nSuites: stable\n\n"
            "Types: deb deb-src\n# a note\nURIs: http://m.example/debian\n"
            "Suites: bookworm bookworm-updates\nEnabled: yes\n"
        )
        assert machine[1]() == "http://m.example/debian"

    def test_disabled_sources_do_not_count(self, machine):
        (machine[0] / "apt/sources.list.d/a.sources").write_text(
            "Types: deb\nURIs: http://m.example/debian\nSuites: bookworm\nEnabled: no\n"
        )
        assert machine[1]() == ""

    def test_one_line_sources(self, machine):
        (machine[0] / "apt/sources.list").write_text(
            "# deb http://no.example/debian bookworm main\n"
            "deb [arch=amd64 signed-by=/k.gpg] http://m.example/debian bookworm main\n"
        )
        assert machine[1]() == "http://m.example/debian"

    def test_another_distribution_has_no_debian_mirror(self, machine):
        (machine[0] / "os-release").write_text("ID=ubuntu\nVERSION_CODENAME=noble\n")
        (machine[0] / "apt/sources.list").write_text("deb http://u.example/ubuntu noble main\n")
        assert machine[1]() == ""


class TestMmdebstrap:
    @pytest.fixture
    def fake(self, tmp_path, monkeypatch):
        """Put a program named mmdebstrap first on the path."""

        def write(script):
            program = tmp_path / "bin" / "mmdebstrap"
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

        return write

    @pytest.mark.parametrize(
        ("message", "reason"),
        [
            ("E: Could not resolve 'deb.example'", "mirror cannot be reached"),
            ("E: write: No space left on device", "disk is full"),
            ("E: something odd", "mmdebstrap failed: E: something odd"),
        ],
    )
    def test_its_failures_are_explained(self, fake, tmp_path, message, reason):
        fake(f'echo "{message}" >&2; exit 25')
        with pytest.raises(BuildError, match=reason):
            debian.write_tar(tmp_path / "out.tar")

    def test_packages_that_debian_lacks_are_named(self, fake, tmp_path):
        fake(
            "echo \"E: Unable to locate package nonsuch\nE: Package 'libold1' has no installation "
            'candidate\nE: mmdebstrap failed to run" >&2; exit 25'
        )
        with pytest.raises(UnknownPackages, match="no Debian package libold1, nonsuch") as caught:
            debian.write_tar(tmp_path / "out.tar", ["nonsuch", "libold1", "git"])
        assert caught.value.names == ("libold1", "nonsuch")

    def test_a_mirror_that_hangs_is_given_up(self, fake, tmp_path):
        fake("exec sleep 60")
        with pytest.raises(BuildError, match="did not finish"):
            debian.write_tar(tmp_path / "out.tar", timeout=0.5)

    def test_what_a_hanging_bootstrap_started_ends_with_it(self, fake, tmp_path):
        mark = f"3900.{os.getpid()}"
        fake(f"sleep {mark} & trap 'echo cleaned > {tmp_path}/cleaned; exit 1' TERM; wait")
        with pytest.raises(BuildError, match="did not finish"):
            debian.write_tar(tmp_path / "out.tar", timeout=0.5)
        assert (tmp_path / "cleaned").exists()
        told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        assert f"sleep {mark}" not in told.stdout.splitlines()

    def test_a_missing_program_names_its_package(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(BuildError) as caught:
            debian.write_tar(tmp_path / "out.tar")
        assert caught.value.hint == "apt-get install mmdebstrap"
