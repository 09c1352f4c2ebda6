"""Which differences between systems are significant, and whether two qrels agree on that.

A high rank correlation can hide differences that a judge invents or loses. Every two systems are
compared by a paired permutation test on the queries (sign flips), the p-values of all pairs of one
qrels and measure are corrected together. Random numbers are drawn nowhere but in `sign_flips`.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.evaluation.bootstrap import COMPARED_DECIMALS, FloatArray, row_blocks
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import RankedPair, ranked_pairs
from normastcu.evaluation.systems import product_in_parts

SignArray = npt.NDArray[np.int8]
Correction = Callable[[npt.ArrayLike], FloatArray]

TOLERANCE = 10.0**-COMPARED_DECIMALS
TOO_FEW_FLIPS = "too few sign flips or queries to find any of {} pairs significant"
ALPHA = 0.05

AGREEMENT_TYPES = {
    "judge": "str",
    "reference": "str",
    "measure": "str",
    "correction": "str",
    "alpha": "Float64",
    "both": "Int64",
    "neither": "Int64",
    "missed": "Int64",
    "invented": "Int64",
    "reversed": "Int64",
    "n_pairs": "Int64",
    "query_set": "str",
    "n_queries": "Int64",
    "undefined": "str",
}


def sign_flips(n: int, resamples: int, seed: int) -> SignArray:
    """Draw the signs of n queries for each of B permutations.

    Parameters
    ----------
    n : int
        Number of queries of the collection, at least 1.
    resamples : int
        Number of permutations B, at least 1.
    seed : int
        Seed of NumPy's default generator; the same seed gives the same signs, bit for bit.

    Returns
    -------
    ndarray of int8, shape (B, n)
        1 or -1.

    Examples
    --------
    >>> sorted(set(sign_flips(5, 20, seed=1).ravel().tolist()))
    [-1, 1]
    """
    if n < 1 or resamples < 1:
        raise ValueError(
            f"Can't draw {resamples} permutations of {n} queries: both numbers must be at least 1."
        )
    drawn = np.random.default_rng(seed).integers(0, 2, (resamples, n), dtype=np.int8)
    signs: SignArray = 2 * drawn - 1
    return signs


def permutation_p_values(differences: FloatArray, flips: SignArray) -> FloatArray:
    """Two-sided p-values of paired permutation tests, p = (b + 1) / (B + 1).

    b counts the permutations whose mean difference is at least as far from 0 as the observed one;
    differences within 1e-12 of it count as equal. Memory is bounded, whatever B is.

    Parameters
    ----------
    differences : ndarray, shape (n, m)
        Differences of two systems, query by query, for each of m pairs of systems.
    flips : ndarray of int8, shape (B, n)
        What `sign_flips` returns.

    Returns
    -------
    ndarray, shape (m,)
        In (0, 1]; 1 where all differences are 0.

    References
    ----------
    Phipson, Smyth (2010), Permutation p-values should never be zero.

    Examples
    --------
    All four permutations of two queries but the identity:

    >>> flips = np.array([[1, -1], [-1, 1], [-1, -1]], dtype=np.int8)
    >>> permutation_p_values(np.array([[0.2], [0.3]]), flips)
    array([0.5])
    """
    n, m = differences.shape
    if flips.shape[1] != n:
        raise ValueError(f"The signs are for {flips.shape[1]} queries, the differences for {n}.")
    if not n:
        return np.full(m, np.nan)
    bound = np.abs(differences.mean(axis=0))[:, np.newaxis] - TOLERANCE
    reached = np.zeros(m, dtype=np.int64)
    for block in row_blocks(len(flips), n + m):
        means = product_in_parts(differences.T, flips[block].astype(np.float64)) / n
        reached += (np.abs(means) >= bound).sum(axis=1)
    p_values: FloatArray = (reached + 1) / (len(flips) + 1)
    return p_values


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's step-down method (1979): family-wise error rate.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(4)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.minimum(adjusted, 1)


def benjamini_hochberg(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values by Benjamini and Hochberg's step-up method (1995): false discovery rate.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(4)
    array([0.03, 0.04, 0.04])
    """
    return _step_up(p_values, 1)


def benjamini_yekutieli(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values by Benjamini and Yekutieli's method (2001): the same, for any dependence.

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(4)
    array([0.055 , 0.0733, 0.0733])
    """
    n = np.size(p_values)
    return _step_up(p_values, float((1 / np.arange(1, n + 1)).sum()))


CORRECTIONS: Mapping[str, Correction] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
}


def significance_agreement(
    measured: QueryMeasures,
    reference: str,
    flips: SignArray,
    *,
    measures: Sequence[str] | None = None,
    alpha: float = ALPHA,
    corrections: Mapping[str, Correction] = CORRECTIONS,
) -> pd.DataFrame:
    """Count the pairs of systems by whether a qrels and the reference find them different.

    Both are tested on the queries with a relevant document in both, with the same signs, and each
    is corrected over all its pairs of systems.

    Parameters
    ----------
    measured : QueryMeasures
        The values by query, under the reference and other qrels.
    reference : str
        The qrels that all others are compared with.
    flips : ndarray of int8, shape (B, Q)
        Signs of the Q queries of `measured`, see `sign_flips`.
    measures : sequence of str, optional
        By default all but `Judged@k`.
    alpha : float
        A corrected p-value up to it is significant.
    corrections : mapping of str to callable
        Each adjusts an array of p-values.

    Returns
    -------
    DataFrame
        `judge` (the qrels), `reference`, `measure`, `correction`, `alpha`, and numbers of pairs:
        `both` (significant in both, in the same direction), `neither`, `missed` (only under the
        reference), `invented` (only under the judge), `reversed` (in both, in opposite
        directions), `n_pairs`; `query_set` (common), `n_queries`, `undefined`. A correction after
        which no pair could be significant is undefined too: even the smallest p-value that so many
        flips and queries allow is corrected to more than alpha.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"The level alpha is {alpha}: it must lie between 0 and 1.")
    if flips.shape[1] != len(measured.queries):
        raise ValueError(
            f"The signs have shape {flips.shape}, but there are {len(measured.queries)} queries: "
            "draw them with sign_flips over all queries."
        )
    rows = []
    for pair in ranked_pairs(measured, reference, measures, ["common"]):
        n_pairs = len(pair.systems) * (len(pair.systems) - 1) // 2
        shared = {
            "judge": pair.qrels,
            "reference": reference,
            "measure": pair.measure,
            "alpha": alpha,
            "n_pairs": n_pairs,
            "query_set": pair.query_set,
            "n_queries": int(pair.kept.sum()),
        }
        undefined = None if n_pairs and pair.kept.any() else pair.why_undefined()
        able = {
            name: correct
            for name, correct in corrections.items()
            if undefined is None and _can_find(correct, alpha, n_pairs, pair, len(flips))
        }
        counts = _counts(pair, flips, alpha, able) if able else {}
        for correction in corrections:
            reason = undefined or (None if correction in able else TOO_FEW_FLIPS.format(n_pairs))
            row = shared | {"correction": correction, "undefined": reason}
            rows.append(row | counts.get(correction, {}))
    return typed_frame(rows, AGREEMENT_TYPES)


def system_differences(values: FloatArray) -> FloatArray:
    """Return the differences of every two systems by query.

    Parameters
    ----------
    values : ndarray, shape (systems, n)
        By query.

    Returns
    -------
    ndarray, shape (n, pairs)
        The first system minus the second, in the order of `itertools.combinations`.

    Examples
    --------
    >>> system_differences(np.array([[0.5], [0.25], [0.0]]))
    array([[0.25, 0.5 , 0.25]])
    """
    first, second = np.triu_indices(len(values), 1)
    differences: FloatArray = (values[first] - values[second]).T
    return differences


def _can_find(
    correct: Correction, alpha: float, n_pairs: int, pair: RankedPair, n_flips: int
) -> bool:
    """Tell whether a pair of systems could be significant if all differed as far as they can."""
    # Of the 2 ** n ways to set the signs, two reach the largest mean difference.
    least = max(1 / (n_flips + 1), 2.0 ** (1 - int(pair.kept.sum())))
    return bool(correct(np.full(n_pairs, least)).min() <= alpha)


def _counts(
    pair: RankedPair, flips: SignArray, alpha: float, corrections: Mapping[str, Correction]
) -> dict[str, dict[str, int]]:
    signs = flips[:, pair.kept]
    judged, true = (
        system_differences(values[:, pair.kept]) for values in (pair.values, pair.reference_values)
    )
    p_judged, p_true = permutation_p_values(judged, signs), permutation_p_values(true, signs)
    same_direction = np.sign(judged.mean(axis=0)) == np.sign(true.mean(axis=0))
    counts = {}
    for name, correct in corrections.items():
        found, there = correct(p_judged) <= alpha, correct(p_true) <= alpha
        counts[name] = {
            "both": int((found & there & same_direction).sum()),
            "neither": int((~found & ~there).sum()),
            "missed": int((~found & there).sum()),
            "invented": int((found & ~there).sum()),
            "reversed": int((found & there & ~same_direction).sum()),
        }
    return counts


def _step_up(p_values: npt.ArrayLike, factor: float) -> FloatArray:
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty_like(p)
    scaled = factor * p[order] * p.size / np.arange(p.size, 0, -1)
    adjusted[order] = np.minimum.accumulate(scaled)
    return np.minimum(adjusted, 1)
