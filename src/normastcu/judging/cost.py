"""From tokens to money. An unknown price or an unreported count stays unknown, in totals too."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from normastcu.judging.requests import Attempt
from normastcu.judging.settings import ModelSettings
from normastcu.services.prices import price


@dataclass(frozen=True)
class Usage:
    """What calls have used; None is unknown.

    Attributes
    ----------
    calls
        Attempts, also those that failed.
    tokens_in, tokens_out
        As reported by the service.
    cost
        In the currency of the prices.
    """

    calls: int
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None


def money(tokens_in: int | None, tokens_out: int | None, model: ModelSettings) -> float | None:
    """Return the price of tokens, None where a price or a number is unknown.

    Examples
    --------
    >>> free = {"name": "m", "kind": "huggingface", "model": "m", "context_window": 8192}
    >>> priced = ModelSettings(**free, price_in=0.25, price_out=2)
    >>> money(2_000_000, 100_000, priced)
    0.7
    >>> money(2_000_000, 100_000, ModelSettings(**free)) is None
    True
    """
    return total([price(tokens_in, model.price_in), price(tokens_out, model.price_out)])


def usage(attempts: Iterable[Attempt], model: ModelSettings) -> Usage:
    """Sum up what attempts have used.

    A failed attempt that reported no tokens counts as none; a reply whose tokens the service did
    not report makes the sums unknown.

    Parameters
    ----------
    attempts
        Any attempts of one model.
    model
        The model, for its prices.
    """
    called = [attempt for attempt in attempts if _was_sent(attempt)]
    tokens = [(_used(one, one.tokens_in), _used(one, one.tokens_out)) for one in called]
    return Usage(
        calls=len(called),
        tokens_in=_whole(total(tokens_in for tokens_in, _ in tokens)),
        tokens_out=_whole(total(tokens_out for _, tokens_out in tokens)),
        cost=total(money(tokens_in, tokens_out, model) for tokens_in, tokens_out in tokens),
    )


def cost_per_1000_pairs(
    attempts: Iterable[Attempt], model: ModelSettings, n_asked: int
) -> float | None:
    """Return what 1,000 pairs cost, as far as a judge has come.

    Parameters
    ----------
    attempts
        All that were made for the judge's pairs, whoever made them: a reply that was stored under
        the name of another judge had its price too.
    model
        The model, for its prices.
    n_asked
        Pairs for which there is an outcome.

    Returns
    -------
    float or None
        In the currency of the prices; None where a price or a number of tokens is unknown, or
        nothing was asked.
    """
    cost = usage(attempts, model).cost
    return None if cost is None or not n_asked else 1000 * cost / n_asked


def total(amounts: Iterable[float | None]) -> float | None:
    """Return the sum, None where one of the amounts is unknown.

    Examples
    --------
    >>> total([0.1, 0.2, 0.3])
    0.6
    >>> total([0.1, None]) is None
    True
    """
    known: list[float] = []
    for amount in amounts:
        if amount is None:
            return None
        known.append(amount)
    return math.fsum(known)


def _was_sent(attempt: Attempt) -> bool:
    """Tell a call from the record that a document is too long to be sent."""
    return attempt.outcome != "too_long" or attempt.latency_s is not None


def _used(attempt: Attempt, reported: int | None) -> int | None:
    failed = attempt.outcome in ("error", "too_long")
    return 0 if failed and reported is None else reported


def _whole(amount: float | None) -> int | None:
    return None if amount is None else int(amount)
