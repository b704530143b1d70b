import pytest

from codeenv.sources.licence import find_licence
from codeenv.tree import Entry, Tree


@pytest.mark.parametrize(
    ("files", "licence"),
    [
        ({"PKG-INFO": "License-Expression: MIT OR Apache-2.0\n"}, "MIT OR Apache-2.0"),
        ({"pyproject.toml": '[project]\nlicense = "MPL-2.0"\n'}, "MPL-2.0"),
        ({"pyproject.toml": '[project]\nlicense = {text = "BSD-3-Clause"}\n'}, "BSD-3-Clause"),
        ({"pyproject.toml": '[project]\nlicense = {file = "LICENSE"}\n'}, "unknown"),
        ({"pyproject.toml": "not toml ["}, "unknown"),
        ({"PKG-INFO": "Classifier: License :: OSI Approved :: MIT License\n"}, "MIT"),
        ({"LICENSE.txt": "Apache License\n   Version 2.0, January 2004"}, "Apache-2.0"),
        ({"COPYING": "GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007"}, "GPL-3.0-only"),
        (
            {"docs/LICENSE": "Permission is hereby granted, free of charge, to any person"},
            "unknown",
        ),
        ({"LICENSE": "\xff all rights reserved"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_the_licence_is_what_the_files_say_plainly(files, licence):
    tree = Tree({path: Entry(text.encode("latin-1")) for path, text in files.items()})
    assert find_licence(tree) == licence
