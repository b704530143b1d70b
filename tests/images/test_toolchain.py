"""What a build from source lacked, by pip's log."""

import pytest

from codeenv.images.toolchain import COMPILERS, build_packages


@pytest.mark.parametrize(
    ("log", "package"),
    [
        ("  x.c:1:10: fatal error: ffi.h: No such file or directory", "libffi-dev"),
        ("fatal error: openssl/ssl.h: No such file or directory", "libssl-dev"),
        ("fatal error: lmdb.h: No such file or directory", "liblmdb-dev"),
        ("Error: pg_config executable not found.", "libpq-dev"),
        ("/bin/sh: 1: mysql_config: not found", "libmariadb-dev"),
        ("Package libvirt was not found in the pkg-config search path.", "libvirt-dev"),
        ("No package 'cairo' found", "libcairo-dev"),
        ("/usr/bin/ld: cannot find -lsnappy: No such file or directory", "libsnappy-dev"),
        ("error: can't find Rust compiler\ncargo, the Rust tool, is not installed", "cargo"),
        ("CMake Error\n  cmake: not found", "cmake"),
    ],
)
def test_what_is_missing_comes_with_the_compilers(log, package):
    assert set(build_packages(log)) == {package, *COMPILERS}


@pytest.mark.parametrize(
    "log",
    [
        "error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory",
        "error: command 'gcc' failed with exit status 1",
        "unable to execute 'gcc': No such file or directory",
        "x.c:1:10: fatal error: Python.h: No such file or directory",
        "ERROR: Unknown compiler(s): [['cc'], ['gcc']]",
    ],
)
def test_a_missing_compiler_is_seen(log):
    assert build_packages(log) == tuple(sorted(COMPILERS))


@pytest.mark.parametrize(
    "log",
    [
        "ERROR: No matching distribution found for nonsuch",
        "ERROR: Could not find a version that satisfies the requirement x==9",
        "SyntaxError: invalid syntax",
        "",
    ],
)
def test_other_failures_are_no_matter_of_compilers(log):
    assert build_packages(log) == ()
