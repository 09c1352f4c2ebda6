"""How far a judge is: a line that renews itself on a terminal, elsewhere one every few seconds.

Only counts are shown; no text of a document or reply ever gets here.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from normastcu.judging.cost import money
from normastcu.judging.requests import Attempt, Outcome
from normastcu.judging.settings import ModelSettings

LOGGER = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 5.0


@dataclass
class Tally:
    """What a run of a judge has come to so far.

    Attributes
    ----------
    known
        Requests whose outcome the store had already.
    outcomes
        How the requests of this run ended.
    calls
        Attempts of this run, failed ones too.
    tokens_in, tokens_out
        As far as the service reported them.
    cost
        Money spent in this run, None where a price or a number of tokens is unknown.
    """

    known: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0

    @property
    def done(self) -> int:
        """Return the requests of this run that have ended."""
        return self.outcomes.total()

    def add(self, attempt: Attempt, model: ModelSettings) -> None:
        """Count an attempt that was stored; one that was never sent is none."""
        if attempt.outcome == "too_long" and attempt.latency_s is None:
            return
        self.calls += 1
        self.tokens_in += attempt.tokens_in or 0
        self.tokens_out += attempt.tokens_out or 0
        if attempt.error_kind is None and self.cost is not None:
            spent = money(attempt.tokens_in, attempt.tokens_out, model)
            self.cost = None if spent is None else self.cost + spent


class JudgeProgress:
    """Counts what the threads of a judge report, and shows it while the context is entered.

    Parameters
    ----------
    judge
        Name of the judge.
    model
        For its prices.
    total
        How many requests there are, None where that is not known.
    console
        Where the line is drawn if it is a terminal; standard error unless given.
    clock
        Seconds that never go back.
    """

    def __init__(
        self,
        judge: str,
        model: ModelSettings,
        total: int | None = None,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tally = Tally()
        self._judge = judge
        self._model = model
        self._total = total
        self._clock = clock
        self._started = self._last_line = clock()
        self._lock = Lock()
        self._bar = _bar(console or Console(stderr=True))
        self._task = self._bar.add_task("", total=total) if self._bar else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar:
            self._draw(self._bar)
            self._bar.stop()
        LOGGER.info("%s", self.line())

    def attempted(self, attempt: Attempt) -> None:
        """Count an attempt that was stored."""
        with self._lock:
            self.tally.add(attempt, self._model)

    def ended(self, outcome: Outcome) -> None:
        """Count a request that has ended in this run."""
        with self._lock:
            self.tally.outcomes[outcome] += 1

    def passed_over(self, requests: int) -> None:
        """Count requests whose outcome the store had already."""
        with self._lock:
            self.tally.known += requests

    def tick(self) -> None:
        """Show the present state if it is time to; called several times a second."""
        if self._bar:
            self._draw(self._bar)
        elif self._clock() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = self._clock()
            LOGGER.info("%s", self.line())

    def line(self) -> str:
        """Return the present state as one line."""
        with self._lock:
            return f"{self._judge}: {self._state()}"

    def _draw(self, bar: Progress) -> None:
        if self._task is not None:
            done = self.tally.known + self.tally.done
            bar.update(self._task, completed=done, description=self.line())

    def _state(self) -> str:
        tally = self.tally
        of = f" of {self._total:,}" if self._total is not None else ""
        known = f" ({tally.known:,} before)" if tally.known else ""
        others = [f"{n:,} {name}" for name, n in sorted(tally.outcomes.items()) if name != "ok"]
        seconds = max(self._clock() - self._started, 1e-9)
        cost = "unknown" if tally.cost is None else f"{tally.cost:,.4f}"
        return "; ".join(
            [
                f"{tally.known + tally.done:,}{of} done{known}",
                ", ".join([f"{tally.outcomes['ok']:,} ok", *others]),
                f"{tally.calls / seconds:.1f} calls/s",
                f"{tally.tokens_in:,} tokens in, {tally.tokens_out:,} out",
                f"cost {cost}",
                *self._time_left(seconds),
            ]
        )

    def _time_left(self, seconds: float) -> list[str]:
        done = self.tally.done
        if self._total is None or not done:
            return []
        left = (self._total - self.tally.known - done) * seconds / done
        minutes, rest = divmod(round(left), 60)
        hours, minutes = divmod(minutes, 60)
        return [f"{hours}:{minutes:02}:{rest:02} left"]


def _bar(console: Console) -> Progress | None:
    if not console.is_terminal:
        return None
    columns = BarColumn(bar_width=20), TextColumn("{task.description}", markup=False)
    return Progress(*columns, console=console)
