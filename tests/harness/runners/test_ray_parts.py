"""What a worker and its crew do where something cannot be sent, said, or begun."""

import pytest
import ray
from ray import cloudpickle

import codeenv
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.monitor import Finding, Verdict
from codeenv_harness.events import ignore
from codeenv_harness.playing import Plan, Work
from codeenv_harness.rollout import RunOptions
from codeenv_harness.runners.base import Listener
from codeenv_harness.runners.on_ray.cluster import connect
from codeenv_harness.runners.on_ray.crew import Crew
from codeenv_harness.runners.on_ray.runner import _Hands
from codeenv_harness.runners.on_ray.travel import Failed, Order, unpacked
from codeenv_harness.runners.on_ray.worker import Worker
from tests.harness.runners.nodes import Unloadable

TASKS = fake_taskset("a")


class Heavy(Finding):
    """One that there is no memory to pack."""

    def __reduce__(self):
        raise MemoryError("it is too much")


def heavy(task, trajectory):
    """A monitor that finds one."""
    finding = Heavy(label="x", group="conduct", severity="info")
    return Verdict(episode="e", action="flag", findings=(finding,))


def begun(runtime=None, **more):
    """A worker of this process."""
    worker = Worker()
    plan = Plan(TASKS, RunOptions("oracle"), runtime or FakeRuntime(), **more)
    worker.begin(codeenv.__version__, {}, cloudpickle.dumps(plan), None)
    return worker


def told(worker, last):
    """What it reports, up to one of a kind."""
    reports = []
    while not (reports and isinstance(reports[-1], last)):
        batch = [unpacked(data) for data in worker.collect()]
        assert batch, "nothing was reported"
        reports += batch
    return reports


def test_what_a_rollout_gave_and_cannot_be_sent_is_told():
    worker = begun(monitor=heavy)
    worker.hand(Order(Work(TASKS.recipes[0], 0)))

    failed = told(worker, Failed)[-1]

    assert failed.key == ("a", 0)
    assert "MemoryError: it is too much" in str(failed.error)


@pytest.fixture
def crews(nodes):
    """What makes crews on the cluster; what one of them said is in ``crews.said``."""
    made = []

    def make(runtime, **more):
        plan = Plan(TASKS, RunOptions("oracle"), runtime)
        made.append(Crew(plan, make.said.append, **more))
        return made[-1]

    make.said = []
    connect(nodes.address, make.said.append)
    yield make
    for crew in made:
        crew.close()
    ray.shutdown()


def test_a_rollout_that_no_worker_can_take_ends_and_the_others_are_played(crews):
    crew, ended = crews(FakeRuntime()), []
    crew.start()
    wanted = [Work(Unloadable("u"), 0), Work(TASKS.recipes[0], 0)]

    _Hands(RunOptions("oracle"), crew, Listener(ignore, ended.append)).play(wanted)

    records = {finished.key: finished.record for finished in ended}
    assert records["a", 0].reward == 1.0
    assert records["u", 0].reason == "infra_error"
    assert "could not take it: " in records["u", 0].error
    assert "3 of 3 times" in records["u", 0].error
