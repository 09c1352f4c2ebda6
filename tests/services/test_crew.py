"""Threads that do one thing after the other."""

from threading import Barrier, Event

import pytest

from normastcu.services.crew import work_off
from normastcu.services.patience import Stopped


def test_everything_is_done_once_by_as_many_as_there_are() -> None:
    meeting, done = Barrier(4), []

    def do(thing: int) -> None:
        meeting.wait(timeout=30)
        done.append(thing)

    work_off(range(8), do, threads=4, stop=Event())
    assert sorted(done) == list(range(8))


def test_the_first_error_stops_all_and_is_raised() -> None:
    stop, done = Event(), []

    def do(thing: int) -> None:
        if thing == 3:
            raise KeyError("three")
        done.append(thing)

    with pytest.raises(KeyError, match="three"):
        work_off(range(1000), do, threads=1, stop=stop)
    assert stop.is_set()
    assert done == [0, 1, 2]


def test_an_error_of_what_is_taken_is_raised_too() -> None:
    def things():
        yield 1
        raise ValueError("no second")

    with pytest.raises(ValueError, match="no second"):
        work_off(things(), lambda _: None, threads=2, stop=Event())


def test_a_stop_is_no_error_and_begins_nothing_more() -> None:
    stop, done = Event(), []

    def do(thing: int) -> None:
        done.append(thing)
        stop.set()
        raise Stopped

    work_off(range(10), do, threads=1, stop=stop)
    assert done == [0]


def test_ctrl_c_leaves_behind_what_never_ends() -> None:
    """Raised where Python raises it: in the thread that waits."""
    stop, never = Event(), Event()

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_off(range(10), lambda _: never.wait(), threads=1, stop=stop, tick=interrupt)
    never.set()
    assert stop.is_set()


def test_who_waits_is_told_that_time_passes() -> None:
    ticked = Event()
    work_off([1], lambda _: ticked.wait(timeout=30), threads=1, stop=Event(), tick=ticked.set)
    assert ticked.is_set()
