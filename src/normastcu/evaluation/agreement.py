"""Agreement and bias of annotators: tables with intervals, and the functions they are made of.

The tables take grades side by side (`wide_grades`), the sorted list of all queries of the
collection and one matrix of resamples over it (`bootstrap.resample_indices`), so that every
annotator and every statistic sees the same resamples. A value that is undefined is missing, and
the column `undefined` says why.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from normastcu.evaluation.bootstrap import (
    CONFIDENCES,
    ClusterEstimate,
    FloatArray,
    IntArray,
    Statistic,
    cluster_bootstrap,
    cluster_bootstraps,
)
from normastcu.evaluation.coefficients import (
    Scale,
    coincidences_by_query,
    confusion_by_query,
    describe_alpha,
    describe_kappa,
    errors_by_query,
    exact_agreement,
    grade_positions,
    gwet_ac2,
    kappa,
    krippendorff_alpha,
    mean_absolute_error,
    mean_error,
    reading,
    sample_std,
)
from normastcu.evaluation.disagreement import (
    PAIR,
    annotator_grades,
    disagreement,
    leave_one_out,
    mean_grades,
    most_disputed,
    pairs_by_annotators,
    ranges_of_grades,
    round_half_to_even,
    strong_by_query,
    wide_grades,
)

__all__ = [
    "agreement_by_query",
    "alpha_table",
    "annotator_grades",
    "bias_table",
    "coincidences_by_query",
    "confusion_by_query",
    "confusion_table",
    "describe_alpha",
    "describe_kappa",
    "disagreement",
    "errors_by_query",
    "exact_agreement",
    "grade_positions",
    "gwet_ac2",
    "kappa",
    "krippendorff_alpha",
    "leave_one_out",
    "mean_absolute_error",
    "mean_error",
    "mean_grades",
    "most_disputed",
    "pairs_by_annotators",
    "pairwise_agreement",
    "range_agreement",
    "reading",
    "round_half_to_even",
    "sample_std",
    "strong_by_query",
    "wide_grades",
]

Row = dict[str, Any]

PAIR_STATISTICS = ("kappa_quadratic", "kappa_linear", "kappa", "exact", "ac2")
WHOLE_COLUMNS = {
    "n",
    "n_inside",
    "n_annotators",
    "n_pairs",
    "n_queries",
    "reference_grade",
    "grade",
}
TEXT_COLUMNS = {
    "annotator",
    "annotator_a",
    "annotator_b",
    "category",
    "grades",
    "group",
    "kind",
    "note",
    "query_id",
    "reading",
    "undefined",
}


def pairwise_agreement(
    wide: pd.DataFrame,
    scale: Scale,
    indices: IntArray,
    order: Sequence[str],
    *,
    queries: Iterable[str],
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Compare every two annotators on the pairs that both graded.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `wide_grades`.
    scale : sequence of int
        All grades of the scale, ascending.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of the collection.
    order : sequence of str
        Columns of `wide`, in the order of the table.
    queries : iterable of str
        All queries of the collection; `indices` refers to them in sorted order.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        One row for every two annotators: `annotator_a`, `annotator_b`, `n` (pairs), the values
        `kappa_quadratic`, `kappa_linear`, `kappa` (no weights), `exact`, `ac2`, then `reading`
        (Landis and Koch) and `note`, the interval of `kappa_quadratic` (`ci90_low`, `ci90_high`,
        `ci95_low`, `ci95_high`, `ci_method`, `n_left_out`), `n_queries` (with such a pair) and
        `undefined`; then the intervals of the other values, prefixed by their names.

    Examples
    --------
    >>> pairs = pd.MultiIndex.from_product([["q1", "q2"], ["d1", "d2"]], names=PAIR)
    >>> wide = pd.DataFrame({"A": [0, 0, 1, 2], "B": [0, 1, 1, 2]}, index=pairs, dtype="Int64")
    >>> from normastcu.evaluation.bootstrap import resample_indices
    >>> indices = resample_indices(2, 100, seed=1)
    >>> table = pairwise_agreement(wide, (0, 1, 2), indices, ["A", "B"], queries=["q1", "q2"])
    >>> table[["annotator_a", "annotator_b", "n", "exact"]].to_numpy().tolist()
    [['A', 'B', 4, 0.75]]
    """
    names = sorted_queries(queries)
    positions = query_positions(wide, names)
    grades = {name: annotator_grades(wide, name) for name in order}
    statistics = _pair_statistics(scale)
    rows = []
    for a, b in combinations(order, 2):
        confusion = confusion_by_query(grades[a], grades[b], positions, scale, n_queries=len(names))
        estimates = cluster_bootstraps(
            confusion.reshape(len(names), -1), statistics, indices, confidences
        )
        total = confusion.sum(axis=0)
        undefined, note = describe_kappa(total, scale, (a, b))
        headline = estimates["kappa_quadratic"]
        rows.append(
            {
                "annotator_a": a,
                "annotator_b": b,
                "n": int(total.sum()),
                **{name: estimate.value for name, estimate in estimates.items()},
                "reading": None if headline.value is None else reading(headline.value),
                "note": note,
                **interval_columns(headline),
                "n_queries": headline.n_clusters,
                "undefined": undefined,
                **_prefixed_intervals(estimates, PAIR_STATISTICS[1:]),
            }
        )
    leading = ["annotator_a", "annotator_b", "n", *PAIR_STATISTICS, "reading", "note"]
    return _table(rows, estimate_columns(leading, confidences, PAIR_STATISTICS[1:]))


def bias_table(
    wide: pd.DataFrame,
    means: pd.DataFrame,
    kinds: Mapping[str, str],
    indices: IntArray,
    *,
    queries: Iterable[str],
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Give the mean error and the mean absolute error of annotators against mean grades.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `wide_grades`.
    means : DataFrame
        The reference: what `mean_grades` returns for the people. The mean is not rounded.
    kinds : mapping of str to str
        The kind of each annotator, in the order of the table.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of the collection.
    queries : iterable of str
        All queries of the collection; `indices` refers to them in sorted order.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        `annotator`, `kind`, `n`, `me`, `me_std`, `mae`, `mae_std` (sample standard deviations,
        missing for a single pair), `note`, the interval of `me`, `n_queries`, `undefined`, and
        the interval of `mae`, prefixed.
    """
    names = sorted_queries(queries)
    positions = query_positions(wide, names)
    reference = _reference_means(wide, means)
    statistics = {"me": mean_error, "mae": mean_absolute_error}
    rows = []
    for annotator, kind in kinds.items():
        grades = annotator_grades(wide, annotator)
        sums = errors_by_query(grades, reference, positions, n_queries=len(names))
        estimates = cluster_bootstraps(sums, statistics, indices, confidences)
        errors = (grades - reference)[~np.isnan(grades - reference)]
        rows.append(
            {
                "annotator": annotator,
                "kind": kind,
                "n": errors.size,
                "me": estimates["me"].value,
                "me_std": sample_std(errors),
                "mae": estimates["mae"].value,
                "mae_std": sample_std(np.abs(errors)),
                "note": "a single pair has no standard deviation" if errors.size == 1 else None,
                **interval_columns(estimates["me"]),
                "n_queries": estimates["me"].n_clusters,
                "undefined": None if errors.size else "no pair was graded by both",
                **_prefixed_intervals(estimates, ["mae"]),
            }
        )
    leading = ["annotator", "kind", "n", "me", "me_std", "mae", "mae_std", "note"]
    return _table(rows, estimate_columns(leading, confidences, ["mae"]))


def alpha_table(
    groups: Mapping[str, Sequence[str]],
    wide: pd.DataFrame,
    scale: Scale,
    indices: IntArray,
    *,
    queries: Iterable[str],
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Give Krippendorff's ordinal alpha of groups of annotators.

    Parameters
    ----------
    groups : mapping of str to sequence of str
        The annotators of each group, columns of `wide`.
    wide : DataFrame
        Grades side by side, see `wide_grades`.
    scale : sequence of int
        All grades of the scale, ascending.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of the collection.
    queries : iterable of str
        All queries of the collection; `indices` refers to them in sorted order.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        `group`, `n_annotators`, `n_pairs` (with at least two grades), `alpha_ordinal`, its
        interval, `n_queries`, `undefined`.
    """
    names = sorted_queries(queries)
    positions = query_positions(wide, names)
    rows = []
    for group, annotators in groups.items():
        grades = np.stack([annotator_grades(wide, name) for name in annotators], axis=1)
        sums = coincidences_by_query(grades, positions, scale, n_queries=len(names))
        estimate = cluster_bootstrap(
            sums.reshape(len(names), -1), _alpha_statistic(scale), indices, confidences
        )
        rows.append(
            {
                "group": group,
                "n_annotators": len(annotators),
                "n_pairs": int(((~np.isnan(grades)).sum(axis=1) >= 2).sum()),
                "alpha_ordinal": estimate.value,
                **interval_columns(estimate),
                "n_queries": estimate.n_clusters,
                "undefined": describe_alpha(sums.sum(axis=0)),
            }
        )
    leading = ["group", "n_annotators", "n_pairs", "alpha_ordinal"]
    return _table(rows, estimate_columns(leading, confidences))


def range_agreement(
    wide: pd.DataFrame,
    means: pd.DataFrame,
    annotators: Sequence[str],
    scale: Scale,
    indices: IntArray,
    *,
    queries: Iterable[str],
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Count the grades of annotators that lie inside the range of the reference grades.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `wide_grades`.
    means : DataFrame
        The reference: what `mean_grades` returns for the people.
    annotators : sequence of str
        Columns of `wide`, in the order of the table.
    scale : sequence of int
        All grades of the scale, ascending.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of the collection.
    queries : iterable of str
        All queries of the collection; `indices` refers to them in sorted order.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        `annotator`, `category` (consensus, weak), `grades` (the range), `n_inside`, `n` (pairs of
        that range that the annotator graded), `share`, its interval, `n_queries`, `undefined`.
    """
    names = sorted_queries(queries)
    positions = query_positions(wide, names)
    lowest, highest = _reference(wide, means, "lowest"), _reference(wide, means, "highest")
    rows: list[Row] = []
    for annotator in annotators:
        grades = annotator_grades(wide, annotator)
        inside = (lowest <= grades) & (grades <= highest)
        for limits in ranges_of_grades(scale):
            if limits.category == "strong":
                continue
            pairs = (lowest == limits.low) & (highest == limits.high) & ~np.isnan(grades)
            sums = np.zeros((len(names), 2))
            np.add.at(sums, positions[pairs], np.stack([inside[pairs], pairs[pairs]], axis=1))
            estimate = cluster_bootstrap(sums, _share_inside, indices, confidences)
            n_inside, n = (int(total) for total in sums.sum(axis=0))
            rows.append(
                {
                    "annotator": annotator,
                    "category": limits.category,
                    "grades": limits.grades,
                    "n_inside": n_inside,
                    "n": n,
                    "share": estimate.value,
                    **interval_columns(estimate),
                    "n_queries": estimate.n_clusters,
                    "undefined": None if n else "no pair of this range was graded",
                }
            )
    leading = ["annotator", "category", "grades", "n_inside", "n", "share"]
    return _table(rows, estimate_columns(leading, confidences))


def agreement_by_query(
    wide: pd.DataFrame,
    means: pd.DataFrame,
    annotators: Sequence[str],
    scale: Scale,
    *,
    queries: Iterable[str],
) -> pd.DataFrame:
    """Compare annotators with the reference, query by query.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `wide_grades`.
    means : DataFrame
        The reference: what `mean_grades` returns for the people; rounded half to even for kappa
        and exact agreement, not rounded for the mean error.
    annotators : sequence of str
        Columns of `wide`, in the order of the table.
    scale : sequence of int
        All grades of the scale, ascending.
    queries : iterable of str
        All queries of the collection.

    Returns
    -------
    DataFrame
        `annotator`, `query_id`, `n`, `kappa_quadratic`, `exact`, `me`, `note`, `undefined`; one
        row for every annotator and query.
    """
    names = sorted_queries(queries)
    positions = query_positions(wide, names)
    reference_means = _reference_means(wide, means)
    reference = np.round(reference_means)
    rows: list[Row] = []
    for annotator in annotators:
        grades = annotator_grades(wide, annotator)
        confusion = confusion_by_query(reference, grades, positions, scale, n_queries=len(names))
        errors = errors_by_query(grades, reference_means, positions, n_queries=len(names))
        for query_id, counts, sums in zip(names, confusion, errors, strict=True):
            undefined, note = describe_kappa(counts, scale, ("the reference", annotator))
            rows.append(
                {
                    "annotator": annotator,
                    "query_id": query_id,
                    "n": int(counts.sum()),
                    "kappa_quadratic": float(kappa(counts, scale)),
                    "exact": float(exact_agreement(counts)),
                    "me": float(mean_error(sums)),
                    "note": note,
                    "undefined": undefined,
                }
            )
    leading = ["annotator", "query_id", "n", "kappa_quadratic", "exact", "me"]
    return _table(rows, [*leading, "note", "undefined"])


def confusion_table(
    wide: pd.DataFrame, means: pd.DataFrame, annotators: Sequence[str], scale: Scale
) -> pd.DataFrame:
    """Count the grades of annotators by the grade of the reference.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `wide_grades`.
    means : DataFrame
        The reference: what `mean_grades` returns for the people, rounded half to even here.
    annotators : sequence of str
        Columns of `wide`, in the order of the table.
    scale : sequence of int
        All grades of the scale, ascending.

    Returns
    -------
    DataFrame
        `annotator`, `reference_grade`, `grade`, `n`; one row for every two grades of the scale.
    """
    reference = np.round(_reference_means(wide, means))
    one_query = np.zeros(len(wide), dtype=np.int64)
    rows: list[Row] = []
    for annotator in annotators:
        counts = confusion_by_query(
            reference, annotator_grades(wide, annotator), one_query, scale, n_queries=1
        )[0]
        rows += [
            {"annotator": annotator, "reference_grade": scale[i], "grade": scale[j], "n": int(n)}
            for (i, j), n in np.ndenumerate(counts)
        ]
    return _table(rows, ["annotator", "reference_grade", "grade", "n"])


def _pair_statistics(scale: Scale) -> dict[str, Statistic]:
    k = len(scale)

    def square(totals: FloatArray) -> FloatArray:
        return totals.reshape(*totals.shape[:-1], k, k)

    statistics: tuple[Statistic, ...] = (
        lambda totals: kappa(square(totals), scale, "quadratic"),
        lambda totals: kappa(square(totals), scale, "linear"),
        lambda totals: kappa(square(totals), scale, "none"),
        lambda totals: exact_agreement(square(totals)),
        lambda totals: gwet_ac2(square(totals), scale, "quadratic"),
    )
    return dict(zip(PAIR_STATISTICS, statistics, strict=True))


def _alpha_statistic(scale: Scale) -> Statistic:
    k = len(scale)
    return lambda totals: krippendorff_alpha(totals.reshape(*totals.shape[:-1], k, k), scale)


def _share_inside(totals: FloatArray) -> FloatArray:
    n_inside, n = totals[..., 0], totals[..., 1]
    return np.divide(n_inside, n, out=np.full_like(n, np.nan), where=n > 0)


def sorted_queries(queries: Iterable[str]) -> list[str]:
    """Return the distinct queries in the order to which the resamples refer."""
    return sorted(set(queries))


def query_positions(wide: pd.DataFrame, queries: Sequence[str]) -> IntArray:
    """Return the place of each pair's query among the sorted queries."""
    place = {query_id: position for position, query_id in enumerate(queries)}
    found = wide.index.get_level_values("query_id")
    unknown = sorted(set(found) - set(place))
    if unknown:
        raise ValueError(
            f"The grades have the query {unknown[0]}, which is not among the {len(place)} queries "
            "of the collection: give all of them."
        )
    return np.array([place[query_id] for query_id in found], dtype=np.int64)


def _reference_means(wide: pd.DataFrame, means: pd.DataFrame) -> FloatArray:
    return _reference(wide, means, "mean_grade")


def _reference(wide: pd.DataFrame, means: pd.DataFrame, column: str) -> FloatArray:
    by_pair = means.set_index(PAIR)[column].reindex(wide.index)
    return by_pair.to_numpy(dtype=np.float64, na_value=np.nan)


def estimate_columns(
    leading: Sequence[str], confidences: Sequence[float], prefixed: Sequence[str] = ()
) -> list[str]:
    """Name the columns of a table of estimates, in their order."""
    ends = [f"{_confidence_name(c)}_{end}" for c in confidences for end in ("low", "high")]
    interval = [*ends, "ci_method", "n_left_out"]
    others = [f"{name}_{column}" for name in prefixed for column in interval]
    return [*leading, *interval, "n_queries", "undefined", *others]


def interval_columns(estimate: ClusterEstimate) -> Row:
    """Return the interval of an estimate as columns of a table."""
    columns: Row = {}
    for confidence, interval in estimate.intervals.items():
        columns[f"{_confidence_name(confidence)}_low"] = interval.low
        columns[f"{_confidence_name(confidence)}_high"] = interval.high
    methods = dict.fromkeys(interval.method for interval in estimate.intervals.values())
    columns["ci_method"] = "; ".join(methods)
    columns["n_left_out"] = max(interval.n_left_out for interval in estimate.intervals.values())
    return columns


def _prefixed_intervals(estimates: Mapping[str, ClusterEstimate], names: Sequence[str]) -> Row:
    return {
        f"{name}_{column}": value
        for name in names
        for column, value in interval_columns(estimates[name]).items()
    }


def _confidence_name(confidence: float) -> str:
    return f"ci{confidence * 100:g}"


def _table(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """Give every column its type; a value that is undefined becomes missing, never NaN."""
    table = pd.DataFrame(rows, columns=list(columns))
    return table.astype({name: _column_type(name) for name in columns})


def _column_type(name: str) -> str:
    if name in TEXT_COLUMNS or name.endswith("ci_method"):
        return "str"
    if name in WHOLE_COLUMNS or name.endswith("n_left_out"):
        return "Int64"
    return "Float64"
