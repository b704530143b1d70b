"""Hosts are started before somebody has to wait for them."""

import threading
from contextlib import closing
from dataclasses import dataclass, field, replace

import pytest

from codeenv.env.runtime import Runtime
from codeenv.errors import SandboxError
from codeenv.languages import get_language
from codeenv.sandbox.base import Limits
from codeenv.sandbox.capacity import Capacity
from codeenv.sandbox.local import LocalBackend
from codeenv.sandbox.pool import HostKey, HostPool
from codeenv.sandbox.select import open_backend
from codeenv.tasks.taskset import Taskset
from tests.sandbox.conftest import WORKSPACE


@dataclass
class Starter:
    """Starts hosts when it may, and counts."""

    failures: int = 0
    may: threading.Event = field(default_factory=threading.Event)
    ended: list[object] = field(default_factory=list)
    count: int = 0

    def __call__(self, key):
        self.count += 1
        assert self.may.wait(10)
        if self.failures:
            self.failures -= 1
            raise SandboxError("no container today")
        return Started(self.ended)


@dataclass(eq=False)
class Started:
    """As much of a host as a pool looks at."""

    ended: list[object]
    healthy: bool = True
    boxes: int = 0

    def answers(self):
        return True

    def close(self):
        self.ended.append(self)


@pytest.fixture
def starter():
    return Starter()


@pytest.fixture
def pool(starter):
    with closing(HostPool(starter, boxes=2)) as found:
        yield found
        starter.may.set()


@pytest.fixture
def key(host_image):
    return HostKey.of(host_image, "agent", Limits(), (), False)


def test_a_host_that_was_started_ahead_serves_who_comes_next(pool, starter, key):
    pool.prefetch(key)
    starter.may.set()

    assert pool._enter(key).host.boxes == 1
    assert starter.count == 1


def test_one_is_started_ahead_however_often_it_is_asked_for(pool, starter, key):
    for _ in range(5):
        pool.prefetch(key)
    starter.may.set()
    pool.close()

    assert starter.count == 1


def test_none_is_started_ahead_beside_enough_idle_ones(starter, key):
    starter.may.set()
    with closing(HostPool(starter, Capacity(idle=2))) as pool:
        for digest in "abcd":
            pool.prefetch(replace(key, digest=digest))
    assert starter.count == 2


def test_a_host_gets_a_successor_before_its_last_box_is_closed(pool, starter, key):
    starter.may.set()
    first = pool._enter(key)
    pool._put_back(first)
    assert starter.count == 1
    assert pool._enter(key) is first, "its second and last box"
    for thread in pool._starting:
        thread.join(10)

    assert starter.count == 2
    assert pool._enter(key) is not first
    assert starter.count == 2


def test_who_comes_while_it_starts_waits_for_it(pool, starter, key):
    pool.prefetch(key)
    waiting = threading.Thread(target=pool._enter, args=(key,))
    waiting.start()
    starter.may.set()
    waiting.join(10)

    assert starter.count == 1


def test_a_failure_is_told_to_nobody_who_did_not_ask(pool, starter, key):
    starter.failures = 1
    starter.may.set()
    pool.prefetch(key)
    for thread in pool._starting:
        thread.join(10)

    assert pool._enter(key).host.boxes == 1
    assert starter.count == 2


def test_closing_ends_a_host_that_is_still_starting(pool, starter, key):
    pool.prefetch(key)
    closer = threading.Thread(target=pool.close)
    closer.start()
    starter.may.set()
    closer.join(10)

    assert len(set(map(id, starter.ended))) == starter.count == 1


def test_a_closed_pool_starts_nothing(pool, starter, key):
    pool.close()
    pool.prefetch(key)

    assert starter.count == 0


def test_the_first_episode_of_an_environment_makes_its_grader_ready():
    toy = Taskset.load("toy")
    with closing(LocalBackend()) as backend, Runtime(backend) as runtime:
        task = runtime.task(toy.recipes[0], toy)
        runtime.open(task).close()
        for thread in backend._pool._starting:
            thread.join(30)
        (ready,) = (place for place in backend._pool._places if place.key.role == "grader")
        solved = task.oracle

        assert ready.host.boxes == 0
        assert runtime.grader.grade(task, solved).resolved
        assert ready.host.boxes == 2


@pytest.mark.bubblewrap
def test_a_fork_server_is_started_with_its_host():
    toy = Taskset.load("toy")
    with closing(open_backend("bubblewrap")) as backend, Runtime(backend) as runtime:
        task = runtime.task(toy.recipes[0], toy)
        image = runtime.environment(task.lock, task.recipe).image
        server = get_language("python").fork_server(image)
        backend.prefetch(image, role="grader", fork_server=server)
        for thread in backend._pool._starting:
            thread.join(30)
        (place,) = backend._pool._places

        assert place.host._forks
        with backend.open(image, WORKSPACE, role="grader", fork_server=server) as box:
            assert box.host is place.host
