"""Languages: what a repository is written in, and everything that follows from it."""

from codeenv.errors import SourceError, UsageError
from codeenv.languages.base import Language
from codeenv.languages.python.language import PythonLanguage
from codeenv.tree import Tree

__all__ = ["detect_language", "get_language"]


def get_language(name: str) -> Language:
    """Return the language of that name in recipes.

    Raises:
        UsageError: If codeenv does not know it.
    """
    for language in _languages():
        if language.name == name:
            return language
    known = ", ".join(language.name for language in _languages())
    raise UsageError(f"no such language: {name!r}", hint=f"known languages: {known}")


def detect_language(tree: Tree) -> Language:
    """Return the language of a repository.

    Raises:
        SourceError: If it is none that codeenv knows.
    """
    for language in _languages():
        if language.detect(tree):
            return language
    known = ", ".join(language.name for language in _languages())
    raise SourceError(
        "there is no code here in a language that codeenv knows",
        hint=f"known languages: {known}; for a project in a sub-folder name it with --subdir",
    )


def _languages() -> tuple[Language, ...]:
    return (PythonLanguage(),)
