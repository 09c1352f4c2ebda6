"""How far long work is: a bar on a terminal, elsewhere a log line every few seconds."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

LOGGER = logging.getLogger(__name__)

Report = Callable[[int, int | None], None]
"""Told how much is done so far and, where it is known, how much there will be."""

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
    amount = (DownloadColumn(), TransferSpeedColumn())
    with _shown(name, console, amount, _megabytes) as report:
        yield report


@contextmanager
def count_progress(name: str, things: str, console: Console | None = None) -> Iterator[Report]:
    """Show how work goes that is counted.

    Parameters
    ----------
    name
        What is done.
    things
        What is counted, in the plural.
    console
        As for `progress`.

    Yields
    ------
    Report
        The function to call as things get done.
    """
    amount = (MofNCompleteColumn(), TextColumn(things, markup=False))
    with _shown(name, console, amount, lambda done, total: _count(done, total, things)) as report:
        yield report


class ProgressLines:
    """Logs a line every few seconds.

    Parameters
    ----------
    name
        What is done.
    clock
        Seconds that never go back.
    amount
        How much is done, in words.
    """

    def __init__(
        self,
        name: str,
        clock: Callable[[], float] = time.monotonic,
        amount: Callable[[int, int | None], str] | None = None,
    ) -> None:
        self._name = name
        self._clock = clock
        self._amount = amount or _megabytes
        self._last = clock()

    def __call__(self, done: int, total: int | None) -> None:
        """Report how much is done so far, and of how much, if that is known."""
        now = self._clock()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        LOGGER.info("%s: %s", self._name, self._amount(done, total))


@contextmanager
def _shown(
    name: str,
    console: Console | None,
    columns: Sequence[ProgressColumn],
    amount: Callable[[int, int | None], str],
) -> Iterator[Report]:
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield ProgressLines(name, amount=amount)
        return
    description = TextColumn("{task.description}", markup=False)
    with Progress(
        description, BarColumn(), *columns, TimeRemainingColumn(), console=console
    ) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _megabytes(done: int, total: int | None) -> str:
    of = f" of {total / 1e6:.1f}" if total else ""
    return f"{done / 1e6:.1f}{of} MB"


def _count(done: int, total: int | None, things: str) -> str:
    of = f" of {total:,}" if total else ""
    return f"{done:,}{of} {things}"
