"""How far a transfer is: a bar on a terminal, elsewhere a log line every few seconds."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

LOGGER = logging.getLogger(__name__)

Report = Callable[[int, int | None], None]
"""Told the bytes transferred so far and, where it is known, how many there will be."""

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress(name: str, console: Console | None = None) -> Iterator[Report]:
    """Show how a transfer goes.

    Parameters
    ----------
    name
        What is transferred.
    console
        Where the bar is drawn if it is a terminal; standard error unless given.

    Yields
    ------
    Report
        The function to call as bytes come in.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield ProgressLines(name)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class ProgressLines:
    """Logs a line every few seconds.

    Parameters
    ----------
    name
        What is transferred.
    clock
        Seconds that never go back.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._last = clock()

    def __call__(self, done: int, total: int | None) -> None:
        """Report the bytes transferred so far, and of how many, if that is known."""
        now = self._clock()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        of = f" of {total / 1e6:.1f}" if total else ""
        LOGGER.info("%s: %.1f%s MB", self._name, done / 1e6, of)
