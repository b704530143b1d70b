"""What vanished with a feature: names, and salted hashes of them that may travel with a recipe."""

import hashlib
import re
from collections.abc import Iterable

from codeenv.languages.base import Language
from codeenv.materialise.common import is_telling
from codeenv.tree import Tree

_MOST = 40
_DIGITS = 16
_WORD = re.compile(r"\w+")


def names_in(tree: Tree, paths: Iterable[str], language: Language) -> frozenset[str]:
    """Return the identifiers used in the named files of a tree."""
    found = (language.identifiers(tree[path].data) for path in paths if path in tree)
    return frozenset().union(*found)


def vanished_names(pristine: Tree, damaged: Tree, language: Language) -> frozenset[str]:
    """Return the identifiers of the pristine source files that no damaged source file uses."""
    paths = language.layout(pristine).source_files
    changed = [p for p in paths if damaged.get(p) != pristine.get(p)]
    return names_in(pristine, changed, language) - names_in(damaged, paths, language)


def secret_hashes(
    pristine: Tree, damaged: Tree, language: Language, *, instruction: str = ""
) -> tuple[str, ...]:
    """Return hashes of vanished identifiers that neither the agent's tree nor its task names.

    At most 40, the longest (most telling) names first chosen, then sorted by hash.  The salt is the
    digest of the damaged tree, so that hashes of two tasks cannot be compared.

    Args:
        pristine: The original tree.
        damaged: What the agent gets, without ``.git``.
        language: Of the repository.
        instruction: The statement: names in it are no secrets.
    """
    tests = language.layout(pristine).test_files
    known = names_in(damaged, tests, language) | frozenset(_WORD.findall(instruction))
    names = (n for n in vanished_names(pristine, damaged, language) - known if is_telling(n))
    chosen = sorted(names, key=lambda name: (-len(name), name))[:_MOST]
    return tuple(sorted(secret_hash(name, damaged.digest) for name in chosen))


def secret_hash(name: str, salt: str) -> str:
    """Return the salted hash of one identifier; ``salt`` is ``Recipe.damaged_tree``."""
    return hashlib.sha256(f"{salt}:{name}".encode()).hexdigest()[:_DIGITS]
