"""Cells of the report, worked out by hand."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.reporting import report_cells as cells
from normastcu.reporting.report_cells import Cell, Column

ESTIMATE = {
    "value": 0.73012,
    "ci90_low": 0.61,
    "ci90_high": 0.8,
    "ci95_low": 0.5,
    "ci95_high": 0.85,
    "ci_method": "bca",
    "undefined": None,
}


@pytest.mark.parametrize(
    ("value", "decimals", "en", "pt"),
    [
        (0.5, 3, "0.500", "0,500"),
        (-0.25, 2, "−0.25", "−0,25"),
        (1234567, 0, "1,234,567", "1.234.567"),
        (-0.0004, 3, "0.000", "0,000"),
        (pd.NA, 3, "–", "–"),
        (float("nan"), 3, "–", "–"),
    ],
)
def test_numbers(value, decimals, en, pt):
    assert cells.decimal(value, "en", decimals) == en
    assert cells.decimal(value, "pt", decimals) == pt


@given(st.floats(-1e6, 1e6))
def test_both_languages_show_the_same_digits(value):
    marks = str.maketrans(",.", ".,")
    assert cells.decimal(value, "pt") == cells.decimal(value, "en").translate(marks)


@given(st.floats(0, 1, exclude_max=True))
def test_less_than_all_is_never_100_percent(value):
    assert not cells.percentage(value, "en").startswith("100")


def test_an_estimate_with_its_interval():
    assert cells.with_interval(ESTIMATE, "value", "en") == Cell(
        "0.7301", "0.500 to 0.850", "number"
    )
    assert cells.with_interval_of_90(ESTIMATE, "value", "pt") == Cell(
        "0,7301", "0,610 a 0,800", "number"
    )


def test_an_estimate_with_an_interval_of_its_own_column():
    row = ESTIMATE | {"mae": 0.25, "mae_ci95_low": 0.2, "mae_ci95_high": 0.3}
    row |= {"mae_ci_method": "percentile (the jackknife is constant)"}
    assert cells.with_interval(row, "mae", "pt") == Cell(
        "0,2500",
        "0,200 a 0,300\npercentil",
        "number",
        "percentil (o jackknife é constante)",
    )


def test_an_undefined_estimate_says_why():
    row = ESTIMATE | {"value": pd.NA, "undefined": "fewer than 30 pairs"}
    assert cells.estimate(row, "value", "en").text == "undefined: fewer than 30 pairs"
    assert cells.with_interval(row, "value", "pt").text == "indefinido: menos de 30 pares"
    assert cells.estimate(row | {"undefined": None}, "value", "en").text == "undefined"
    assert cells.estimate(row, "value", "en").style == "missing"


def test_an_unknown_cost_is_not_0():
    assert cells.money({"cost": pd.NA}, "cost", "en") == Cell("unknown", style="missing")
    assert cells.money({"cost": 0.0}, "cost", "en").text == "0.0000"


@pytest.mark.parametrize(("p", "shown"), [(1e-9, "< 0.0001"), (0.0123, "0.0123"), (1.0, "1.0000")])
def test_a_p_value_is_never_0(p, shown):
    assert cells.p_value({"p": p}, "p", "en").text == shown


def test_the_verdicts_interval_is_the_one_that_decides():
    row = ESTIMATE | {"tau": 0.9, "confidence": 0.95}
    assert cells.verdict_interval(row, "tau", "en").note == "0.500 to 0.850"
    assert cells.verdict_interval(row | {"confidence": 0.9}, "tau", "en").note == "0.610 to 0.800"


def test_a_hash_is_shortened_and_stands_behind():
    cell = cells.hashed({"hash": "ab" * 32}, "hash", "en")
    assert (cell.text, cell.full) == ("abababababab…", "ab" * 32)


def test_several_methods_are_named():
    assert cells.method("bca; percentile (the jackknife is constant)", "en") == (
        "BCa; percentile (the jackknife is constant)"
    )


def test_what_no_page_can_hold_is_replaced():
    cell = Column("name", cells.text).cell({"name": "a\x00b\ud800"}, "en")
    assert cell.text == "a\ufffdb\ufffd"
