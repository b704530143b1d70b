"""A cluster of Ray on this machine, whose nodes come and go."""

import os
from pathlib import Path

import pytest

pytest.importorskip("ray")
from tests.harness.runners.nodes import Nodes

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def _cluster():
    """The cluster; its processes find this code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "harness")]))
        nodes = Nodes()
        yield nodes
        nodes.close()


@pytest.fixture
def nodes(_cluster):
    """A head without processors, and two nodes with two each, whatever tests did to them."""
    _cluster.fill()
    return _cluster
