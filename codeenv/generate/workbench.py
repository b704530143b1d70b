"""Runs a repository's tests on variants of its tree, each in a fresh box."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codeenv.errors import SandboxError
from codeenv.generate.memo import RunMemo, key_of
from codeenv.images import Environment
from codeenv.languages.base import Language, Layout, Swap, SwapResult, TestRequest, TestRun
from codeenv.sandbox.base import Backend, Sandbox
from codeenv.sandbox.image import Mount
from codeenv.tree import Tree


@dataclass(frozen=True)
class Workbench:
    """A repository in its environment.  Thread-safe: every run opens its own box."""

    pristine: Tree
    language: Language
    layout: Layout
    environment: Environment
    backend: Backend
    memo: RunMemo | None = None

    def run(
        self, request: TestRequest, tree: Tree | None = None, *, mounts: Sequence[Mount] = ()
    ) -> TestRun:
        """Run tests on ``tree`` (default: the pristine one); a failed sandbox is tried once more.

        Raises:
            SandboxError: If the sandbox failed twice.
        """
        full = replace(request, options=self.environment.lock.test_options)
        changed = self.pristine if tree is None else tree
        key = key_of(self._wall, changed.digest, full, mounts=mounts)
        known = self.memo.recall(key) if self.memo else None
        if known is not None:
            return known
        try:
            run = self._run(full, changed, mounts)
        except SandboxError:
            run = self._run(full, changed, mounts)
        if self.memo:
            self.memo.keep(key, run)
        return run

    def try_swaps(self, request: TestRequest, swaps: Sequence[Swap]) -> tuple[SwapResult, ...]:
        """Try lazy versions of functions in one box; a failed sandbox is tried once more."""
        full = replace(request, options=self.environment.lock.test_options)
        key = key_of(self._wall, self.pristine.digest, full, swaps=swaps)
        known = self.memo.recall_tries(key) if self.memo else None
        if known is not None:
            return known
        try:
            tries = self._try_swaps(full, swaps)
        except SandboxError:
            tries = self._try_swaps_again(full, swaps)
        if self.memo:
            self.memo.keep_tries(key, tries)
        return tries

    @property
    def _wall(self) -> str:
        """What runs depend on beside tree and request."""
        return f"{self.backend.name} {self.environment.digest}"

    def _try_swaps_again(
        self, request: TestRequest, swaps: Sequence[Swap]
    ) -> tuple[SwapResult, ...]:
        try:
            return self._try_swaps(request, swaps)
        except SandboxError as error:
            return (SwapResult(problem=str(error), complete=False),) * len(swaps)

    def _try_swaps(self, request: TestRequest, swaps: Sequence[Swap]) -> tuple[SwapResult, ...]:
        with self._open() as box:
            return self.language.try_swaps(box, self.environment.image, request, swaps)

    def _run(self, request: TestRequest, tree: Tree, mounts: Sequence[Mount]) -> TestRun:
        with self._open(mounts) as box:
            if tree is not self.pristine:
                box.apply(self.pristine.diff(tree))
            return self.language.run_tests(box, self.environment.image, request)

    def _open(self, mounts: Sequence[Mount] = ()) -> Sandbox:
        image = self.environment.image
        server = self.language.fork_server(image)
        return self.backend.open(
            image, self.pristine, role="build", mounts=mounts, fork_server=server
        )
