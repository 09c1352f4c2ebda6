"""From tokens to money, worked out by hand."""

from typing import Any

import pytest

from normastcu.judging.cost import Usage, cost_per_1000_pairs, money, total, usage
from normastcu.judging.requests import Attempt
from normastcu.judging.settings import ModelSettings


def model(price_in: float | None, price_out: float | None) -> ModelSettings:
    return ModelSettings(
        name="m",
        kind="huggingface",
        model="m",
        context_window=8192,
        price_in=price_in,
        price_out=price_out,
    )


def attempt(outcome: str, tokens_in: int | None, tokens_out: int | None, **more: Any) -> Attempt:
    given = dict.fromkeys(Attempt.__dataclass_fields__) | {"key": "k", "outcome": outcome}
    return Attempt(**given | {"tokens_in": tokens_in, "tokens_out": tokens_out} | more)


@pytest.mark.parametrize(
    ("tokens", "prices", "expected"),
    [
        ((1_000_000, 1_000_000), (0.25, 2.0), 2.25),
        ((2_000, 10), (0.25, 2.0), 0.00052),
        ((0, 0), (0.25, 2.0), 0.0),
        ((2_000, 10), (0.0, 0.0), 0.0),
        ((None, None), (0.0, 0.0), 0.0),
        ((None, 10), (0.25, 2.0), None),
        ((2_000, None), (0.25, 2.0), None),
        ((2_000, 10), (None, 2.0), None),
        ((2_000, 10), (0.25, None), None),
        ((0, 0), (None, None), None),
    ],
)
def test_money(
    tokens: tuple[int | None, int | None],
    prices: tuple[float | None, float | None],
    expected: float | None,
) -> None:
    assert money(*tokens, model(*prices)) == pytest.approx(expected)


def test_a_total_with_an_unknown_amount_is_unknown() -> None:
    assert total([]) == 0
    assert total([1.5, 2.5]) == 4
    assert total([1.5, None, 2.5]) is None


def test_usage_counts_every_attempt() -> None:
    attempts = [
        attempt("unparseable", 1000, 20),
        attempt("ok", 1100, 30),
        attempt("error", None, None),
        attempt("truncated", 900, 50),
    ]

    # 3,000 tokens at 0.5 and 100 at 4 a million.
    assert usage(attempts, model(0.5, 4)) == Usage(4, 3000, 100, pytest.approx(0.0019))


def test_a_document_that_was_not_sent_is_no_call() -> None:
    unsent = attempt("too_long", None, None)
    refused_by_the_service = attempt("too_long", None, None, latency_s=0.2)

    assert usage([unsent, refused_by_the_service], model(1, 1)) == Usage(1, 0, 0, 0.0)


def test_unreported_tokens_and_unknown_prices_stay_unknown() -> None:
    attempts = [attempt("ok", 1000, None), attempt("ok", 1000, 20)]

    assert usage(attempts, model(1, 1)) == Usage(2, 2000, None, None)
    assert usage([attempt("ok", 1000, 20)], model(None, None)) == Usage(1, 1000, 20, None)
    assert usage([], model(1, 1)) == Usage(0, 0, 0, 0.0)


def test_1000_pairs_cost_what_their_replies_cost_whoever_asked() -> None:
    attempts = [
        attempt("unparseable", 1000, 100, judge="a"),
        attempt("ok", 1000, 100, judge="a"),
        attempt("ok", 1000, 100, judge="b"),
    ]
    # 3 x (1000 x 1 + 100 x 2) / 1e6 for 2 pairs.
    assert cost_per_1000_pairs(attempts, model(1.0, 2.0), 2) == pytest.approx(1.8)
    assert cost_per_1000_pairs([], model(1.0, 2.0), 0) is None
    assert cost_per_1000_pairs(attempts, model(1.0, None), 2) is None
