"""Retries, waits and pace, on a clock that no test waits for."""

from dataclasses import dataclass, field
from email.utils import formatdate
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.services.failures import CallFailure
from normastcu.services.patience import (
    LONGEST_WAIT_S,
    Clock,
    Patience,
    Stopped,
    backoff,
    told_wait,
)

NOW = 1_700_000_000.0
REPLY = object()


@dataclass(frozen=True)
class Limits:
    attempts: int = 5
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass
class FakeTime:
    """Time that passes only by waiting."""

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    def wait(self, seconds):
        self.waits.append(seconds)
        self.seconds += seconds

    @property
    def clock(self):
        return Clock(lambda: self.seconds, lambda: NOW + self.seconds, self.wait, lambda: 0.5)


class Scripted:
    """A call that fails as told and then succeeds, in so many seconds of fake time each."""

    def __init__(self, *failures, time=None, seconds=0.0):
        self.failures = list(failures)
        self.calls = []
        self._time, self._seconds = time, seconds

    def __call__(self):
        self.calls.append(self._time.seconds if self._time else None)
        if self._time:
            self._time.seconds += self._seconds
        if self.failures:
            raise self.failures.pop(0)
        return REPLY


def ask(make, time, *, stop=None, failed=None, **limits):
    patience = Patience(Limits(**limits), stop or Event(), time.clock)
    return patience.call(make, failed or (lambda *_: None))


def limited(retry_after=None, status=429):
    kind = "rate_limit" if status == 429 else "unavailable"
    return CallFailure(kind, status, retry_after=retry_after)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "expected"),
    [
        ("2", [2.0]),
        ("0.25", [0.25]),
        (formatdate(NOW + 30, usegmt=True), [30.0]),
        (formatdate(NOW - 3600, usegmt=True), [2.5]),
        ("-5", [2.5]),
        ("86400", [LONGEST_WAIT_S]),
        (formatdate(NOW + 86400, usegmt=True), [LONGEST_WAIT_S]),
        (None, [2.5]),
        ("in a while", [2.5]),
        ("nan", [2.5]),
    ],
)
def test_the_wait_is_as_told_or_the_first_backoff(status, retry_after, expected):
    time = FakeTime()
    reply, seconds = ask(Scripted(limited(retry_after, status)), time)
    assert reply is REPLY
    assert seconds == 0.0
    assert time.waits == pytest.approx(expected, abs=1e-5)


def test_a_told_wait_holds_the_other_calls_too():
    time = FakeTime()
    make = Scripted(limited("10"), time=time)
    clock = Clock(lambda: time.seconds, wait=lambda seconds: others_call(seconds))
    patience = Patience(Limits(), Event(), clock)

    def others_call(seconds):
        if not time.waits:
            time.waits.append(seconds)
            patience.call(make, lambda *_: None)
        else:
            time.wait(seconds)

    patience.call(make, lambda *_: None)
    assert make.calls == [0.0, 10.0, 10.0]
    assert time.waits == [10.0, 10.0]


@pytest.mark.parametrize(
    "failure",
    [
        CallFailure("timeout"),
        CallFailure("connection"),
        CallFailure("malformed"),
        *(limited(status=status) for status in (408, 409, 429, 500, 502, 503, 529)),
    ],
    ids=str,
)
def test_what_may_pass_is_tried_again_and_every_failure_is_told(failure):
    time, told = FakeTime(), []
    make = Scripted(failure, failure, time=time, seconds=1.5)
    reply, seconds = ask(make, time, failed=lambda *one: told.append(one))
    assert reply is REPLY
    assert seconds == 1.5
    assert told == [(failure, 1.5), (failure, 1.5)]
    assert len(make.calls) == 3


def test_the_last_attempt_is_the_end():
    told = []
    make = Scripted(*[CallFailure("timeout")] * 9)
    with pytest.raises(CallFailure, match="timeout"):
        ask(make, FakeTime(), attempts=4, failed=lambda *one: told.append(one))
    assert (len(make.calls), len(told)) == (4, 4)


@pytest.mark.parametrize(
    "kind",
    ["unauthorized", "payment", "forbidden", "not_found", "rejected", "context_length"],
)
def test_what_does_not_pass_is_not_tried_again(kind):
    told, make = [], Scripted(CallFailure(kind, 400))
    with pytest.raises(CallFailure):
        ask(make, FakeTime(), failed=lambda *one: told.append(one))
    assert (len(make.calls), len(told)) == (1, 1)


def test_the_default_attempts_outlast_a_service_that_is_down_for_a_minute():
    time = FakeTime()

    def down_for_a_minute():
        if time.seconds < 60:
            raise limited(status=500)
        return REPLY

    assert ask(down_for_a_minute, time)[0] is REPLY


def test_backoff_grows_and_jitters():
    assert [backoff(n, 0) for n in range(1, 7)] == [2, 6, 18, 54, 60, 60]
    assert {backoff(2, draw) for draw in (0, 0.5, 1)} == {6, 7.5, 9}
    assert backoff(10_000, 1) == 90


@given(st.text() | st.floats().map(str) | st.datetimes().map(lambda d: f"{d:%a, %d %b %Y} 1:2:3"))
def test_any_header_gives_a_wait_within_bounds_or_none(header):
    wait = told_wait(header, NOW)
    assert wait is None or 0 <= wait <= LONGEST_WAIT_S


@pytest.mark.parametrize("limits", [{"requests_per_minute": 30}, {"tokens_per_minute": 600}])
def test_limits_a_minute_are_kept_as_even_distances(limits):
    time = FakeTime()
    make = Scripted(time=time)
    patience = Patience(Limits(**limits), Event(), time.clock)
    for _ in range(4):
        patience.call(make, lambda *_: None, tokens=20)
    assert make.calls == [0, 2, 4, 6]


@pytest.mark.parametrize(("used", "expected"), [(5, [0, 0.5, 1]), (None, [0, 2, 4])])
def test_tokens_that_a_call_did_not_use_are_given_back(used, expected):
    time = FakeTime()
    make = Scripted(time=time)
    patience = Patience(Limits(tokens_per_minute=600), Event(), time.clock)
    for _ in range(3):
        patience.call(make, lambda *_: None, tokens=20)
        patience.settle(20, used)
    assert make.calls == pytest.approx(expected)


def test_a_stopped_run_begins_no_call():
    stop = Event()
    stop.set()
    make = Scripted()
    with pytest.raises(Stopped):
        ask(make, FakeTime(), stop=stop)
    assert make.calls == []


def test_whoever_waits_is_let_go_when_the_run_stops():
    stop, told = Event(), []
    patience = Patience(Limits(), stop)

    def failed(*one):
        told.append(one)
        stop.set()

    with pytest.raises(Stopped):
        patience.call(Scripted(limited("100")), failed)
    assert len(told) == 1
