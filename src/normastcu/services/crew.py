"""Threads that do one thing after the other, and can be interrupted at once."""

import time
from collections.abc import Callable, Iterable
from itertools import islice
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from normastcu.services.patience import Stopped

T = TypeVar("T")

_TICK_S = 0.2
_GRACE_S = 0.5


def work_off(
    things: Iterable[T],
    do: Callable[[T], None],
    *,
    threads: int,
    stop: Event,
    tick: Callable[[], None] = lambda: None,
) -> None:
    """Do all things, in several threads.

    Parameters
    ----------
    things
        Taken one by one.
    do
        Does one of them; `Stopped` ends it without being an error.
    threads
        How many are done at a time.
    stop
        Set by the first error and by Ctrl-C: nothing more is begun.
    tick
        Called several times a second by the thread that waits.

    Raises
    ------
    Exception
        The first error of `do`.
    KeyboardInterrupt
        Ctrl-C; what is under way gets a moment to end and is left behind.
    """
    crew = _Crew(things, do, stop)
    # Daemons: a call that never answers must not keep an interrupted process alive.
    members = [Thread(target=crew.take, daemon=True) for _ in range(threads)]
    try:
        for member in members:
            member.start()
        for member in members:
            while member.is_alive():
                member.join(_TICK_S)
                tick()
    except KeyboardInterrupt:
        stop.set()
        deadline = time.monotonic() + _GRACE_S
        for member in members:
            if member.ident is not None:
                member.join(max(deadline - time.monotonic(), 0.0))
        raise
    if crew.error is not None:
        raise crew.error


class _Crew(Generic[T]):
    """What the threads share."""

    def __init__(self, things: Iterable[T], do: Callable[[T], None], stop: Event) -> None:
        self.error: Exception | None = None
        self._things, self._do, self._stop = iter(things), do, stop
        self._lock = Lock()

    def take(self) -> None:
        """Do one thing after the other until nothing is left."""
        try:
            while not self._stop.is_set():
                with self._lock:
                    taken = list(islice(self._things, 1))
                if not taken:
                    return
                self._do(taken[0])
        except Stopped:
            pass
        except Exception as error:
            with self._lock:
                self.error = self.error or error
            self._stop.set()
