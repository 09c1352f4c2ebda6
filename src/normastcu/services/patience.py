"""Calling until there is an answer: pace, retries and waits.

What may pass is tried again; what needs a changed setting is not. Every wait goes through a
`Clock`, so that tests need no time.
"""

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from typing import Protocol, TypeVar

from normastcu.services.failures import PASSING, CallFailure

T = TypeVar("T")

LONGEST_WAIT_S = 120.0
"""A service that asks for a longer wait is asked again after this one."""

_FIRST_BACKOFF_S = 2.0
_BACKOFF_FACTOR = 3.0
_LONGEST_BACKOFF_S = 60.0


@dataclass(frozen=True)
class Clock:
    """Time and chance, as whoever waits knows them.

    Attributes
    ----------
    monotonic
        Seconds that never go back.
    now
        Seconds since 1970, for waits that are told as a date.
    wait
        Waits so many seconds; None waits until the time is over or the run is stopped.
    draw
        Draws evenly from 0 to 1.
    """

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    wait: Callable[[float], object] | None = None
    draw: Callable[[], float] = random.random


class Stopped(Exception):  # noqa: N818 - not an error, the way out of a wait
    """The run is being stopped: no further call is made."""


class Limited(Protocol):
    """Settings that say how often a service may be called."""

    @property
    def attempts(self) -> int:
        """Return how often a call that failed is made at most."""
        ...

    @property
    def requests_per_minute(self) -> float | None:
        """Return the provider's limit, None where there is none."""
        ...

    @property
    def tokens_per_minute(self) -> float | None:
        """Return the provider's limit, None where there is none."""
        ...


class Patience:
    """Makes calls of one service until they succeed, from any number of threads.

    Parameters
    ----------
    limits
        Attempts, requests and tokens a minute.
    stop
        Once set, no call begins, and whoever waits is let go by `Stopped`.
    clock
        Time and chance.
    """

    def __init__(self, limits: Limited, stop: Event, clock: Clock | None = None) -> None:
        self._attempts = limits.attempts
        self._stop = stop
        self._clock = clock or Clock()
        self._wait = self._clock.wait or stop.wait
        self._pace = _Pace(limits, self._clock.monotonic)

    def call(
        self, make: Callable[[], T], failed: Callable[[CallFailure, float], None], tokens: int = 0
    ) -> tuple[T, float]:
        """Make a call until it succeeds.

        Parameters
        ----------
        make
            The call.
        failed
            Told every failure, and the seconds it took.
        tokens
            What it takes of the limit of tokens a minute.

        Returns
        -------
        tuple
            What the call returned, and the seconds it took.

        Raises
        ------
        CallFailure
            One that does not pass, or the last of as many attempts as the limits allow.
        Stopped
            The run is being stopped.
        """
        attempt = 0
        while True:
            attempt += 1
            self.pause(self._pace.reserve(tokens))
            started = self._clock.monotonic()
            try:
                result = make()
            except CallFailure as failure:
                self._let_go_if_stopped()
                failed(failure, self._clock.monotonic() - started)
                if failure.kind not in PASSING or attempt == self._attempts:
                    raise
                self._wait_after(failure, attempt)
            else:
                return result, self._clock.monotonic() - started

    def settle(self, reserved: int, used: int | None) -> None:
        """Give back what a call did not use of its tokens, where the service reports them."""
        if used is not None:
            self._pace.settle(reserved, used)

    def pause(self, seconds: float) -> None:
        """Wait, unless the run is being stopped."""
        if seconds > 0:
            self._wait(seconds)
        self._let_go_if_stopped()

    def _wait_after(self, failure: CallFailure, attempt: int) -> None:
        told = told_wait(failure.retry_after, self._clock.now())
        if not told:  # not told at all, or to a time that is over by this machine's clock
            self.pause(backoff(attempt, self._clock.draw()))
        else:
            self._pace.hold(told)

    def _let_go_if_stopped(self) -> None:
        if self._stop.is_set():
            raise Stopped


class _Pace:
    """When the next call may begin; limits a minute are kept as even distances between calls.

    Even distances, because a service that counts by the minute also refuses bursts.
    """

    def __init__(self, limits: Limited, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._per_request = _distance(limits.requests_per_minute)
        self._per_token = _distance(limits.tokens_per_minute)
        self._lock = Lock()
        self._held_until = self._next_request = self._next_token = -math.inf

    def reserve(self, tokens: int) -> float:
        """Take the next place, and return the seconds until then."""
        with self._lock:
            now = self._monotonic()
            place = max(now, self._held_until, self._next_request, self._next_token)
            self._next_request = place + self._per_request
            self._next_token = place + self._per_token * tokens
            return place - now

    def settle(self, reserved: int, used: int) -> None:
        """Give back what a call did not use of its tokens."""
        with self._lock:
            self._next_token += self._per_token * (used - reserved)

    def hold(self, seconds: float) -> None:
        """Let no call of the model begin for a time: the service asked one of them to wait."""
        with self._lock:
            self._held_until = max(self._held_until, self._monotonic() + seconds)


def _distance(per_minute: float | None) -> float:
    return 60.0 / per_minute if per_minute else 0.0


def backoff(attempt: int, draw: float) -> float:
    """Return the seconds to wait after a failed attempt: longer each time, with jitter.

    The four waits of five attempts outlast a minute, in which many services recover.

    Parameters
    ----------
    attempt
        Number of the attempt that failed, from 1.
    draw
        From 0 to 1; spreads calls that failed together over half a wait.

    Examples
    --------
    >>> [backoff(attempt, draw=0) for attempt in (1, 2, 3, 4, 5)]
    [2.0, 6.0, 18.0, 54.0, 60.0]
    >>> backoff(1, draw=1)
    3.0
    """
    plain = _FIRST_BACKOFF_S * _BACKOFF_FACTOR ** min(attempt - 1, 10)
    return min(plain, _LONGEST_BACKOFF_S) * (1 + draw / 2)


def told_wait(retry_after: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After header asks for, at most `LONGEST_WAIT_S`.

    Parameters
    ----------
    retry_after
        Seconds, or a date as HTTP writes it (RFC 9110); one in the past asks for no wait.
    now
        Seconds since 1970.

    Returns
    -------
    float or None
        None where there is no header, or none that can be read.

    Examples
    --------
    >>> told_wait("2", now=0), told_wait("Thu, 01 Jan 1970 00:01:00 GMT", now=50)
    (2.0, 10.0)
    >>> told_wait("Thu, 01 Jan 1970 00:01:00 GMT", now=70), told_wait("soon", now=0)
    (0.0, None)
    """
    if retry_after is None:
        return None
    seconds = _seconds(retry_after)
    if seconds is None:
        seconds = _seconds_until(retry_after, now)
    return None if seconds is None else min(max(seconds, 0.0), LONGEST_WAIT_S)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None


def _seconds_until(text: str, now: float) -> float | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
