"""The grades of several annotators side by side: means, disagreement, disputed pairs.

Judgments come in the canonical columns `query_id`, `doc_id`, `annotator`, `grade`; a missing grade
counts for nobody. Every result is sorted by ids, so that it doesn't depend on the order of rows.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from normastcu.evaluation.bootstrap import COMPARED_DECIMALS, FloatArray
from normastcu.evaluation.coefficients import Scale, grade_positions

PAIR = ["query_id", "doc_id"]
CATEGORIES = ("consensus", "weak", "strong")
STRONG_RANGE = 2


def wide_grades(judgments: pd.DataFrame) -> pd.DataFrame:
    """Put the grades of each pair side by side.

    Parameters
    ----------
    judgments : DataFrame
        Columns `query_id`, `doc_id`, `annotator`, `grade`.

    Returns
    -------
    DataFrame
        Indexed by (`query_id`, `doc_id`), one nullable integer column for each annotator; also the
        pairs and annotators without any grade. Rows and columns are sorted.

    Raises
    ------
    ValueError
        Where an annotator judged a pair more than once.

    Examples
    --------
    >>> wide = wide_grades(pd.DataFrame({
    ...     "query_id": ["q1", "q1", "q1"], "doc_id": ["d2", "d1", "d2"],
    ...     "annotator": ["B", "B", "A"], "grade": pd.array([2, 0, None], dtype="Int64"),
    ... }))
    >>> wide["B"].to_dict()
    {('q1', 'd1'): 0, ('q1', 'd2'): 2}
    """
    keys = [*PAIR, "annotator"]
    repeated = judgments.duplicated(keys)
    if repeated.any():
        query_id, doc_id, annotator = judgments.loc[repeated, keys].iloc[0]
        raise ValueError(
            f"{annotator} judged document {doc_id} for query {query_id} more than once: "
            "keep one judgment of an annotator for a pair."
        )
    wide = judgments.set_index(keys)["grade"].astype("Int64").unstack("annotator")
    return wide.sort_index().sort_index(axis=1)


def annotator_grades(wide: pd.DataFrame, annotator: str) -> FloatArray:
    """Return one annotator's column of `wide_grades` as an array, NaN where there is no grade.

    Raises
    ------
    ValueError
        Where there is no such column.
    """
    if annotator not in wide.columns:
        raise ValueError(
            f"There are no grades by {annotator}. Annotators: {', '.join(wide.columns)}."
        )
    return wide[annotator].to_numpy(dtype=np.float64, na_value=np.nan)


def mean_grades(judgments: pd.DataFrame) -> pd.DataFrame:
    """Summarise the grades of each pair; a pair without any grade is absent.

    Parameters
    ----------
    judgments : DataFrame
        Columns `query_id`, `doc_id`, `annotator`, `grade`.

    Returns
    -------
    DataFrame
        `query_id`, `doc_id`, `n_annotators` (who gave a grade), `mean_grade` (not rounded),
        `lowest`, `highest`, and `grades`: all of them in ascending order, as text.

    Examples
    --------
    >>> mean_grades(pd.DataFrame({
    ...     "query_id": ["q1", "q1", "q1"], "doc_id": ["d1", "d1", "d1"],
    ...     "annotator": ["A", "B", "C"], "grade": pd.array([2, 1, None], dtype="Int64"),
    ... }))
      query_id doc_id  n_annotators  mean_grade  lowest  highest grades
    0       q1     d1             2         1.5       1        2    1 2
    """
    wide = wide_grades(judgments)
    graded = wide[wide.notna().any(axis=1)]
    grades, n_annotators = _as_floats(graded), graded.count(axis=1).to_numpy()
    summary = {
        "n_annotators": pd.array(n_annotators, dtype="Int64"),
        "mean_grade": np.nansum(grades, axis=1) / n_annotators,
        "lowest": graded.min(axis=1).astype("Int64").array,
        "highest": graded.max(axis=1).astype("Int64").array,
        "grades": pd.array([_ascending(row) for row in grades], dtype="str"),
    }
    return graded.index.to_frame(index=False).assign(**summary)


def round_half_to_even(mean: pd.Series) -> pd.Series:
    """Round mean grades to grades, halves to the even neighbour; missing stays missing.

    Examples
    --------
    >>> round_half_to_even(pd.Series([0.5, 1.5, 1.75])).tolist()
    [0, 2, 2]
    """
    return mean.astype("Float64").round().astype("Int64")


def leave_one_out(judgments: pd.DataFrame, annotator: str) -> pd.DataFrame:
    """Summarise the grades that all but one annotator gave; see `mean_grades`.

    Raises
    ------
    ValueError
        Where the annotator has no judgment.
    """
    own = judgments["annotator"] == annotator
    if not own.any():
        raise ValueError(
            f"Can't leave out {annotator}, who has no judgment. "
            f"Annotators: {', '.join(sorted(judgments['annotator'].unique()))}."
        )
    return mean_grades(judgments[~own])


def disagreement(means: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Count the pairs by how far their grades lie apart.

    Parameters
    ----------
    means : DataFrame
        What `mean_grades` returns.
    scale : sequence of int
        All grades of the scale, ascending.

    Returns
    -------
    DataFrame
        `category` (consensus: range 0, also a single grade; weak: range 1; strong: range 2 or
        more), `grades` (lowest and highest, such as `0-1`; one number for a consensus), `n`,
        `share` of all pairs (missing where there is no pair). One row for every range that the
        scale allows, also with `n` 0.

    Raises
    ------
    ValueError
        For a grade that is not on the scale.

    Examples
    --------
    >>> means = pd.DataFrame({"lowest": [0, 0, 1], "highest": [0, 2, 1]})
    >>> disagreement(means, (0, 1, 2))["n"].tolist()
    [1, 1, 0, 0, 0, 1]
    """
    grade_positions(means[["lowest", "highest"]].to_numpy(dtype=np.float64), scale)
    counted = means.groupby(["lowest", "highest"]).size()
    rows = [
        (r.category, r.grades, int(counted.get((r.low, r.high), 0)))
        for r in ranges_of_grades(scale)
    ]
    table = pd.DataFrame(rows, columns=["category", "grades", "n"])
    return table.assign(share=_shares(table["n"], len(means)))


def pairs_by_annotators(means: pd.DataFrame) -> pd.DataFrame:
    """Count the pairs by number of grades and by category of disagreement.

    Parameters
    ----------
    means : DataFrame
        What `mean_grades` returns.

    Returns
    -------
    DataFrame
        `n_assessors` (descending), `category`, `n`; also the categories without a pair, except
        that a single grade can't disagree.
    """
    counted = means.groupby(["n_annotators", _categories(means)]).size()
    rows = [
        (int(n_annotators), name, int(counted.get((n_annotators, name), 0)))
        for n_annotators in sorted(means["n_annotators"].unique(), reverse=True)
        for name in (CATEGORIES if n_annotators > 1 else CATEGORIES[:1])
    ]
    table = pd.DataFrame(rows, columns=["n_assessors", "category", "n"])
    return table.astype({"n_assessors": "Int64", "category": "str", "n": "Int64"})


def strong_by_query(means: pd.DataFrame) -> pd.DataFrame:
    """Count the strong disagreements of each query that has a graded pair.

    Parameters
    ----------
    means : DataFrame
        What `mean_grades` returns.

    Returns
    -------
    DataFrame
        `query_id`, `n` (pairs), `n_strong`, `share`; the most disputed query first, then by id.
    """
    strong = _categories(means) == "strong"
    table = strong.groupby(means["query_id"]).agg(["size", "sum"]).astype("Int64").reset_index()
    table.columns = pd.Index(["query_id", "n", "n_strong"])
    table["share"] = (table["n_strong"] / table["n"]).astype("Float64")
    return table.sort_values(["n_strong", "query_id"], ascending=[False, True], ignore_index=True)


def most_disputed(judgments: pd.DataFrame, limit: int | None = None) -> pd.DataFrame:
    """List the pairs whose grades differ, for people to look at again.

    Parameters
    ----------
    judgments : DataFrame
        Columns `query_id`, `doc_id`, `annotator`, `grade`.
    limit : int, optional
        At most so many pairs; all by default.

    Returns
    -------
    DataFrame
        `query_id`, `doc_id`, `grades` (ascending), `range`, `variance` (of the grades as they are,
        divided by their number), `mean_grade`, `given` (who gave which grade). Sorted by range,
        then variance, both descending, then by ids.
    """
    wide = wide_grades(judgments)
    means = mean_grades(judgments).assign(range=lambda pairs: pairs["highest"] - pairs["lowest"])
    disputed = means[means["range"] > 0]
    grades = _as_floats(wide.reindex(pd.MultiIndex.from_frame(disputed[PAIR])))
    # Rounded: equal variances must not be ordered by floating-point noise.
    variance = np.nanvar(grades, axis=1).round(COMPARED_DECIMALS)
    given = pd.array([_given(wide.columns, row) for row in grades], dtype="str")
    ordered = disputed.assign(variance=variance, given=given).sort_values(
        ["range", "variance", *PAIR], ascending=[False, False, True, True], ignore_index=True
    )
    columns = [*PAIR, "grades", "range", "variance", "mean_grade", "given"]
    return ordered[columns] if limit is None else ordered[columns].head(limit)


class GradeRange(NamedTuple):
    """The lowest and the highest grade of a pair, and what they are called."""

    low: int
    high: int

    @property
    def category(self) -> str:
        """Return consensus, weak or strong."""
        return CATEGORIES[min(self.high - self.low, STRONG_RANGE)]

    @property
    def grades(self) -> str:
        """Return the range as text, such as `1` or `0-1`."""
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def ranges_of_grades(scale: Scale) -> list[GradeRange]:
    """List every range of the scale: consensus, weak, strong, each by its ends."""
    ranges = [GradeRange(low, high) for low in scale for high in scale if low <= high]
    return sorted(ranges, key=lambda limits: CATEGORIES.index(limits.category))


def _categories(means: pd.DataFrame) -> pd.Series:
    ends = zip(means["lowest"], means["highest"], strict=True)
    names = [GradeRange(low, high).category for low, high in ends]
    return pd.Series(names, index=means.index, dtype="str", name="category")


def _shares(part: pd.Series, whole: pd.Series | int) -> pd.Series:
    n = pd.Series(whole, index=part.index, dtype="Float64")
    return part.astype("Float64") / n.mask(n == 0)


def _ascending(grades: FloatArray) -> str:
    return " ".join(f"{grade:g}" for grade in np.sort(grades[~np.isnan(grades)]))


def _given(annotators: Iterable[str], grades: FloatArray) -> str:
    both = zip(annotators, grades, strict=True)
    return ", ".join(f"{name} {grade:g}" for name, grade in both if not np.isnan(grade))


def _as_floats(wide: pd.DataFrame) -> FloatArray:
    return wide.to_numpy(dtype=np.float64, na_value=np.nan)
