"""Tables in LaTeX, ready for a paper."""

import re
from typing import Any

import pandas as pd

DECIMALS = 4
HASH_LETTERS = 12
LEFT_OUT = re.compile(r"(^|_)ci(90|95)_(low|high)$|_ci_method$|n_left_out$|^sentence")
"""Columns too many or too long for a page."""
HASH = re.compile(r"[0-9a-f]{64}")
HEADLINES = ("kappa_quadratic", "me", "alpha_ordinal", "share", "value", "tau", "max_shift")
"""The estimate to which a table's unprefixed interval belongs: the first of these it has."""
PREAMBLE = "% needs \\usepackage{booktabs,longtable}\n"


def to_latex(table: pd.DataFrame) -> str:
    r"""Return a table as a LaTeX `longtable` with booktabs rules.

    Made for the width of a page: the 95 % interval of the table's headline estimate stands as one
    column behind it; the intervals of further estimates, sentences, columns without any value and
    a method that is BCa throughout stand in the parquet and CSV files only; hashes are cut to
    their first letters. Missing values are dashes.

    Examples
    --------
    >>> table = pd.DataFrame({"me": [0.5], "mae": [1.0], "ci95_low": [0.4], "ci95_high": [0.6]})
    >>> print(to_latex(table).splitlines()[3])
    me & me, 95 \% CI & mae \\
    """
    shown = table.drop(columns=[name for name in table.columns if LEFT_OUT.search(name)])
    shown = shown.drop(columns=[name for name in shown.columns if _says_nothing(shown, name)])
    for name in shown.columns:
        if pd.api.types.is_string_dtype(shown[name]):
            shown[name] = shown[name].str.replace(HASH, _shortened, regex=True)
    headline = next((name for name in HEADLINES if name in shown), None)
    if headline and {"ci95_low", "ci95_high"} <= set(table.columns):
        bounds = zip(table["ci95_low"], table["ci95_high"], strict=True)
        intervals = pd.Series([_interval(*pair) for pair in bounds], index=table.index, dtype="str")
        place = list(shown.columns).index(headline) + 1
        shown.insert(place, f"{headline}, 95 % CI", intervals)
    return PREAMBLE + str(
        shown.to_latex(
            index=False,
            escape=True,
            longtable=True,
            na_rep="--",
            float_format=f"%.{DECIMALS}f",
        )
    )


def _shortened(found: re.Match[str]) -> str:
    return found[0][:HASH_LETTERS]


def _says_nothing(table: pd.DataFrame, name: str) -> bool:
    values = table[name].dropna()
    return values.empty or (name == "ci_method" and set(values) == {"bca"})


def _interval(low: Any, high: Any) -> str:
    if pd.isna(low) or pd.isna(high):
        return "--"
    return f"[{low:.{DECIMALS}f}, {high:.{DECIMALS}f}]"
