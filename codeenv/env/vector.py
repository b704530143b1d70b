"""Many environments at once: one thread each, one shared runtime."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from codeenv.env.repo import CodeRepoEnv, Info, Observation
from codeenv.env.runtime import Runtime
from codeenv.errors import UsageError
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity

Bools = npt.NDArray[np.bool_]
T = TypeVar("T")
_Step = tuple[Observation, float, bool, bool, Info]
_PER_ENV = ("task_id", "task_index")


class CodeRepoVectorEnv(VectorEnv[dict[str, Any], Sequence[Any], npt.NDArray[Any]]):
    """A batch of ``CodeRepoEnv`` stepped in a thread pool.

    Texts are batched as tuples of str, numbers as arrays of shape ``(num_envs,)``.  Autoreset
    follows Gymnasium: ``NEXT_STEP`` ignores the action after an end and resets instead;
    ``SAME_STEP`` resets at once and puts the last observation and info into ``info["final_obs"]``
    and ``info["final_info"]``; ``DISABLED`` leaves it to ``reset(options={"reset_mask": …})``.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        backend: str = "auto",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_workers: int | None = None,
        runtime: Runtime | None = None,
        **options: Any,  # noqa: ANN401 - CodeRepoEnv's own
    ) -> None:
        """Make the environments; nothing is started yet.

        Args:
            num_envs: How many, at least 1.
            backend: Where boxes come from, unless ``runtime`` says it.
            autoreset_mode: What follows an episode's end.
            max_workers: Threads; by default one per environment.
            runtime: Share this one instead of starting another; it is not closed with the batch.
            options: The options of ``CodeRepoEnv``.
        """
        if num_envs < 1:
            raise UsageError(f"num_envs must be at least 1, not {num_envs}")
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        room = Capacity(boxes=max(DEFAULT_CAPACITY.boxes, 2 * num_envs))
        self.runtime = runtime if runtime is not None else Runtime(backend, capacity=room)
        self._owns_runtime = runtime is None
        self.envs = [CodeRepoEnv(runtime=self.runtime, **options) for _ in range(num_envs)]
        first = self.envs[0]
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = first.render_mode
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._pool = ThreadPoolExecutor(max_workers or num_envs, "codeenv-env")
        self._ended: Bools = np.zeros(num_envs, dtype=np.bool_)
        self._last: list[Observation] = [{} for _ in range(num_envs)]

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], Info]:
        """Reset all environments, or those of ``options["reset_mask"]``.

        Args:
            seed: One for the first environment (the others count on), or one each.
            options: Of ``CodeRepoEnv.reset``, the same for all or a list with one each;
                ``reset_mask`` is an array of bool, shape ``(num_envs,)``, with one True at least.
        """
        given = dict(options or {})
        mask = _checked_mask(given.pop("reset_mask", None), self.num_envs)
        if self._last[0] == {} and not mask.all():
            raise UsageError("the first reset must be of all environments")
        seeds = _seeds(seed, self.num_envs)
        chosen = [i for i in range(self.num_envs) if mask[i]]
        found = self._each(
            lambda i: self.envs[i].reset(seed=seeds[i], options=_own_options(given, i)), chosen
        )
        infos: Info = {}
        for i, (observation, info) in zip(chosen, found, strict=True):
            self._last[i], self._ended[i] = observation, False
            infos = self._add_info(infos, info, i)
        return self._batch(), infos

    def step(
        self, actions: Sequence[Any]
    ) -> tuple[dict[str, Any], npt.NDArray[np.float64], Bools, Bools, Info]:
        """Step all environments at the same time, one action each."""
        if len(actions) != self.num_envs:
            raise UsageError(f"{self.num_envs} actions are needed, not {len(actions)}")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            over = np.flatnonzero(self._ended).tolist()
            raise UsageError(
                f"environments {over} have ended", hint='reset(options={"reset_mask": …}) first'
            )
        found = self._each(lambda i: self._step_one(i, actions[i]), range(self.num_envs))
        rewards = np.array([reward for _, reward, *_ in found], dtype=np.float64)
        terminated = np.array([end for _, _, end, *_ in found], dtype=np.bool_)
        truncated = np.array([cut for *_, cut, _ in found], dtype=np.bool_)
        infos: Info = {}
        for i, (observation, *_, info) in enumerate(found):
            self._last[i] = observation
            infos = self._add_info(infos, info, i)
        self._ended = np.logical_or(terminated, truncated)
        return self._batch(), rewards, terminated, truncated, infos

    def render(self) -> tuple[str | None, ...]:  # type: ignore[override]
        """Return what each environment renders."""
        return tuple(env.render() for env in self.envs)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:  # noqa: ANN401
        """Call a method (or read an attribute) of every environment."""
        found = [getattr(env, name) for env in self.envs]
        return tuple(one(*args, **kwargs) if callable(one) else one for one in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Read an attribute of every environment."""
        return tuple(getattr(env, name) for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ANN401 - Gymnasium's signature
        """Kill every box, also under a running step, and wait for the threads."""
        if self._owns_runtime:
            self.runtime.close()
        for env in self.envs:
            env.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _step_one(self, i: int, action: Any) -> _Step:  # noqa: ANN401
        env = self.envs[i]
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and self._ended[i]:
            observation, info = env.reset()
            return observation, 0.0, False, False, info
        observation, reward, terminated, truncated, info = env.step(action)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and (terminated or truncated):
            final = {"final_obs": observation, "final_info": info}
            observation, info = env.reset()
            info = {**final, **info}
        return observation, reward, terminated, truncated, info

    def _each(self, work: Callable[[int], T], chosen: Iterable[int]) -> list[T]:
        return list(self._pool.map(work, chosen))

    def _batch(self) -> dict[str, Any]:
        space = self.single_observation_space
        empty = cast("dict[str, Any]", create_empty_array(space, n=self.num_envs))
        return cast("dict[str, Any]", concatenate(space, self._last, empty))


def _checked_mask(mask: object, count: int) -> Bools:
    if mask is None:
        return np.ones(count, dtype=np.bool_)
    if (
        not isinstance(mask, np.ndarray)
        or mask.dtype != np.bool_
        or mask.shape != (count,)
        or not mask.any()
    ):
        raise UsageError(f"reset_mask must be an array of {count} bool with one True at least")
    return mask


def _seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    if seed is None:
        return [None] * count
    if isinstance(seed, int | np.integer):
        return [int(seed) + i for i in range(count)]
    if len(seed) != count:
        raise UsageError(f"{count} seeds are needed, not {len(seed)}")
    return list(seed)


def _own_options(options: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Return the options for one environment: of those that may differ, its own."""
    own = dict(options)
    for name in _PER_ENV:
        if isinstance(own.get(name), list | tuple | np.ndarray):
            own[name] = own[name][i]
    return own
