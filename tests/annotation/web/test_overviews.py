"""An overview that takes long is computed once for many who ask."""

import logging
import threading
from types import SimpleNamespace

import pytest
from tests.annotation.web.conftest import Clock

from normastcu.annotation.web.overviews import Overviews


class Computing:
    """Takes as many seconds of the clock as a test says; returns the numbers 1, 2, 3 and so on."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.seconds = 0.0
        self.n = 0
        self.fails = False
        self.done = threading.Event()

    def __call__(self):
        self.n += 1
        self.clock.now += self.seconds
        self.done.set()
        if self.fails:
            raise RuntimeError("no overview")
        return self.n


@pytest.fixture
def world():
    clock = Clock()
    computing = Computing(clock)
    return SimpleNamespace(clock=clock, computing=computing, overviews=Overviews(computing, clock))


def settled(world):
    """Wait for what is computed beside."""
    assert world.computing.done.wait(10)
    with world.overviews._computing:
        return world.computing.n


def test_a_quick_one_is_always_new(world):
    assert [world.overviews.latest() for _ in range(3)] == [1, 2, 3]


def test_a_slow_one_is_kept_for_a_minute_and_then_renewed_beside(world):
    world.computing.seconds = 5
    assert [world.overviews.latest() for _ in range(3)] == [1, 1, 1]
    world.clock.now += 54
    assert world.overviews.latest() == 1
    world.clock.now += 1
    world.computing.done.clear()
    assert world.overviews.latest() == 1
    assert settled(world) == 2
    assert world.overviews.latest() == 2


def test_a_change_is_seen_at_once(world):
    world.computing.seconds = 5
    world.overviews.latest()
    world.overviews.forget()
    assert world.overviews.latest() == 2


def test_where_a_new_one_fails_the_last_one_stays(world, caplog):
    world.computing.seconds = 70
    world.overviews.latest()
    world.computing.fails = True
    world.computing.done.clear()
    with caplog.at_level(logging.ERROR):
        assert world.overviews.latest() == 1
        settled(world)
    assert "could not be computed" in caplog.text
    world.computing.fails = False
    world.computing.done.clear()
    assert world.overviews.latest() == 1
    assert settled(world) == 3
