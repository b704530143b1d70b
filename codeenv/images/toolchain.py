"""What a build of compiled code lacked, as Debian packages.

Dependencies get these on the base that an installation runs on, not on the one that tests and
agents run on, unless tests compile something themselves.
"""

import re
from collections.abc import Iterator

COMPILERS = ("build-essential", "pkg-config", "python3-dev")
"""What nearly every build of compiled code needs."""
_COMPILES = re.compile(
    r"command '?[\w./-]*(?:gcc|cc|g\+\+|c\+\+|clang)'? failed"
    r"|unable to execute '?[\w./-]*(?:gcc|cc)"
    r"|Unknown compiler|No CMAKE_C(?:XX)?_COMPILER|C compiler .{0,40}(?:cannot|not found)"
    r"|Python\.h: No such file|linker `cc` not found|(?:gcc|cc|g\+\+): not found"
    r"|No such file or directory: '(?:gcc|cc|g\+\+|make|x86_64-linux-gnu-gcc)'"
    r"|Compiler .{0,30} (?:cannot|can't) compile|CompilerNotFound|Failed to find .{0,20}compiler"
)
_HEADER = re.compile(r"fatal error: ([\w./+-]+\.h(?:pp)?): No such file")
_PKG_CONFIG = re.compile(
    r"(?:Package|Dependency) ['\"]?([\w.+-]+)['\"]?,? (?:was )?(?:required by .{1,40}, )?not found"
    r"|No package '([\w.+-]+)' found"
)
_LIBRARY = re.compile(r"cannot find -l([\w.+-]+)")
_PROGRAM = re.compile(
    r"(pg_config|mysql_config|mariadb_config|curl-config|xml2-config|xslt-config|krb5-config|cargo"
    r"|rustc|cmake|ninja|swig|gfortran|nc-config|gdal-config|geos-config|bison|flex|autoconf|meson)"
    r"\b.{0,40}(?:not found|No such file|is required|not installed|is missing)",
    re.IGNORECASE,
)
_OF_PROGRAMS = {
    "cargo": ("cargo",), "curl-config": ("libcurl4-openssl-dev",), "gdal-config": ("libgdal-dev",),
    "geos-config": ("libgeos-dev",), "krb5-config": ("libkrb5-dev",),
    "mariadb_config": ("libmariadb-dev",), "mysql_config": ("libmariadb-dev",),
    "nc-config": ("libnetcdf-dev",), "ninja": ("ninja-build",), "pg_config": ("libpq-dev",),
    "rustc": ("cargo",), "xml2-config": ("libxml2-dev",), "xslt-config": ("libxslt1-dev",),
}  # fmt: skip
_OF_HEADERS = {
    "alsa": "libasound2-dev", "bzlib": "libbz2-dev", "curl": "libcurl4-openssl-dev",
    "dbus": "libdbus-1-dev", "expat": "libexpat1-dev", "ffi": "libffi-dev", "gmp": "libgmp-dev",
    "gssapi": "libkrb5-dev", "jpeglib": "libjpeg-dev", "lber": "libldap-dev", "ldap": "libldap-dev",
    "libpq-fe": "libpq-dev", "libxml": "libxml2-dev", "libxslt": "libxslt1-dev",
    "lzma": "liblzma-dev", "magic": "libmagic-dev", "mpc": "libmpc-dev", "mpfr": "libmpfr-dev",
    "mysql": "libmariadb-dev", "openssl": "libssl-dev", "png": "libpng-dev",
    "portaudio": "portaudio19-dev", "sasl": "libsasl2-dev", "sodium": "libsodium-dev",
    "sql": "unixodbc-dev", "sqlite3": "libsqlite3-dev", "systemd": "libsystemd-dev",
    "yaml": "libyaml-dev", "zlib": "zlib1g-dev", "zmq": "libzmq3-dev", "zstd": "libzstd-dev",
}  # fmt: skip
"""First part of a header's path, or the header, -> package, where the rule does not hold."""


def build_packages(log: str) -> tuple[str, ...]:
    """Return Debian packages for what pip's log says a build lacked, sorted.

    Not all of them need exist.
    """
    found = set(_explain(log))
    return tuple(sorted(found | set(COMPILERS))) if found or _COMPILES.search(log) else ()


def packages_to_compile(message: str) -> tuple[str, ...]:
    """Return the same for a test that compiles something, where that is what failed."""
    return build_packages(message) if _COMPILES.search(message) else ()


def _explain(log: str) -> Iterator[str]:
    for header in _HEADER.findall(log):
        first = header.partition("/")[0].removesuffix(".hpp").removesuffix(".h")
        if first != "Python":
            yield _OF_HEADERS.get(first.lower()) or _development(first)
    for names in _PKG_CONFIG.findall(log):
        name = "".join(names)
        yield _OF_HEADERS.get(name.lower()) or _development(name)
    for library in _LIBRARY.findall(log):
        yield _OF_HEADERS.get(library.lower()) or _development(library)
    for program in _PROGRAM.findall(log):
        yield from _OF_PROGRAMS.get(program.lower(), (program.lower(),))


def _development(name: str) -> str:
    """Return what Debian calls the package of a library's headers, mostly."""
    bare = name.lower().replace("_", "-")
    return f"{bare if bare.startswith('lib') else f'lib{bare}'}-dev"
