"""Retries, waits and pace, on a clock that no test waits for."""

from dataclasses import dataclass, field
from email.utils import formatdate
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.asking import model

from normastcu.judging.client import CallFailure, RawReply
from normastcu.judging.transport import (
    LONGEST_WAIT_S,
    Clock,
    Stopped,
    Transport,
    advice,
    backoff,
    told_wait,
)

NOW = 1_700_000_000.0
REPLY = RawReply('{"score": 1}', "stop", None, 10, 5, "m")


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
    """A client that fails as told and then replies, in so many seconds of fake time each."""

    def __init__(self, *failures, time=None, seconds=0.0):
        self.failures = list(failures)
        self.calls = []
        self._time, self._seconds = time, seconds

    def complete(self, *_, **__):
        self.calls.append(self._time.seconds if self._time else None)
        if self._time:
            self._time.seconds += self._seconds
        if self.failures:
            raise self.failures.pop(0)
        return REPLY

    def close(self):
        pass


def ask(client, time, *, stop=None, failed=None, tokens=20, **settings):
    transport = Transport(client, model(**settings), stop or Event(), time.clock)
    return transport.ask(
        [], max_tokens=64, tokens_estimate=tokens, failed=failed or (lambda *_: None)
    )


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
        (formatdate(NOW - 3600, usegmt=True), []),
        ("-5", []),
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


def test_a_told_wait_holds_the_other_calls_of_the_model_too():
    time = FakeTime()
    client = Scripted(limited("10"), time=time)
    transport = Transport(
        client, model(), Event(), Clock(lambda: time.seconds, wait=lambda s: others_ask(s))
    )

    def ask_once():
        transport.ask([], max_tokens=1, tokens_estimate=1, failed=lambda *_: None)

    def others_ask(seconds):
        if not time.waits:
            time.waits.append(seconds)
            ask_once()
        else:
            time.wait(seconds)

    ask_once()
    assert client.calls == [0.0, 10.0, 10.0]
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
    client = Scripted(failure, failure, time=time, seconds=1.5)
    reply, seconds = ask(client, time, failed=lambda *one: told.append(one))
    assert reply is REPLY
    assert seconds == 1.5
    assert told == [(failure, 1.5), (failure, 1.5)]
    assert len(client.calls) == 3


def test_the_last_attempt_is_the_end():
    told = []
    client = Scripted(*[CallFailure("timeout")] * 9)
    with pytest.raises(CallFailure, match="timeout"):
        ask(client, FakeTime(), attempts=4, failed=lambda *one: told.append(one))
    assert (len(client.calls), len(told)) == (4, 4)


@pytest.mark.parametrize(
    "kind",
    ["unauthorized", "payment", "forbidden", "not_found", "rejected", "context_length"],
)
def test_what_does_not_pass_is_not_tried_again(kind):
    told, client = [], Scripted(CallFailure(kind, 400))
    with pytest.raises(CallFailure):
        ask(client, FakeTime(), failed=lambda *one: told.append(one))
    assert (len(client.calls), len(told)) == (1, 1)


def test_the_default_attempts_outlast_a_service_that_is_down_for_a_minute():
    time = FakeTime()

    class DownForAMinute(Scripted):
        def complete(self, *_, **__):
            if time.seconds < 60:
                raise limited(status=500)
            return REPLY

    assert ask(DownForAMinute(), time)[0] is REPLY


def test_backoff_grows_and_jitters():
    assert [backoff(n, 0) for n in range(1, 7)] == [2, 6, 18, 54, 60, 60]
    assert {backoff(2, draw) for draw in (0, 0.5, 1)} == {6, 7.5, 9}
    assert backoff(10_000, 1) == 90


@given(st.text() | st.floats().map(str) | st.datetimes().map(lambda d: f"{d:%a, %d %b %Y} 1:2:3"))
def test_any_header_gives_a_wait_within_bounds_or_none(header):
    wait = told_wait(header, NOW)
    assert wait is None or 0 <= wait <= LONGEST_WAIT_S


def test_requests_a_minute_are_kept_as_even_distances():
    time = FakeTime()
    client = Scripted(time=time)
    transport = Transport(client, model(requests_per_minute=30), Event(), time.clock)
    for _ in range(4):
        transport.ask([], max_tokens=1, tokens_estimate=1, failed=lambda *_: None)
    assert client.calls == [0, 2, 4, 6]


def test_tokens_a_minute_count_what_was_used_once_it_is_known():
    time = FakeTime()
    client = Scripted(time=time)
    transport = Transport(client, model(tokens_per_minute=600), Event(), time.clock)
    for _ in range(3):
        transport.ask([], max_tokens=64, tokens_estimate=20, failed=lambda *_: None)
    assert client.calls == pytest.approx([0, 1.5, 3])  # 10 + 5 tokens at 10 a second


def test_a_stopped_run_begins_no_call():
    stop = Event()
    stop.set()
    client = Scripted()
    with pytest.raises(Stopped):
        ask(client, FakeTime(), stop=stop)
    assert client.calls == []


def test_whoever_waits_is_let_go_when_the_run_stops():
    stop, told = Event(), []
    transport = Transport(Scripted(limited("100")), model(), stop)

    def failed(*one):
        told.append(one)
        stop.set()

    with pytest.raises(Stopped):
        transport.ask([], max_tokens=1, tokens_estimate=1, failed=failed)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("failure", "setting"),
    [
        (CallFailure("unauthorized", 401), "credentials entry 'maritaca'"),
        (CallFailure("payment", 402), "credentials entry 'maritaca'"),
        (CallFailure("payment", 429), "credit or quota"),
        (CallFailure("forbidden", 403), "'tiny-1'"),
        (CallFailure("not_found", 404), "`base_url`"),
        (CallFailure("rejected", 422), "`parameters`"),
    ],
)
def test_the_advice_names_service_status_and_setting(failure, setting):
    said = advice(failure, model(credentials="maritaca"))
    assert setting in said
    assert f"http://127.0.0.1:1/v1 (status {failure.status})" in said
    assert "model 'tiny' of judges.yml" in said
