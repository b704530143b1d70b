"""One world per kind of wall: where the contract's promises are tried."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from codeenv.sandbox.base import Backend, Limits
from codeenv.sandbox.box import Box
from codeenv.sandbox.image import Image
from codeenv.tree import Entry, Tree

LIMITS = Limits(memory=256 * 1024**2, pids=40, disk=64 * 1024**2, files=3000)
WORKSPACE = Tree(
    {
        "README.md": Entry(b"# toy\n"),
        "bin/run": Entry(b"#!/bin/sh\necho ran\n", "exec"),
        "data/latin.txt": Entry(b"caf\xe9\r\nsecond\r\n"),
        "link": Entry(b"README.md", "link"),
        "src/toy.py": Entry(b"def answer():\n    return 42\n"),
    }
)
LOCAL = pytest.param("local", id="local")
BUBBLEWRAP = pytest.param("bubblewrap", id="bubblewrap", marks=pytest.mark.bubblewrap)
DOCKER = pytest.param("docker", id="docker", marks=pytest.mark.docker)


@dataclass
class World:
    """A backend with an image it can use, and what it opened for a test."""

    backend: Backend
    image: Image
    opened: list[Box]

    def open(self, workspace: Tree = WORKSPACE, **options) -> Box:
        box = self.backend.open(self.image, workspace, **{"limits": LIMITS, **options})
        self.opened.append(box)
        return box


def _world(request) -> World:
    name = request.param
    image = request.getfixturevalue("debian_image" if name == "docker" else "host_image")
    return World(request.getfixturevalue(f"{name}_backend"), image, [])


@pytest.fixture(params=[LOCAL, BUBBLEWRAP, DOCKER])
def world(request):
    """Every backend."""
    found = _world(request)
    yield found
    for box in found.opened:
        box.close()


@pytest.fixture(params=[BUBBLEWRAP, DOCKER])
def walled(request):
    """Every backend with a wall."""
    found = _world(request)
    yield found
    for box in found.opened:
        box.close()


@pytest.fixture
def box(world) -> Box:
    """A fresh box of every backend."""
    return world.open()


@pytest.fixture
def walled_box(walled) -> Box:
    """A fresh box of every backend with a wall."""
    return walled.open()


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], bool]:
    """Ask again and again, for five seconds at most, without sleeping here."""

    def ask(question: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 5
        while not question():
            if time.monotonic() > deadline:
                return False
            os.sched_yield()
        return True

    return ask
