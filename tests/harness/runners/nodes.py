"""Nodes of Ray, and runtimes that do as a test wants on them."""

import os
import signal
import threading
from pathlib import Path

from codeenv.env.fake import FakeRuntime

_STORE = 80 * 1024**2
_IMPATIENT = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 3,
}


class Nodes:
    """A local cluster: ``fill`` it, ``lose`` one of its two nodes, or ``join`` one."""

    def __init__(self):
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": _IMPATIENT}
        self._cluster = Cluster(True, head_node_args={**head, "object_store_memory": _STORE})
        self._nodes = []

    @property
    def address(self):
        return self._cluster.address

    def fill(self):
        while len(self._nodes) < 2:
            self.join()

    def join(self):
        self._nodes.append(self._cluster.add_node(num_cpus=2, object_store_memory=_STORE))

    def lose(self):
        """Kill the older of the nodes as a machine that goes off."""
        self._cluster.remove_node(self._nodes.pop(0), allow_graceful=False)

    def close(self):
        self._cluster.shutdown()

    def pids(self):
        """All processes below the nodes', those of boxes included."""
        roots = [p.process.pid for n in self._nodes for p in n.all_processes["raylet"]]
        return {pid for root in roots for pid in below(root)}


class DeadlyRuntime(FakeRuntime):
    """Whose process dies with a certain task."""

    def __init__(self, deadly):
        self.deadly = deadly
        super().__init__()

    def __reduce__(self):
        return (DeadlyRuntime, (self.deadly,))

    def open(self, task, **more):
        if task.id == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().open(task, **more)


class CountingRuntime(FakeRuntime):
    """Who writes down in which process each box was opened."""

    def __init__(self, folder):
        self.folder = Path(folder)
        super().__init__()

    def __reduce__(self):
        return (CountingRuntime, (self.folder,))

    def open(self, task, **more):
        with (self.folder / str(os.getpid())).open("a") as file:
            file.write(f"{task.id}\n")
        return super().open(task, **more)


class StuckRuntime(FakeRuntime):
    """Who opens no box any more once a file is there."""

    def __init__(self, file):
        self.file = Path(file)
        super().__init__()

    def __reduce__(self):
        return (StuckRuntime, (self.file,))

    def open(self, task, **more):
        if self.file.exists():
            threading.Event().wait()
        return super().open(task, **more)


class Unloadable:
    """A recipe that other processes cannot load."""

    def __init__(self, name):
        self.id = name

    def __reduce__(self):
        return (refuse, ("there is no such thing here",))


def refuse(told):
    raise ValueError(told)


def below(pid):
    """All processes that a process has started, and those they have."""
    found = set()
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = {int(child) for child in file.read_text().split()}
        except OSError:
            continue
        found |= children.union(*(below(child) for child in children))
    return found


def lives(pid):
    """Whether a process is there and is not just waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
