"""Rankings of systems: means over queries, and what two rankings of the same systems share.

A ranking is held as the order of every two systems (`Orders`), for one sample or for ten thousand
resamples at once; every coefficient takes two of them. Values are rounded to 12 decimals before
they are compared, so that floating-point noise never breaks a tie. A coefficient is NaN where one
of the two rankings is constant or undefined: all systems alike are not a ranking.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.evaluation.agreement import estimate_columns, interval_columns
from normastcu.evaluation.bootstrap import (
    COMPARED_DECIMALS,
    CONFIDENCES,
    ClusterEstimate,
    FloatArray,
    IntArray,
    interval_estimate,
    resample_counts,
    row_blocks,
)
from normastcu.evaluation.coefficients import safe_ratio
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.runs import BoolArray

Row = dict[str, Any]

QUERY_SETS = ("per_qrels", "common")
NO_RELEVANT = "no query has a relevant document"
NONE_COMMON = f"{NO_RELEVANT} in every qrels"
PERSISTENCE = 0.9
# Multiplications up to which OpenBLAS stays in one thread.
LARGEST_PRODUCT = 2**18

TEXT_COLUMNS = {
    "qrels",
    "system",
    "reference",
    "measure",
    "query_set",
    "system_set",
    "coefficient",
    "ci_method",
    "undefined",
    "annotator",
    "statistic",
    "judge",
    "correction",
}
WHOLE_COLUMNS = {"n", "n_queries", "n_queries_reference", "n_systems", "n_left_out", "rank"}
FLAG_COLUMNS = {"best_kept", "best_three_kept"}


@dataclass(frozen=True, eq=False)
class Orders:
    """How one or many rankings order every two of n systems.

    Attributes
    ----------
    signs : ndarray of int8, shape (n, n, ...)
        1 where the first system has the higher value, -1 where it has the lower one, 0 where both
        are equal or undefined.
    """

    signs: npt.NDArray[np.int8]

    @cached_property
    def ranks(self) -> IntArray:
        """Rank of each system, from 1; equal systems share the lowest. Shape (n, ...)."""
        return 1 + _per_system(self.signs < 0)

    @cached_property
    def n_untied(self) -> IntArray:
        """Ordered couples of systems that differ, shape (...)."""
        untied: IntArray = _per_system(self.signs != 0).sum(axis=0)
        return untied

    def of(self, systems: Sequence[int]) -> "Orders":
        """Return the order of some of the systems among themselves."""
        return Orders(self.signs[np.ix_(systems, systems)])


def orders(values: npt.ArrayLike) -> Orders:
    """Order systems by their values, the highest first.

    Parameters
    ----------
    values : array_like, shape (n, ...)
        One value of each system; further axes are further rankings.

    Examples
    --------
    >>> orders([0.2, 0.5, 0.1 + 0.1]).ranks
    array([2, 1, 2])
    """
    compared = np.asarray(values, dtype=np.float64).round(COMPARED_DECIMALS)
    higher = (compared[:, np.newaxis] > compared[np.newaxis]).view(np.int8)
    return Orders(higher - higher.swapaxes(0, 1))


def kendall_tau_b(a: Orders, b: Orders) -> FloatArray:
    """Kendall's tau-b of two rankings (Kendall 1945), as ``scipy.stats.kendalltau`` computes it.

    Examples
    --------
    >>> float(kendall_tau_b(orders([3, 2, 1]), orders([3, 1, 2])).round(4))
    0.3333
    """
    agreement = _per_system(a.signs * b.signs).sum(axis=0)
    return safe_ratio(agreement, np.sqrt(a.n_untied * b.n_untied.astype(np.float64)))


def spearman_rho(a: Orders, b: Orders) -> FloatArray:
    """Spearman's rho of two rankings, tied systems at their mean rank, as SciPy computes it.

    Examples
    --------
    >>> float(spearman_rho(orders([3, 2, 1]), orders([3, 1, 2])))
    0.5
    """
    # Twice the distance of a mean rank from the middle: whole numbers, whose sums are exact.
    first, second = (_per_system(ranking.signs) for ranking in (a, b))
    spread = (first**2).sum(axis=0) * (second**2).sum(axis=0).astype(np.float64)
    return safe_ratio((first * second).sum(axis=0), np.sqrt(spread))


def tau_ap(estimate: Orders, truth: Orders) -> FloatArray:
    """AP correlation of an estimated ranking with the true one: errors at the top weigh more.

    Ties are taken as any order of the tied systems, and the coefficient as its mean over all of
    them; with ties in the estimate only, that is tau_AP,a of Urbano and Marrero.

    References
    ----------
    Yilmaz, Aslam, Robertson (2008), A new rank correlation coefficient for information retrieval.
    Urbano, Marrero (2017), The Treatment of Ties in AP Correlation.

    Examples
    --------
    >>> truth = orders([3, 2, 1])
    >>> float(tau_ap(orders([3, 1, 2]), truth)), float(tau_ap(orders([2, 3, 1]), truth))
    (0.5, 0.0)
    """
    above = estimate.signs < 0
    twice_concordant = _per_system(above * (1 - truth.signs))
    n_tied = _per_system(estimate.signs == 0)
    n = len(estimate.signs)
    inverse, within = _tie_weights(n)
    at = (estimate.ranks, n_tied)
    expected: FloatArray = (twice_concordant / 2 * inverse[at] + within[at]).sum(axis=0)
    return _where_ranked(2 * expected / max(1, n - 1) - 1, estimate, truth)


def tau_ap_b(a: Orders, b: Orders) -> FloatArray:
    """AP correlation of two rankings with ties, tau_AP,b of Urbano and Marrero (2017); symmetric.

    Examples
    --------
    >>> float(tau_ap_b(orders([3, 2, 2]), orders([3, 2, 2])))
    1.0
    """
    return (_tau_ap_b_of_estimate(a, b) + _tau_ap_b_of_estimate(b, a)) / 2


def rank_biased_overlap(a: Orders, b: Orders, persistence: float = PERSISTENCE) -> FloatArray:
    """Rank-biased overlap of two full rankings of the same systems, extrapolated.

    Tied systems share the lowest rank and enter together, as Webber et al. treat ties. Without
    extrapolation two identical rankings of 15 systems would have 0.794 at a persistence of 0.9.

    References
    ----------
    Webber, Moffat, Zobel (2010), A similarity measure for indefinite rankings.

    Examples
    --------
    >>> float(rank_biased_overlap(orders([3, 2, 1]), orders([3, 2, 1])).round(12))
    1.0
    """
    if not 0 < persistence < 1:
        raise ValueError(f"The persistence is {persistence}: it must lie between 0 and 1.")
    n = len(a.signs)
    # At the last depth both rankings hold all systems: from there on they agree fully.
    overlap = np.full(a.signs.shape[2:], persistence**n)
    for depth in range(1, n + 1):
        in_a, in_b = a.ranks <= depth, b.ranks <= depth
        sizes = in_a.sum(axis=0) + in_b.sum(axis=0)
        shared = 2 * (in_a & in_b).sum(axis=0) / sizes
        overlap += (1 - persistence) * persistence ** (depth - 1) * shared
    return _where_ranked(overlap, a, b)


def largest_shift(a: Orders, b: Orders) -> FloatArray:
    """Largest difference between the ranks of one system in two rankings.

    Examples
    --------
    >>> float(largest_shift(orders([3, 2, 1]), orders([1, 2, 3])))
    2.0
    """
    shift = np.abs(a.ranks - b.ranks).max(axis=0, initial=0)
    return _where_ranked(shift.astype(np.float64), a, b)


def top_kept(estimate: Orders, truth: Orders, depth: int) -> FloatArray:
    """Say whether all systems that the estimate ranks among the first are so in truth: 1 or 0.

    Whoever picks one of the first of the estimate then picks one of the first of the truth.

    Examples
    --------
    >>> float(top_kept(orders([3, 2, 1]), orders([3, 3, 1]), 1))
    1.0
    >>> float(top_kept(orders([3, 3, 1]), orders([3, 2, 1]), 1))
    0.0
    """
    wrong = (estimate.ranks <= depth) & (truth.ranks > depth)
    kept = (~wrong).all(axis=0)
    return _where_ranked(np.asarray(kept, dtype=np.float64), estimate, truth)


def query_means(values: FloatArray, kept: BoolArray, weights: FloatArray) -> FloatArray:
    """Average the values of systems over weighted queries.

    Parameters
    ----------
    values : ndarray, shape (systems, Q)
        Values of one measure by query.
    kept : ndarray of bool, shape (Q,)
        Queries that count.
    weights : ndarray, shape (R, Q)
        How often each query occurs in each of R samples.

    Returns
    -------
    ndarray, shape (systems, R)
        NaN where no query is kept.

    Examples
    --------
    >>> query_means(np.array([[0.25, 0.5, 1.0]]), np.array([True, True, False]), np.ones((1, 3)))
    array([[0.375]])
    """
    totals = product_in_parts(values * kept, weights)
    return safe_ratio(totals, np.broadcast_to(weights @ kept, totals.shape))


def product_in_parts(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Multiply values of shape (m, Q) by the transpose of weights of shape (R, Q).

    The parts are too small for BLAS to start threads, which on a busy machine wait for each other
    longer than they compute; so the result doesn't depend on the number of threads either.

    Examples
    --------
    >>> product_in_parts(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [3.0, 1.0]]))
    array([[1., 5.]])
    """
    product = np.empty((len(values), len(weights)))
    step = max(1, LARGEST_PRODUCT // max(1, values.size))
    for start in range(0, len(weights), step):
        part = slice(start, start + step)
        np.matmul(values, weights[part].T, out=product[:, part])
    return product


def resample_weights(indices: IntArray, numbers_per_row: int) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the weights of the queries in blocks: the sample, the jackknife, the resamples.

    Parameters
    ----------
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries.
    numbers_per_row : int
        How many numbers the caller makes of a row, so that a block stays small.

    Yields
    ------
    rows : slice
        Where the rows belong among 1 + Q + B: first the sample, then one query left out each.
    weights : ndarray, shape (rows, Q)
    """
    n = indices.shape[1]
    yield slice(0, 1 + n), np.vstack([np.ones(n), 1 - np.eye(n)])
    for block in row_blocks(len(indices), numbers_per_row + n):
        weights = resample_counts(indices[block]).astype(np.float64)
        yield slice(1 + n + block.start, 1 + n + block.start + len(weights)), weights


def estimate(
    values: FloatArray, n_queries: int, n: int, confidences: Sequence[float] = CONFIDENCES
) -> ClusterEstimate:
    """Return a statistic with its intervals.

    Parameters
    ----------
    values : ndarray, shape (1 + n + B,)
        The statistic on the rows of `resample_weights`.
    n_queries : int
        Queries that count.
    n : int
        Number of queries Q of the collection.
    """
    return interval_estimate(
        float(values[0]), values[1 + n :], values[1 : 1 + n], n_queries, confidences
    )


def check_resamples(indices: IntArray, n: int) -> None:
    """Raise a ValueError where resamples are not of n queries."""
    if indices.ndim != 2 or indices.shape[1] != n:
        raise ValueError(
            f"The resamples have shape {indices.shape}, but there are {n} queries: "
            "draw them with resample_indices over all queries."
        )


def average_measures(
    measured: QueryMeasures, indices: IntArray, confidences: Sequence[float] = CONFIDENCES
) -> pd.DataFrame:
    """Average every measure over two sets of queries, with ranks and intervals.

    Parameters
    ----------
    measured : QueryMeasures
        The values by query.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of `measured`.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        `qrels`, `system`, `measure`, `query_set`, `n_queries`, `value` (rounded to 12 decimals),
        `rank` (equal values share the lowest), the interval of `value`, `undefined`. The query set
        `per_qrels` has the queries with a relevant document in the qrels, `common` those with one
        in every qrels of `measured`; a qrels without any relevant document has no common queries,
        and takes none from the others.
    """
    check_resamples(indices, len(measured.queries))
    relevant: BoolArray = np.asarray(measured.n_relevant > 0)
    some: BoolArray = np.any(relevant, axis=1)
    common: BoolArray = np.asarray(np.all(relevant | ~some[:, None], axis=0)) & some.any()
    rows: list[Row] = []
    for qrels in measured.qrels:
        own = measured.with_relevant(qrels)
        kept = {"per_qrels": own, "common": common & own.any()}
        for measure in measured.measures:
            for query_set, queries in kept.items():
                leading: Row = {"qrels": qrels, "measure": measure, "query_set": query_set}
                values = measured.of(qrels, measure)
                why = NO_RELEVANT if query_set == "per_qrels" or not own.any() else NONE_COMMON
                means = _mean_rows(measured.systems, values, queries, indices, confidences, why)
                rows += [leading | mean for mean in means]
    leading_columns = ["qrels", "system", "measure", "query_set", "n_queries", "value", "rank"]
    return estimate_table(rows, leading_columns, confidences)


def estimate_table(
    rows: Sequence[Row], leading: Sequence[str], confidences: Sequence[float]
) -> pd.DataFrame:
    """Put rows of estimates into a table: leading columns, interval, number of queries, reason."""
    columns = list(dict.fromkeys([*leading, *estimate_columns([], confidences)]))
    return typed_frame(rows, {column: _column_type(column) for column in columns})


def estimate_row(value: ClusterEstimate, why_undefined: str | None) -> Row:
    """Return the columns of an estimate; the value is rounded to 12 decimals."""
    return {
        "value": None if value.value is None else round(value.value, COMPARED_DECIMALS),
        **interval_columns(value),
        "n_queries": value.n_clusters,
        "undefined": why_undefined if value.value is None else None,
    }


def _mean_rows(
    systems: Sequence[str],
    values: FloatArray,
    kept: BoolArray,
    indices: IntArray,
    confidences: Sequence[float],
    why_undefined: str,
) -> list[Row]:
    n = len(kept)
    means = np.empty((len(systems), 1 + n + len(indices)))
    for rows, weights in resample_weights(indices, len(systems)):
        means[:, rows] = query_means(values, kept, weights)
    n_queries = int(kept.sum())
    ranks = orders(means[:, 0]).ranks if n_queries else [None] * len(systems)
    return [
        {
            "system": system,
            "rank": rank,
            **estimate_row(estimate(of_system, n_queries, n, confidences), why_undefined),
        }
        for system, of_system, rank in zip(systems, means, ranks, strict=True)
    ]


def _column_type(column: str) -> str:
    if column in TEXT_COLUMNS:
        return "str"
    if column in FLAG_COLUMNS:
        return "boolean"
    return "Int64" if column in WHOLE_COLUMNS else "Float64"


def _per_system(table: npt.NDArray[Any]) -> IntArray:
    """Sum small numbers over the second of two systems, shape (n, ...)."""
    # Four times as fast in 16 bits, which hold the sums of up to 16,000 systems.
    sums: IntArray = np.add.reduce(table, axis=1, dtype=np.int16).astype(np.int64)
    return sums


def _tau_ap_b_of_estimate(estimated: Orders, truth: Orders) -> FloatArray:
    """AP correlation in which a group of tied systems is judged by the systems above the group."""
    above = estimated.signs < 0
    concordant = _per_system(above & (truth.signs < 0))
    n_above = estimated.ranks - 1
    shares = np.divide(concordant, n_above, out=np.zeros(concordant.shape), where=n_above > 0).sum(
        axis=0
    )
    return _where_ranked(2 * safe_ratio(shares, (n_above > 0).sum(axis=0)) - 1, estimated, truth)


@lru_cache(maxsize=32)
def _tie_weights(n: int) -> tuple[FloatArray, FloatArray]:
    """Return what tau_AP is made of, by rank and by size of the tied group, both from 1.

    The first table has the mean, over the places of the group, of 1 / (systems above); the second
    half the mean share of the group's own systems above a system of the group.
    """
    inverse, within = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for rank in range(1, n + 1):
        for size in range(1, n - rank + 2):
            inside = np.arange(size)
            above = rank - 1 + inside
            if rank > 1:
                inverse[rank, size] = (1 / above).mean()
            within[rank, size] = (inside[1:] / above[1:]).sum() / (2 * size)
    return inverse, within


def _where_ranked(values: FloatArray, a: Orders, b: Orders) -> FloatArray:
    """Return values, NaN where one of the rankings is constant."""
    ranked: FloatArray = np.where((a.n_untied > 0) & (b.n_untied > 0), values, np.nan)
    return ranked
