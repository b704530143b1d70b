"""What a proposal has to delete."""

import pytest

from codeenv.errors import UsageError
from codeenv.generate.closure import Closures
from codeenv.generate.proposal import proposed_features, read_proposals
from codeenv.generate.reach import Reach
from codeenv.languages import detect_language
from codeenv.tree import Entry, Tree

TREE = Tree(
    {
        "pkg/__init__.py": Entry(b"def f():\n    return 1\n"),
        "tests/test_f.py": Entry(b"from pkg import f\n\n\ndef test_f():\n    assert f()\n"),
        "examples/demo.py": Entry(b"def main():\n    print(1)\n"),
    }
)
GONE = """\
--- a/{path}
+++ b/{path}
@@ -{lines} +{start},0 @@
"""


@pytest.fixture
def read(tmp_path):
    def go(path, start, end):
        lines = TREE[path].data.decode().splitlines()[start:end]
        head = GONE.format(path=path, lines=f"{start + 1},{len(lines)}", start=start)
        file = tmp_path / "p.diff"
        file.write_text(head + "".join(f"-{line}\n" for line in lines))
        return read_proposals([file], TREE)

    return go


def test_a_function_of_the_project_can_be_proposed(read):
    (proposal,) = read("pkg/__init__.py", 0, 2)
    assert proposal.reduction.members == (("pkg/__init__.py", "f"),)


def test_code_of_examples_alone_is_refused_before_anything_is_built(read):
    with pytest.raises(UsageError, match="takes no code from a function") as refused:
        read("examples/demo.py", 0, 2)
    assert "code that tests run" in refused.value.hint


def test_who_proposes_to_delete_tests_is_told_to_leave_them(read):
    with pytest.raises(UsageError, match="belongs to the tests") as refused:
        read("tests/test_f.py", 2, 5)
    assert "leave the tests as they are" in refused.value.hint


def test_tests_that_only_import_a_module_are_expected_to_fail_when_it_goes(tmp_path):
    file = tmp_path / "p.diff"
    file.write_text("diff --git a/pkg/m.py b/pkg/m.py\ndeleted file mode 100644\n")
    tree = Tree({**dict(TREE.items()), "pkg/m.py": Entry(b"def g():\n    return 1\n")})
    language = detect_language(tree)
    units = language.units(tree, language.layout(tree))
    stable = ("tests/test_m.py::test_g", "tests/test_m.py::test_else", "tests/test_f.py::test_f")
    runs = {u: frozenset({0} if u.name == "g" else {2}) for u in units}
    closures = Closures(tree, units, Reach(runs, frozenset(), stable), 400)
    needing = {"pkg/m.py": ("tests/test_m.py",)}
    (feature,) = proposed_features(read_proposals([file], tree), tree, closures, needing)
    assert feature.tests == stable[:2]
    (feature,) = proposed_features(read_proposals([file], tree), tree, closures, {})
    assert feature.tests == stable[:1]
