"""Intervals for the correlation of the true rankings of systems, where the bootstrap promises more.

A rank correlation moves in steps, and noise works on it in one direction: it exchanges systems
that are nearly equal, so that the observed correlation lies below that of the true means, and
resampling adds the same noise once more. Simulated (tests/benchmarks/coverage_of_intervals.py),
bootstrap intervals meant to hold the true value in 90 of 100 collections do so in far fewer.

The intervals here take the noise out. A system's true means under several qrels are taken as drawn
from a multivariate normal distribution of systems; the observed means add a sampling error, whose
covariance is known from the queries. What that leaves open about the true means, the uncertainty
of the distribution included, is drawn, and each draw gives a correlation, or a difference of two
(empirical Bayes, Laird and Louis 1987, type III bootstrap).

A difference of two correlations needs it more than one correlation: the noise pulls both of them
down, the higher one further, so that the observed difference lies nearer to 0 than the true one.

Random numbers are drawn nowhere but in `standard_normals`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from normastcu.evaluation.bootstrap import CONFIDENCES, ClusterEstimate, FloatArray, Interval
from normastcu.evaluation.human_ceiling import (
    MEAN,
    MINUS_PEOPLE,
    UNDEFINED_PART,
    leave_one_out_pairs,
)
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import (
    COEFFICIENTS,
    Comparison,
    RankedPair,
    ranked_pairs,
)
from normastcu.evaluation.runs import BoolArray
from normastcu.evaluation.systems import Orders, Row, estimate_row, estimate_table, orders

METHOD = "shrunken (empirical Bayes)"
FEWEST_SYSTEMS = 4
FEWEST_QUERIES = 3
RIDGE = 1e-12
"""Share of the variances that is added to them, so that qrels that are nearly alike do no harm."""
LEADING = ["qrels", "reference", "measure", "query_set", "coefficient", "n_systems", "value"]


def standard_normals(n_systems: int, draws: int, seed: int, n_qrels: int = 2) -> FloatArray:
    """Draw the random numbers of the intervals: three for each draw, system and qrels.

    Parameters
    ----------
    n_systems, draws : int
        At least 1.
    seed : int
        Seed of NumPy's default generator; the same seed gives the same numbers, bit for bit.
    n_qrels : int
        Whose true means are drawn together: 2 for a correlation, 4 for a difference of two.

    Returns
    -------
    ndarray, shape (3, draws, n_systems, n_qrels)

    Examples
    --------
    >>> standard_normals(5, 10, seed=1).shape
    (3, 10, 5, 2)
    """
    if n_systems < 1 or draws < 1:
        raise ValueError(
            f"Can't draw {draws} times for {n_systems} systems: both numbers must be at least 1."
        )
    return np.random.default_rng(seed).standard_normal((3, draws, n_systems, n_qrels))


def shrunken_intervals(
    measured: QueryMeasures,
    reference: str,
    normals: FloatArray,
    *,
    measures: Sequence[str] | None = None,
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Give intervals for the correlation of the true rankings of qrels and reference.

    Parameters
    ----------
    measured, reference, measures, coefficients
        As in `rank_correlation.rank_correlation`.
    normals : ndarray, shape (3, draws, systems, 2)
        What `standard_normals` returns.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        `qrels`, `reference`, `measure`, `query_set` (common), `coefficient`, `n_systems`, `value`
        (as observed), `shrunken` (mean of the draws: an estimate without the noise), `n_left_out`
        (draws in which a ranking is constant), the interval, `n_queries`, `undefined`. There is no
        interval for fewer than four systems or three queries.

    References
    ----------
    Laird, Louis (1987), Empirical Bayes confidence intervals based on bootstrap samples.
    """
    rows: list[Row] = []
    for pair in ranked_pairs(measured, reference, measures, ["common"]):
        observed = pair.orders(np.ones((1, len(pair.kept))))
        n_queries = int(pair.kept.sum())
        enough = _is_enough(len(pair.systems), n_queries)
        rankings = _draw_orders([pair], normals) if enough else []
        for name in coefficients:
            value = float(COEFFICIENTS[name](*observed)[0])
            draws = COEFFICIENTS[name](*rankings) if enough else None
            row = _estimated(value, draws, n_queries, pair.why_undefined, confidences)
            leading = {**pair.leading, "coefficient": name, "n_systems": len(pair.systems)}
            rows.append(leading | row)
    return estimate_table(rows, [*LEADING, "shrunken", "n_left_out"], confidences)


def shrunken_differences(
    measured: QueryMeasures,
    references: Mapping[str, str],
    others: Sequence[str],
    normals: FloatArray,
    *,
    measures: Sequence[str],
    coefficient: str = "tau_b",
    confidences: Sequence[float] = CONFIDENCES,
    without_gaps: Mapping[str, QueryMeasures] | None = None,
) -> pd.DataFrame:
    """Give intervals for how much better or worse than people the true rankings of others are.

    The correlation of a qrels with the leave-one-out qrels of a person, minus the person's own,
    mean over the people; the true means of all that is compared are drawn together.

    Parameters
    ----------
    measured, references, others, measures, coefficient, without_gaps
        As in `human_ceiling.ranking_ceiling`.
    normals : ndarray, shape (3, draws, systems, 4)
        What `standard_normals` returns; the same for all people.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        As of `shrunken_intervals`; `reference` is ``leave-one-out (mean)``, `coefficient` such as
        ``tau_b minus people``, `n_queries` the smallest number of queries of a comparison.
    """
    statistic = COEFFICIENTS[coefficient]
    rows: list[Row] = []
    pairs = {
        measure: leave_one_out_pairs(
            measured, references, others, measure, "common", without_gaps=without_gaps
        )
        for measure in measures
    }
    for other, measure in product(others, measures):
        of = pairs[measure]
        beside = [(of[other, person], of[person, person]) for person in references]
        leading = {
            "qrels": other,
            "reference": MEAN,
            "measure": measure,
            "query_set": "common",
            "coefficient": MINUS_PEOPLE.format(coefficient),
            "n_systems": len(measured.systems),
        }
        rows.append(leading | _difference(beside, statistic, normals, confidences))
    return estimate_table(rows, [*LEADING, "shrunken", "n_left_out"], confidences)


def _difference(
    beside: Sequence[tuple[RankedPair, RankedPair]],
    statistic: Comparison,
    normals: FloatArray,
    confidences: Sequence[float],
) -> Row:
    """Estimate the mean over people of a correlation minus the person's own."""
    once = np.ones((1, len(beside[0][0].kept)))
    values = [statistic(*own.orders(once)) - statistic(*of.orders(once)) for own, of in beside]
    n_queries = min(int(_common(both).sum()) for both in beside)
    draws = None
    if _is_enough(len(beside[0][0].systems), n_queries):
        drawn = [_draw_orders(both, normals) for both in beside]
        draws = np.mean([statistic(a, b) - statistic(c, d) for a, b, c, d in drawn], axis=0)
    value = float(np.mean(values))
    return _estimated(value, draws, n_queries, lambda: UNDEFINED_PART, confidences)


def draw_true_means(sides: Sequence[FloatArray], normals: FloatArray) -> FloatArray:
    """Draw what the true means of the systems may be, under every qrels that is compared.

    Parameters
    ----------
    sides : sequence of ndarray, each of shape (systems, queries)
        The values under each qrels, over the same queries.
    normals : ndarray, shape (3, draws, systems, at least as many qrels)
        What `standard_normals` returns.

    Returns
    -------
    ndarray, shape (sides, systems, draws)
        Relative to the mean of all systems.
    """
    n_systems = len(sides[0])
    if normals.shape[2] != n_systems or normals.shape[3] < len(sides):
        raise ValueError(
            f"The random numbers are for {normals.shape[2]} systems and {normals.shape[3]} qrels, "
            f"but there are {n_systems} and {len(sides)}: draw them with standard_normals."
        )
    normals = normals[..., : len(sides)]
    means, errors = _means_and_errors(np.stack(sides, axis=-1))
    typical_error = errors.mean(axis=0)
    prior = _covariances(means) - typical_error
    repeated = normals[0] @ _roots(prior) + _transformed(_roots(errors), normals[1])
    roots = _roots(_covariances(repeated) - typical_error)
    priors = (roots @ roots)[:, np.newaxis]
    gain = _quotients(priors, priors + errors)
    left_open = _roots(priors - gain @ priors)
    drawn = _transformed(gain, means) + _transformed(left_open, normals[2])
    return drawn.transpose(2, 1, 0)


def _draw_orders(pairs: Sequence[RankedPair], normals: FloatArray) -> list[Orders]:
    """Rank the systems in each draw, under the qrels and under the reference of each pair.

    The queries that count in all pairs count. What is the same twice is drawn once.
    """
    kept = _common(pairs)
    distinct: list[FloatArray] = []
    places = []
    for side in (side for pair in pairs for side in (pair.values, pair.reference_values)):
        same = [np.array_equal(side[:, kept], known) for known in distinct]
        places.append(same.index(True) if any(same) else len(distinct))
        if not any(same):
            distinct.append(side[:, kept])
    drawn = [orders(means) for means in draw_true_means(distinct, normals)]
    return [drawn[place] for place in places]


def _means_and_errors(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each system's means and the covariance of their errors.

    Of shape (systems, qrels) and (systems, qrels, qrels), from values (systems, queries, qrels).
    """
    # What a query adds to all systems alike doesn't rank them.
    values = values - values.mean(axis=0)
    means = values.mean(axis=1)
    deviations = values - means[:, np.newaxis]
    n = values.shape[1]
    errors: FloatArray = deviations.swapaxes(-1, -2) @ deviations / (n * (n - 1))
    return means, errors


def _covariances(values: FloatArray) -> FloatArray:
    """Return the covariance of the last axis over the one before it, shape (..., n, n)."""
    deviations = values - values.mean(axis=-2, keepdims=True)
    covariances: FloatArray = deviations.swapaxes(-1, -2) @ deviations / (values.shape[-2] - 1)
    return covariances


def _roots(matrices: FloatArray) -> FloatArray:
    """Return symmetric square roots of covariances; a negative variance counts as none."""
    variances, axes = np.linalg.eigh((matrices + matrices.swapaxes(-1, -2)) / 2)
    scaled = axes * np.sqrt(variances.clip(min=0))[..., np.newaxis, :]
    roots: FloatArray = scaled @ axes.swapaxes(-1, -2)
    return roots


def _quotients(parts: FloatArray, wholes: FloatArray) -> FloatArray:
    """Return part times inverse of whole, of symmetric matrices."""
    variances = np.trace(wholes, axis1=-2, axis2=-1)[..., np.newaxis, np.newaxis]
    ridge = (RIDGE * variances + np.finfo(np.float64).tiny) * np.eye(wholes.shape[-1])
    quotients: FloatArray = np.linalg.solve(wholes + ridge, parts).swapaxes(-1, -2)
    return quotients


def _transformed(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    transformed: FloatArray = (matrices @ vectors[..., np.newaxis])[..., 0]
    return transformed


def _common(pairs: Sequence[RankedPair]) -> BoolArray:
    kept: BoolArray = np.logical_and.reduce([pair.kept for pair in pairs])
    return kept


def _is_enough(n_systems: int, n_queries: int) -> bool:
    return n_systems >= FEWEST_SYSTEMS and n_queries >= FEWEST_QUERIES


def _estimated(
    value: float,
    draws: FloatArray | None,
    n_queries: int,
    why_undefined: Callable[[], str],
    confidences: Sequence[float],
) -> Row:
    """Return the columns of an estimate; there are no draws where there is too little to draw."""
    everything = np.empty(0) if draws is None else draws
    defined = everything[~np.isnan(everything)]
    intervals = {
        confidence: _interval(value, defined, everything.size, draws is None, confidence)
        for confidence in confidences
    }
    estimated = ClusterEstimate(None if np.isnan(value) else value, intervals, n_queries)
    reason = why_undefined() if estimated.value is None else None
    shrunken = defined.mean() if defined.size and estimated.value is not None else None
    return estimate_row(estimated, reason) | {"shrunken": shrunken}


def _interval(
    value: float, defined: FloatArray, n_draws: int, too_little: bool, confidence: float
) -> Interval:
    n_left_out = n_draws - defined.size
    if np.isnan(value):
        return Interval(None, None, "none (the value is undefined)", n_left_out)
    if too_little:
        few = f"none (fewer than {FEWEST_SYSTEMS} systems or {FEWEST_QUERIES} queries)"
        return Interval(None, None, few, n_left_out)
    if not defined.size:
        return Interval(None, None, "none (undefined in every draw)", n_left_out)
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(float(low), float(high), METHOD, n_left_out)
