"""Which licence a repository has, as far as its own files say so plainly."""

import re
import tomllib
from email.message import Message
from email.parser import HeaderParser

from codeenv.tree import Tree

_CLASSIFIERS = {
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "Zope Public License": "ZPL-2.1",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-only",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "GNU Affero General Public License v3": "AGPL-3.0-only",
}
_TEXTS = (
    (r"apache license,?\s+version 2\.0", "Apache-2.0"),
    (r"mozilla public license,? version 2\.0", "MPL-2.0"),
    (r"gnu affero general public license\s+version 3", "AGPL-3.0-only"),
    (r"gnu lesser general public license\s+version 3", "LGPL-3.0-only"),
    (r"gnu lesser general public license\s+version 2\.1", "LGPL-2.1-only"),
    (r"gnu general public license\s+version 3", "GPL-3.0-only"),
    (r"gnu general public license\s+version 2", "GPL-2.0-only"),
    (r"names? of .{0,300} may (not )?be used to endorse or promote", "BSD-3-Clause"),
    (r"redistributions in binary form must reproduce", "BSD-2-Clause"),
    (r"permission to use, copy, modify, and(/or)? distribute this software", "ISC"),
    (r"permission is hereby granted, free of charge, to any person", "MIT"),
    (r"this is free and unencumbered software released into the public domain", "Unlicense"),
)
_SPDX = re.compile(r"[A-Za-z0-9.+-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+-]+)*")
_FILES = re.compile(r"(?i)^(licen[cs]e|copying|unlicense)([-._][^/]*)?$")


def find_licence(tree: Tree) -> str:
    """Return an SPDX expression, or ``unknown``.

    The project's own statement counts first (``License-Expression``, ``project.license``), then
    what its licence file says, then classifiers.
    """
    headers = _headers(tree)
    return (
        _spdx(headers.get("License-Expression", ""))
        or _spdx(_declared(tree))
        or _from_text(tree)
        or _from_classifiers(headers.get_all("Classifier", []))
        or "unknown"
    )


def _headers(tree: Tree) -> Message:
    entry = tree.get("PKG-INFO")
    text = entry.data.decode("utf-8", "replace") if entry else ""
    return HeaderParser().parsestr(text)


def _declared(tree: Tree) -> str:
    entry = tree.get("pyproject.toml")
    if entry is None:
        return ""
    try:
        project = tomllib.loads(entry.data.decode("utf-8")).get("project")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return ""
    licence = project.get("license") if isinstance(project, dict) else ""
    if isinstance(licence, dict):
        licence = licence.get("text")
    return licence if isinstance(licence, str) else ""


def _spdx(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 80 and _SPDX.fullmatch(text) else ""


def _from_text(tree: Tree) -> str:
    for path, entry in tree.items():
        if _FILES.match(path) and entry.mode != "link":
            text = entry.data[:40_000].decode("utf-8", "replace").lower()
            flat = re.sub(r"\s+", " ", text)
            for pattern, name in _TEXTS:
                if re.search(pattern, flat):
                    return name
    return ""


def _from_classifiers(classifiers: list[str]) -> str:
    for classifier in classifiers:
        name = _CLASSIFIERS.get(classifier.rsplit(" :: ", 1)[-1])
        if name and classifier.startswith("License ::"):
            return name
    return ""
