"""What a worker and its crew do where something cannot be sent, said, or begun."""

import threading

import pytest
import ray
from ray import cloudpickle

import codeenv
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.errors import MachineError
from codeenv.monitor import Finding, Verdict
from codeenv_harness.agents import BudgetSpent
from codeenv_harness.events import EpisodeEnded, ignore
from codeenv_harness.playing import Plan, Work
from codeenv_harness.rollout import RunOptions
from codeenv_harness.runners.base import Listener
from codeenv_harness.runners.on_ray.cluster import connect
from codeenv_harness.runners.on_ray.crew import Crew, Member
from codeenv_harness.runners.on_ray.runner import _Hands
from codeenv_harness.runners.on_ray.travel import Ended, Failed, Order, environment, unpacked
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

    records = {finished.record.key: finished.record for finished in ended}
    assert records["a", 0].reward == 1.0
    assert records["u", 0].reason == "infra_error"
    assert "could not take it: " in records["u", 0].error
    assert "3 of 3 times" in records["u", 0].error


@pytest.mark.parametrize(
    ("agent", "settings", "sent"),
    [
        ("chat:m", {}, True),
        ("cmd:true", {"model": "m"}, True),
        ("cmd:true", {}, False),
        ("cmd:true", {"model": ""}, False),
        ("oracle", {}, False),
    ],
)
def test_a_key_goes_only_where_a_model_is_asked(monkeypatch, agent, settings, sent):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    names = environment(RunOptions(agent, settings=settings))

    assert ("OPENAI_API_KEY" in names) == sent
    assert sent or not names


def test_the_end_of_a_rollout_and_its_record_are_one_report():
    worker = begun()
    worker.hand(Order(Work(TASKS.recipes[0], 0)))

    *before, last = told(worker, Ended)

    assert not any(isinstance(report, EpisodeEnded) for report in before)
    assert (last.event.final, last.event.outcome.reward) == (True, 1.0)
    assert (last.finished.record.reward, last.key) == (1.0, ("a", 0))


class Losing:
    """A crew of one, who says that the budget is spent, and is then lost with the rest."""

    def __init__(self, spent):
        self.member = Member("here", 1, None, None)
        self.member.hand = lambda order: self.member.hands.update({order.work.key: order.work})
        self.spent = spent

    def alive(self):
        return True

    def freest(self):
        return self.member

    def hear(self):
        yield self.member, [Failed(self.spent, BudgetSpent("all is spent", hint="so"))]
        yield self.member, None


def test_a_rollout_lost_after_the_budget_was_spent_does_not_count_as_done():
    tasks, heard = fake_taskset("a", "b"), []
    wanted = [Work(recipe, 0) for recipe in tasks.recipes]
    options = RunOptions("oracle", concurrency=2)

    hands = _Hands(options, Losing(("a", 0)), Listener(heard.append, heard.append))

    assert hands.play(wanted) == "all is spent; so"
    assert heard == []


class Hanging(FakeRuntime):
    """Who is never loaded by another process."""

    def __reduce__(self):
        return (hang, ())


def hang():
    threading.Event().wait()


def test_a_worker_that_does_not_begin_is_waited_for_aloud_and_given_up(crews):
    with pytest.raises(MachineError, match="did not begin in 0 seconds"):
        crews(Hanging(), patience=0).start()

    assert sum("is waited for" in text for text in crews.said) == 2
    assert sum("did not begin in 0 seconds" in text for text in crews.said) == 2


class Once(FakeRuntime):
    """Whom the first process that tries cannot load."""

    def __init__(self, file):
        self.file = file
        super().__init__()

    def __reduce__(self):
        return (once, (self.file,))


def once(file):
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return FakeRuntime()
    raise ValueError("it is broken here")


def test_a_node_that_does_not_play_is_told_with_its_name_at_the_start(crews, tmp_path):
    assert crews(Once(tmp_path / "file")).start() == 1

    told = [text for text in crews.said if "no worker on" in text]
    assert len(told) == 1
    assert "): it is broken here" in told[0]
