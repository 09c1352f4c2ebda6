"""From tokens to money. An unknown price or an unreported count stays unknown."""

_MILLION = 1_000_000


def price(tokens: int | None, price_per_million: float | None) -> float | None:
    """Return the price of tokens, None where it or their number is unknown.

    Examples
    --------
    >>> price(2_000_000, 0.25), price(None, 0), price(10, None)
    (0.5, 0.0, None)
    """
    if price_per_million == 0:
        return 0.0
    if tokens is None or price_per_million is None:
        return None
    return tokens * price_per_million / _MILLION
