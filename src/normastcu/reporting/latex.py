"""Tables in LaTeX, ready for a paper."""

import re
from typing import Any

import pandas as pd

DECIMALS = 4
INTERVAL = re.compile(r"(^|_)ci(90|95)_(low|high)$|_ci_method$|n_left_out$")


def to_latex(table: pd.DataFrame) -> str:
    r"""Return a table as a LaTeX `longtable` with booktabs rules.

    The 95 % interval of the table's first estimate becomes one column; the intervals of further
    estimates and columns without any value stand in the parquet and CSV files only, so that the
    table fits a page. Missing values are dashes.

    Examples
    --------
    >>> print(to_latex(pd.DataFrame({"annotator": ["A_1"], "kappa": [0.5]})).splitlines()[1])
    \toprule
    """
    shown = table.drop(columns=[name for name in table.columns if INTERVAL.search(name)])
    shown = shown.drop(columns=[name for name in shown.columns if shown[name].isna().all()])
    if {"ci95_low", "ci95_high"} <= set(table.columns):
        bounds = zip(table["ci95_low"], table["ci95_high"], strict=True)
        shown["95 % CI"] = pd.Series([_interval(*pair) for pair in bounds], dtype="str")
    return str(
        shown.to_latex(
            index=False,
            escape=True,
            longtable=True,
            na_rep="--",
            float_format=f"%.{DECIMALS}f",
        )
    )


def _interval(low: Any, high: Any) -> str:
    if pd.isna(low) or pd.isna(high):
        return "--"
    return f"[{low:.{DECIMALS}f}, {high:.{DECIMALS}f}]"
