"""Which Debian packages bring what a run of tests did not find: libraries, programs, locales.

Debian names packages of shared libraries by rule and packages of programs mostly as the program, so
names are proposed and the distribution says which of them exist.
"""

import re
from collections.abc import Iterable

from codeenv.images.causes import LONGEST
from codeenv.images.toolchain import packages_to_compile
from codeenv.languages.base import TestRun

_LIBRARY = re.compile(r"\b(lib[\w.+-]+?\.so\.[\d.]+): cannot open shared object")
_LOADED = re.compile(
    r"(?i)(?:cannot|could not|couldn't|can't|failed to|unable to) (?:find|load|locate)"
    r"(?: (?:the|a|library|shared))* ['\"]?(lib[a-z][\w+-]*)"
)
_PROGRAM = re.compile(
    r"No such file or directory: '([a-z][a-z0-9+_-]*)'"
    r"|(?:^|[\s:])([a-z][a-z0-9+_-]*): (?:command )?not found"
    r"|([a-z][a-z0-9+_-]*) (?:executable|binary|command)? ?(?:was )?not found (?:in|on)"
    r" (?:your )?PATH"
)
_NO_LOCALE = re.compile(
    r"unsupported locale setting|locale .{1,40} (?:is )?not (?:available|installed)"
)
_LOCALES = "locales-all"
_PACKAGE_OF = {
    "7z": "7zip", "7za": "7zip", "ar": "binutils", "bzr": "breezy", "c++": "g++", "cc": "gcc",
    "convert": "imagemagick", "dig": "bind9-dnsutils", "dot": "graphviz",
    "exiftool": "libimage-exiftool-perl", "ffprobe": "ffmpeg", "gpg": "gnupg", "gpg2": "gnupg",
    "gs": "ghostscript", "hg": "mercurial", "ifconfig": "net-tools", "initdb": "postgresql",
    "ip": "iproute2", "java": "default-jre-headless", "javac": "default-jdk-headless",
    "killall": "psmisc", "ld": "binutils", "magick": "imagemagick", "mogrify": "imagemagick",
    "msgfmt": "gettext", "mysql": "default-mysql-client", "mysqld": "default-mysql-server",
    "nc": "netcat-openbsd", "netstat": "net-tools", "nm": "binutils", "node": "nodejs",
    "objdump": "binutils", "pdflatex": "texlive-latex-base", "pdftoppm": "poppler-utils",
    "pdftotext": "poppler-utils", "pg_config": "libpq-dev", "pg_ctl": "postgresql",
    "ping": "iputils-ping", "postgres": "postgresql", "psql": "postgresql-client",
    "readelf": "binutils", "rg": "ripgrep", "rsvg-convert": "librsvg2-bin",
    "soffice": "libreoffice-core", "ssh": "openssh-client", "ssh-keygen": "openssh-client",
    "sshd": "openssh-server", "strings": "binutils", "svn": "subversion", "tclsh": "tcl",
    "tesseract": "tesseract-ocr", "wish": "tk", "xclip": "xclip", "xdg-open": "xdg-utils",
    "xmllint": "libxml2-utils", "xsltproc": "xsltproc",
}  # fmt: skip
"""Program -> package, where the names differ."""
_NO_PROGRAMS = frozenset({
    "bash", "file", "git", "make", "pip", "python", "python3", "sh", "test", "tests",
})  # fmt: skip
"""Names that are in every base, are none, or are as often files of a test."""


def system_packages(run: TestRun) -> dict[str, str]:
    """Return Debian packages that may bring what a run lacked -> the message that says so.

    Not all of them need exist: of several that may have a library, all are named.
    """
    found: dict[str, str] = {}
    for message in run.messages:
        text = message[:LONGEST]
        for package in sorted(_explain(text)):
            found.setdefault(package, text[:200])
    return found


def library_packages(file: str) -> tuple[str, ...]:
    """Return what Debian may call the package of a shared library (Debian Policy, 8.1).

    The second name is of those that were built again for 64-bit times, the last one of those that
    break the rule.

    Example:
        >>> library_packages("libmagic.so.1")
        ('libmagic1', 'libmagic1t64', 'libmagic')
    """
    name, _, version = file.lower().replace("_", "-").partition(".so.")
    name = re.sub(r"-(?=\d)", "", name)
    package = f"{name}{'-' if name[-1].isdigit() else ''}{version}"
    return package, f"{package}t64", name


def _explain(text: str) -> Iterable[str]:
    yield from packages_to_compile(text)
    if _NO_LOCALE.search(text):
        yield _LOCALES
    for file in _LIBRARY.findall(text):
        yield from library_packages(file)
    for name in _LOADED.findall(text):
        yield f"{name.lower()}-dev"
    for names in _PROGRAM.findall(text):
        program = "".join(names)
        if program not in _NO_PROGRAMS:
            yield _PACKAGE_OF.get(program, program.replace("_", "-"))
