"""The environment for asyncio: every call in a thread of its own, on whatever loop asks."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

from codeenv.env.repo import CodeRepoEnv, Info, Observation
from codeenv.grading.models import Outcome

T = TypeVar("T")


class AsyncCodeRepoEnv:
    """``CodeRepoEnv`` with ``await``.

    No loop is remembered: an environment may be made before there is one, and used on several, one
    after the other.  A call that is cancelled closes the box, so that nothing goes on behind it;
    the next call must be ``reset``.

    Attributes:
        env: The environment.
    """

    def __init__(self, env: CodeRepoEnv | None = None, **options: Any) -> None:  # noqa: ANN401
        """Wrap an environment, or make one.

        Args:
            env: The environment; this takes it over.
            options: Of ``CodeRepoEnv``, to make one.
        """
        self.env = env if env is not None else CodeRepoEnv(**options)
        self._thread = ThreadPoolExecutor(1, "codeenv-async")

    @property
    def outcome(self) -> Outcome | None:
        """How the episode ended; None while it goes on."""
        return self.env.outcome

    async def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """See ``CodeRepoEnv.reset``."""
        return await self._call(lambda: self.env.reset(seed=seed, options=options))

    async def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:  # noqa: ANN401
        """See ``CodeRepoEnv.step``."""
        return await self._call(lambda: self.env.step(action))

    async def fork(self) -> "AsyncCodeRepoEnv":
        """See ``CodeRepoEnv.fork``."""
        return AsyncCodeRepoEnv(await self._call(self.env.fork))

    async def close(self) -> None:
        """See ``CodeRepoEnv.close``."""
        try:
            await self._call(self.env.close)
        finally:
            self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _call(self, work: Callable[[], T]) -> T:
        future = self._thread.submit(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self.env.abandon()
            raise
