"""What grading asks of a language where it does not trust the code that it grades."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from codeenv.languages.runs import SplitRun, TestRequest
from codeenv.languages.values import ControlKind, Controls, Layout
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import Image
from codeenv.tree import Delta, Tree


class Untrusted(Protocol):
    """Part of ``Language``: splits, negative controls, replays."""

    def split(self, tree: Tree, layout: Layout) -> tuple[Tree, Tree]:
        """Return what the tests' box holds, and what the box of the code under test does."""
        ...

    def run_split(
        self,
        boxes: tuple[Sandbox, Sandbox],
        image: Image,
        request: TestRequest,
        layout: Layout,
        licences: Sequence[str] | None,
    ) -> SplitRun:
        """Run tests in the first box of a pair against the code in the second, and close that.

        Args:
            boxes: The pair, with the trees of ``split``.
            image: Their environment.
            request: Which tests, and how.
            layout: Of the repository.
            licences: What objects of the code may be asked; None to learn it.
        """
        ...

    def controls(
        self,
        tree: Tree,
        test_ids: Sequence[str],
        kind: ControlKind,
        *,
        stable: Sequence[str] = (),
        variant: int = 0,
        without: Sequence[str] = (),
    ) -> Controls:
        """Return the files of some tests rewritten: negative controls, and what looks like them.

        ``same`` changes nothing but spelling and ids.  Of the other kinds, one assertion of each
        test expects what no right solution gives: the ``variant``-th, round and round.

        Args:
            tree: A tree with the pristine tests.
            test_ids: The tests.
            kind: What is done to them.
            stable: All known ids in collection order, so that ids can be matched with tables.
            variant: Which assertion, from 0; each variant has expected values of its own.
            without: Tests that are taken out of the same files, where nothing else needs them.
        """
        ...

    def ablate(self, tree: Tree, symbols: Sequence[tuple[str, str]]) -> Delta:
        """Return what takes the bodies out of functions, methods and classes, wherever they are.

        Args:
            tree: A tree with a submission applied.
            symbols: Path and qualified name of each, in the pristine tree; of a whole file "".
        """
        ...

    def record_calls(
        self, sandbox: Sandbox, image: Image, request: TestRequest, layout: Layout
    ) -> tuple[str, ...]:
        """Return what tests call of the project's code: scripts that make such calls again."""
        ...

    def vary(self, script: str, most: int) -> tuple[str, ...]:
        """Return up to ``most`` scripts with other arguments, the same ones every time."""
        ...

    def target_of(self, script: str) -> str:
        """Return what a script asks in the end, e.g. ``humanize.filesize:naturalsize``."""
        ...

    def call_again(
        self,
        sandbox: Sandbox,
        image: Image,
        scripts: Sequence[str],
        order: Sequence[int],
        *,
        request: TestRequest,
        strange: bool = False,
        fields: bool = False,
    ) -> Mapping[int, str]:
        """Return what scripts answered, as text, by their places in ``scripts``.

        An error is ``raises`` and its class; what answers no data, or twice, is not there.

        Args:
            sandbox: Holds the code that is asked, as ``split`` gives it.
            image: Its environment.
            scripts: What ``record_calls`` or ``vary`` returned.
            order: Places of those to be called, in this order, in one process.
            request: The deadlines of all of them and of each, and the hash seed.
            strange: Whether to call them on another day, and where nothing is left to chance.
            fields: Whether objects of data classes are told by their fields, and not left out.
        """
        ...
