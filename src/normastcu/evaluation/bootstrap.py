"""Bootstrap over queries: resamples, BCa intervals, statistics of sums that add up over queries.

The pairs of one query are not independent, so the query is what is drawn, not the pair. A statistic
of pairs (an agreement, a mean error) is a function of sums that add up over queries; a resample of
queries is then a row of counts times the sums of each query, and the statistic is evaluated on many
resamples at once.

The sample is the list of *all* queries of the collection, also for a statistic that has no data
for some of them: that keeps the resamples the same for every annotator and measure. A query
without data adds nothing to a resample that draws it, and leaving it out in the jackknife changes
nothing, so resampling, jackknife and SciPy's BCa all speak of one and the same sample.

Random numbers are drawn nowhere but in `resample_indices`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Statistic = Callable[[FloatArray], FloatArray]

CONFIDENCES = (0.90, 0.95)
COMPARED_DECIMALS = 12
BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class Interval:
    """A confidence interval and how it came about.

    Attributes
    ----------
    low, high : float or None
        The two ends; None where there is no interval.
    method : str
        `bca`; `percentile (why)` where BCa is undefined; `degenerate (why)` where every resample
        gives the observed value, so that both ends are that value; `none (why)`.
    n_left_out : int
        Resamples in which the statistic is undefined; they take no part in the interval.
    """

    low: float | None
    high: float | None
    method: str
    n_left_out: int


@dataclass(frozen=True)
class ClusterEstimate:
    """A statistic of all queries with its bootstrap intervals.

    Attributes
    ----------
    value : float or None
        The statistic on all queries; None where it is undefined.
    intervals : dict of float to Interval
        By confidence, such as 0.95.
    n_clusters : int
        Queries that have data.
    """

    value: float | None
    intervals: dict[float, Interval]
    n_clusters: int


def resample_indices(n: int, resamples: int, seed: int) -> IntArray:
    """Draw resamples of n queries with replacement, exactly as SciPy's bootstrap draws them.

    Parameters
    ----------
    n : int
        Number of queries, at least 1.
    resamples : int
        Number of resamples B, at least 1.
    seed : int
        Seed of NumPy's default generator; the same seed gives the same resamples, bit for bit.

    Returns
    -------
    ndarray of int, shape (B, n)
        Positions of the drawn queries, 0 to n - 1.

    Examples
    --------
    >>> resample_indices(3, 2, seed=7).shape
    (2, 3)
    """
    if n < 1 or resamples < 1:
        raise ValueError(
            f"Can't draw {resamples} resamples of {n} queries: both numbers must be at least 1."
        )
    return np.random.default_rng(seed).integers(0, n, (resamples, n))


def resample_counts(indices: IntArray) -> IntArray:
    """Count how often each query was drawn in each resample.

    Parameters
    ----------
    indices : ndarray of int, shape (B, n)
        Resamples as `resample_indices` draws them.

    Returns
    -------
    ndarray of int, shape (B, n)
        Counts; each row sums to n.

    Examples
    --------
    >>> resample_counts(np.array([[0, 0, 2], [1, 2, 0]]))
    array([[2, 0, 1],
           [1, 1, 1]])
    """
    resamples, n = indices.shape
    cells = indices + n * np.arange(resamples)[:, np.newaxis]
    return np.bincount(cells.ravel(), minlength=resamples * n).reshape(resamples, n)


def bca_interval(
    observed: float, replicates: FloatArray, jackknife: FloatArray, confidence: float
) -> Interval:
    """Bias-corrected and accelerated bootstrap interval (Efron 1987).

    The bias correction is the normal quantile of the share of replicates below the observed value
    plus half of those equal to it; the acceleration comes from the jackknife. Values are compared
    after rounding to 12 decimals, so that floating-point noise decides nothing. The ends are those
    of ``scipy.stats.bootstrap(method="BCa")`` on the same resamples.

    Parameters
    ----------
    observed : float
        The statistic on the sample; NaN where it is undefined.
    replicates : ndarray, shape (B,)
        The statistic on each resample; NaN, where it is undefined, is left out and counted.
    jackknife : ndarray, shape (n,)
        The statistic with one query left out, for each query.
    confidence : float
        Between 0 and 1, such as 0.95.

    Returns
    -------
    Interval
        Percentile, and marked, where the jackknife is constant or undefined for a query, where the
        bias correction is infinite, or where the acceleration is too large for this confidence.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, sections 14.3 and 15.4.

    Examples
    --------
    >>> sample = np.array([1.0, 2.0, 4.0, 9.0])
    >>> replicates = sample[resample_indices(4, 999, seed=1)].mean(axis=1)
    >>> jackknife = (sample.sum() - sample) / 3
    >>> bca_interval(4.0, replicates, jackknife, 0.90)
    Interval(low=2.0, high=7.25, method='bca', n_left_out=0)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence is {confidence}: it must lie between 0 and 1.")
    defined = replicates[~np.isnan(replicates)]
    n_left_out = int(replicates.size - defined.size)
    if absent := _why_no_interval(observed, defined, jackknife):
        return Interval(None, None, f"none ({absent})", n_left_out)
    if (_comparable(defined) == _comparable(observed)).all():
        method = "degenerate (every resample gives the observed value)"
        return Interval(float(observed), float(observed), method, n_left_out)
    tail = (1 - confidence) / 2
    levels, method = _bca_levels(observed, defined, jackknife, tail)
    low, high = np.quantile(defined, levels)
    return Interval(float(low), float(high), method, n_left_out)


def cluster_bootstrap(
    sums: npt.NDArray[Any],
    statistic: Statistic,
    indices: IntArray,
    confidences: Sequence[float] = CONFIDENCES,
) -> ClusterEstimate:
    """Bootstrap one statistic of sums over queries; see `cluster_bootstraps`.

    Examples
    --------
    The mean of the pairs of three queries, from their numbers of pairs and their sums:

    >>> sums = np.array([[2, 1.0], [1, 1.0], [4, 1.0]])
    >>> def mean(totals):
    ...     return totals[..., 1] / totals[..., 0]
    >>> estimate = cluster_bootstrap(sums, mean, resample_indices(3, 1000, seed=1))
    >>> round(estimate.value, 4), estimate.n_clusters
    (0.4286, 3)
    """
    return cluster_bootstraps(sums, {"statistic": statistic}, indices, confidences)["statistic"]


def cluster_bootstraps(
    sums: npt.NDArray[Any],
    statistics: Mapping[str, Statistic],
    indices: IntArray,
    confidences: Sequence[float] = CONFIDENCES,
) -> dict[str, ClusterEstimate]:
    """Bootstrap several statistics of the same sums on the same resamples of queries.

    Memory beyond `indices` and the B values of each statistic is bounded, whatever B is.

    Parameters
    ----------
    sums : ndarray, shape (Q, m)
        What each query adds to each of m sums. A row of zeros is a query without data: it stays in
        the sample, but isn't counted in `n_clusters`.
    statistics : mapping of str to callable
        Each takes totals of shape (..., m) and returns values of shape (...), NaN where undefined.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries.
    confidences : sequence of float
        One interval is computed for each.

    Returns
    -------
    dict of str to ClusterEstimate
        Under the names of `statistics`. There is no interval for fewer than two queries with data.
    """
    clusters = np.asarray(sums, dtype=np.float64)
    if indices.ndim != 2 or indices.shape[1] != len(clusters):
        raise ValueError(
            f"The resamples have shape {indices.shape}, but there are {len(clusters)} queries: "
            "draw them with resample_indices over all queries."
        )
    total = clusters.sum(axis=0)
    n_clusters = int((clusters != 0).any(axis=1).sum())
    replicates = _replicates(clusters, statistics, indices)
    return {
        name: interval_estimate(
            float(statistic(total)),
            replicates[name],
            statistic(total - clusters),
            n_clusters,
            confidences,
        )
        for name, statistic in statistics.items()
    }


def interval_estimate(
    observed: float,
    replicates: FloatArray,
    jackknife: FloatArray,
    n_clusters: int,
    confidences: Sequence[float],
) -> ClusterEstimate:
    """Estimate a statistic and its intervals from its value, its replicates and its jackknife."""
    if np.isnan(observed) or n_clusters >= 2:
        intervals = {c: bca_interval(observed, replicates, jackknife, c) for c in confidences}
    else:
        n_left_out = int(np.isnan(replicates).sum())
        absent = Interval(None, None, "none (fewer than two queries)", n_left_out)
        intervals = dict.fromkeys(confidences, absent)
    return ClusterEstimate(None if np.isnan(observed) else observed, intervals, n_clusters)


def _replicates(
    clusters: FloatArray, statistics: Mapping[str, Statistic], indices: IntArray
) -> dict[str, FloatArray]:
    values = {name: np.empty(len(indices)) for name in statistics}
    for block in row_blocks(len(indices), clusters.size // max(1, len(clusters)) + len(clusters)):
        totals = resample_counts(indices[block]).astype(np.float64) @ clusters
        for name, statistic in statistics.items():
            values[name][block] = statistic(totals)
    return values


def row_blocks(rows: int, numbers_per_row: int) -> Iterator[slice]:
    """Cut rows into slices of bounded memory, for so many numbers in each row."""
    size = max(1, BLOCK_BYTES // (8 * numbers_per_row))
    for start in range(0, rows, size):
        yield slice(start, start + size)


def _why_no_interval(observed: float, defined: FloatArray, jackknife: FloatArray) -> str | None:
    if np.isnan(observed):
        return "the value is undefined"
    if jackknife.size < 2:
        return "fewer than two queries"
    if defined.size == 0:
        return "undefined in every resample"
    return None


def _bca_levels(
    observed: float, defined: FloatArray, jackknife: FloatArray, tail: float
) -> tuple[FloatArray, str]:
    """Return the two quantile levels of the interval, and the name of the method they follow."""
    percentile_levels = np.array([tail, 1 - tail])
    if np.isnan(jackknife).any():
        return percentile_levels, "percentile (the jackknife is undefined for a query)"
    if np.ptp(_comparable(jackknife)) == 0:
        return percentile_levels, "percentile (the jackknife is constant)"
    correction = _bias_correction(observed, defined)
    if np.isinf(correction):
        return percentile_levels, "percentile (the bias correction is infinite)"
    z_tail = float(ndtri(tail))
    shifted = correction + np.array([z_tail, -z_tail])
    stretch = 1 - _acceleration(jackknife) * shifted
    if (stretch <= 0).any():
        return percentile_levels, "percentile (the acceleration is too large)"
    return ndtr(correction + shifted / stretch), "bca"


def _bias_correction(observed: float, defined: FloatArray) -> float:
    compared, bound = _comparable(defined), _comparable(observed)
    below_and_half_of_equal = (compared < bound).sum() + (compared <= bound).sum()
    return float(ndtri(below_and_half_of_equal / (2 * defined.size)))


def _acceleration(jackknife: FloatArray) -> float:
    influence = jackknife.mean() - jackknife
    return float((influence**3).sum() / (6 * (influence**2).sum() ** 1.5))


def _comparable(values: float | FloatArray) -> FloatArray:
    return np.asarray(values, dtype=np.float64).round(COMPARED_DECIMALS)
