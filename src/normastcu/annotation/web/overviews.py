"""The administrator's overview, which a large campaign takes seconds to compute."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from normastcu.annotation.records import Overview

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Kept:
    overview: Overview
    began: float
    seconds: float


class Overviews:
    """Computes the overview, and keeps one that took long for a while.

    One that took long is shown for `keep_seconds`; whoever asks later still gets it, while a new
    one is computed beside.

    Parameters
    ----------
    compute
        Returns the overview of this moment.
    clock
        Seconds that never go back.
    quick_seconds
        An overview that took less is computed for everybody who asks.
    keep_seconds
        How long another one is new enough.
    """

    def __init__(
        self,
        compute: Callable[[], Overview],
        clock: Callable[[], float] = time.monotonic,
        *,
        quick_seconds: float = 1.0,
        keep_seconds: float = 60.0,
    ) -> None:
        self._compute = compute
        self._clock = clock
        self._quick_seconds = quick_seconds
        self._keep_seconds = keep_seconds
        self._kept: _Kept | None = None
        self._computing = threading.Lock()

    def latest(self) -> Overview:
        """Return an overview: a new one, or one that took long and was computed before."""
        kept = self._kept
        if kept is None or kept.seconds < self._quick_seconds:
            with self._computing:
                # Whoever waited for somebody else's takes that one.
                newer = self._kept if self._kept is not kept else None
                return newer.overview if newer else self._renew()
        if self._clock() - kept.began >= self._keep_seconds:
            threading.Thread(target=self._renew_beside, daemon=True).start()
        return kept.overview

    def forget(self) -> None:
        """Compute for the next one who asks: something else than judgments has changed."""
        with self._computing:
            self._kept = None

    def _renew(self) -> Overview:
        began = self._clock()
        overview = self._compute()
        self._kept = _Kept(overview, began, self._clock() - began)
        return overview

    def _renew_beside(self) -> None:
        if not self._computing.acquire(blocking=False):
            return
        try:
            self._renew()
        except Exception:
            _LOG.exception("The overview could not be computed; the last one is shown.")
        finally:
            self._computing.release()
