"""Coefficients of agreement and of error on arrays, from sums that add up over queries.

A coefficient takes an array of sums of any leading shape (one query, all queries, ten thousand
resamples of queries) and returns NaN where it is undefined. Grades are always placed on the full
scale, never on the grades that happen to occur: with a middle grade missing from the data, class
positions instead of grades give another kappa.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from normastcu.evaluation.bootstrap import COMPARED_DECIMALS, FloatArray, IntArray

Weights = Literal["quadratic", "linear", "none"]
Level = Literal["ordinal", "interval", "nominal"]
Scale = Sequence[int]

LANDIS_KOCH = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
)


def confusion_by_query(
    a: npt.ArrayLike, b: npt.ArrayLike, query: npt.ArrayLike, scale: Scale, *, n_queries: int
) -> IntArray:
    """Count, for each query, the pairs by the grades that two annotators gave them.

    Parameters
    ----------
    a, b : array_like, shape (pairs,)
        Grades of the two annotators; NaN where there is none. Only pairs with both are counted.
    query : array_like of int, shape (pairs,)
        Position of each pair's query, 0 to n_queries - 1.
    scale : sequence of int, length k
        All grades of the scale, ascending.
    n_queries : int
        Number of queries Q, also those without a pair.

    Returns
    -------
    ndarray of int, shape (Q, k, k)
        Rows are the grades of `a`, columns those of `b`.

    Raises
    ------
    ValueError
        For a grade that is not on the scale.

    Examples
    --------
    >>> confusion_by_query([0, 2, 1], [0, 1, np.nan], [0, 0, 0], (0, 1, 2), n_queries=1)
    array([[[1, 0, 0],
            [0, 0, 0],
            [0, 1, 0]]])
    """
    first, second = grade_positions(a, scale), grade_positions(b, scale)
    both = (first >= 0) & (second >= 0)
    k = len(scale)
    cells = (np.asarray(query)[both] * k + first[both]) * k + second[both]
    return np.bincount(cells, minlength=n_queries * k * k).reshape(n_queries, k, k)


def grade_positions(grades: npt.ArrayLike, scale: Scale) -> IntArray:
    """Translate grades to their positions on the scale, -1 where there is no grade.

    Examples
    --------
    >>> grade_positions([0, 3, np.nan], (0, 1, 3))
    array([ 0,  2, -1])
    """
    levels = _checked_scale(scale)
    values = np.asarray(grades, dtype=np.float64)
    missing = np.isnan(values)
    outside = ~missing & ~np.isin(values, levels)
    if outside.any():
        raise ValueError(
            f"The grade {values[outside][0]:g} is not on the scale {', '.join(map(str, scale))}: "
            "correct the grade, or give the full scale of the collection."
        )
    positions: IntArray = np.where(missing, -1, np.searchsorted(levels, values))
    return positions


def kappa(confusion: npt.NDArray[Any], scale: Scale, weights: Weights = "quadratic") -> FloatArray:
    """Cohen's kappa of two annotators (Cohen 1960, weighted: Cohen 1968).

    Parameters
    ----------
    confusion : ndarray, shape (..., k, k)
        Numbers of pairs by the grades of the two annotators.
    scale : sequence of int, length k
        All grades of the scale; the weights are distances of grades on it.
    weights : {'quadratic', 'linear', 'none'}
        Squared distance, distance, or all differences alike.

    Returns
    -------
    ndarray, shape (...)
        At most 1; NaN where the expected disagreement is 0: no pair, or both annotators constant
        at one and the same grade. With one constant annotator kappa is 0.

    Examples
    --------
    >>> a, b = [0, 3, 1, 0, 0, 1, 0, 1], [1, 3, 1, 1, 1, 0, 1, 0]
    >>> counts = confusion_by_query(a, b, np.zeros(8, int), (0, 1, 2, 3), n_queries=1)
    >>> kappa(counts, (0, 1, 2, 3)).round(4)
    array([0.5714])
    """
    table = _checked_table(confusion, scale)
    distance = _distances(scale, weights)
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    n = rows.sum(axis=-1)
    observed = (table * distance).sum(axis=(-2, -1))
    expected = ((rows @ distance) * columns).sum(axis=-1)
    return 1 - safe_ratio(n * observed, expected)


def exact_agreement(confusion: npt.NDArray[Any]) -> FloatArray:
    """Share of pairs to which two annotators gave the same grade; NaN where there is no pair.

    Parameters
    ----------
    confusion : ndarray, shape (..., k, k)
        Numbers of pairs by the grades of the two annotators.

    Examples
    --------
    >>> float(exact_agreement(np.array([[3, 1], [0, 4]])))
    0.875
    """
    table = np.asarray(confusion, dtype=np.float64)
    return safe_ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def gwet_ac2(
    confusion: npt.NDArray[Any], scale: Scale, weights: Weights = "quadratic"
) -> FloatArray:
    """Gwet's AC2 of two annotators on the pairs that both graded (AC1 with no weights).

    Unlike kappa it is defined, and 1, where both annotators gave only one and the same grade.

    Parameters
    ----------
    confusion : ndarray, shape (..., k, k)
        Numbers of pairs by the grades of the two annotators.
    scale : sequence of int, length k
        All grades of the scale.
    weights : {'quadratic', 'linear', 'none'}
        How much a difference of two grades counts.

    Returns
    -------
    ndarray, shape (...)
        At most 1; NaN where there is no pair.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition; irrCAC computes the same.

    Examples
    --------
    >>> float(gwet_ac2(np.array([[5, 0], [0, 0]]), (0, 1)))
    1.0
    """
    table = _checked_table(confusion, scale)
    distance = _distances(scale, weights)
    agreement = 1 - distance / distance.max()
    k = len(scale)
    n = table.sum(axis=(-2, -1))
    observed = safe_ratio((table * agreement).sum(axis=(-2, -1)), n)
    share = safe_ratio((table.sum(axis=-1) + table.sum(axis=-2)) / 2, n[..., np.newaxis])
    expected = agreement.sum() / (k * (k - 1)) * (share * (1 - share)).sum(axis=-1)
    coefficient: FloatArray = (observed - expected) / (1 - expected)
    return coefficient


def coincidences_by_query(
    grades: npt.ArrayLike, query: npt.ArrayLike, scale: Scale, *, n_queries: int
) -> FloatArray:
    """Sum Krippendorff's coincidences of grades over the pairs of each query.

    A pair with m grades adds 1 / (m - 1) for each ordered couple of its grades; a pair with fewer
    than two grades adds nothing.

    Parameters
    ----------
    grades : array_like, shape (pairs, annotators)
        NaN where an annotator gave no grade.
    query : array_like of int, shape (pairs,)
        Position of each pair's query, 0 to n_queries - 1.
    scale : sequence of int, length k
        All grades of the scale, ascending.
    n_queries : int
        Number of queries Q, also those without a pair.

    Returns
    -------
    ndarray, shape (Q, k, k)
        Symmetric in the last two axes.

    Examples
    --------
    >>> coincidences_by_query([[0, 1, np.nan], [1, 1, 1]], [0, 0], (0, 1), n_queries=1)
    array([[[0., 1.],
            [1., 3.]]])
    """
    positions = grade_positions(grades, scale)
    k = len(scale)
    counts = np.stack([(positions == level).sum(axis=1) for level in range(k)], axis=1)
    n_grades = counts.sum(axis=1)
    pairable = n_grades >= 2
    counts, weight = counts[pairable], n_grades[pairable] - 1
    couples = counts[:, :, np.newaxis] * (counts[:, np.newaxis, :] - np.eye(k))
    sums = np.zeros((n_queries, k, k))
    np.add.at(sums, np.asarray(query)[pairable], couples / weight[:, np.newaxis, np.newaxis])
    return sums


def krippendorff_alpha(
    coincidences: npt.NDArray[Any], scale: Scale, level: Level = "ordinal"
) -> FloatArray:
    """Krippendorff's alpha of any number of annotators, with missing grades.

    Parameters
    ----------
    coincidences : ndarray, shape (..., k, k)
        Sums of coincidences, see `coincidences_by_query`.
    scale : sequence of int, length k
        All grades of the scale, ascending.
    level : {'ordinal', 'interval', 'nominal'}
        The level of measurement. Ordinal distances depend on how often each grade occurs.

    Returns
    -------
    ndarray, shape (...)
        At most 1; NaN where all pairable grades are equal, or there are none.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    Examples
    --------
    >>> grades = [[0, 0], [1, 1], [2, 1], [2, 2]]
    >>> sums = coincidences_by_query(grades, [0, 0, 0, 0], (0, 1, 2), n_queries=1)
    >>> krippendorff_alpha(sums, (0, 1, 2), "interval").round(4)
    array([0.8205])
    """
    table = _checked_table(coincidences, scale)
    marginals = table.sum(axis=-1)
    distance = _metric(marginals, scale, level)
    observed = (table * distance).sum(axis=(-2, -1))
    expected = (marginals[..., :, np.newaxis] * marginals[..., np.newaxis, :] * distance).sum(
        axis=(-2, -1)
    )
    return 1 - safe_ratio((marginals.sum(axis=-1) - 1) * observed, expected)


def errors_by_query(
    grade: npt.ArrayLike, reference_mean: npt.ArrayLike, query: npt.ArrayLike, *, n_queries: int
) -> FloatArray:
    """Sum the errors of an annotator's grades against mean grades, for each query.

    Parameters
    ----------
    grade, reference_mean : array_like, shape (pairs,)
        NaN where there is none; only pairs with both are counted. The mean is not rounded.
    query : array_like of int, shape (pairs,)
        Position of each pair's query, 0 to n_queries - 1.
    n_queries : int
        Number of queries Q, also those without a pair.

    Returns
    -------
    ndarray, shape (Q, 3)
        Number of pairs, sum of the errors (grade minus mean), sum of their absolute values.

    Examples
    --------
    >>> errors_by_query([2, 0], [1.5, 0.25], [0, 0], n_queries=1)
    array([[2.  , 0.25, 0.75]])
    """
    error = np.asarray(grade, dtype=np.float64) - np.asarray(reference_mean, dtype=np.float64)
    both = ~np.isnan(error)
    error, position = error[both], np.asarray(query)[both]
    columns = (np.ones_like(error), error, np.abs(error))
    return np.stack([np.bincount(position, c, minlength=n_queries) for c in columns], axis=1)


def mean_error(sums: FloatArray) -> FloatArray:
    """Mean error (bias) from the sums of `errors_by_query`; NaN where there is no pair.

    Examples
    --------
    >>> float(mean_error(np.array([2.0, 0.25, 0.75])))
    0.125
    """
    return safe_ratio(sums[..., 1], sums[..., 0])


def mean_absolute_error(sums: FloatArray) -> FloatArray:
    """Mean absolute error from the sums of `errors_by_query`; NaN where there is no pair.

    Examples
    --------
    >>> float(mean_absolute_error(np.array([2.0, 0.25, 0.75])))
    0.375
    """
    return safe_ratio(sums[..., 2], sums[..., 0])


def sample_std(values: npt.ArrayLike) -> float:
    """Sample standard deviation (divided by n - 1); NaN for fewer than two values.

    Examples
    --------
    >>> sample_std([1, 3])
    1.4142135623730951
    """
    numbers = np.asarray(values, dtype=np.float64)
    return float(np.std(numbers, ddof=1)) if numbers.size >= 2 else float("nan")


def reading(value: float) -> str:
    """Landis and Koch's word for a kappa; a boundary belongs to the lower word.

    References
    ----------
    Landis, Koch (1977), The Measurement of Observer Agreement for Categorical Data.

    Examples
    --------
    >>> reading(-0.1), reading(0.4), reading(0.7301)
    ('poor', 'fair', 'substantial')
    """
    compared = round(value, COMPARED_DECIMALS)
    if compared < 0:
        return "poor"
    for upper, word in LANDIS_KOCH:
        if compared <= upper:
            return word
    return "almost perfect"


def describe_kappa(
    confusion: npt.NDArray[Any], scale: Scale, names: tuple[str, str] = ("A", "B")
) -> tuple[str | None, str | None]:
    """Say why kappa is undefined, and what to know where it is 0 because of a constant annotator.

    Parameters
    ----------
    confusion : ndarray, shape (k, k)
        Numbers of pairs by the grades of the two annotators.
    scale : sequence of int, length k
        All grades of the scale.
    names : tuple of str
        The two annotators.

    Returns
    -------
    undefined : str or None
        The reason; None where kappa is defined.
    note : str or None
        Who is constant, where one annotator is.

    Examples
    --------
    >>> describe_kappa(np.array([[9, 0], [0, 0]]), (0, 1))
    ('both annotators gave only the grade 0', None)
    >>> describe_kappa(np.array([[9, 1], [0, 0]]), (0, 1), ("A_1", "A_2"))
    (None, 'A_1 gave only the grade 0: kappa is 0')
    """
    given = [np.flatnonzero(confusion.sum(axis=axis)) for axis in (1, 0)]
    if not given[0].size:
        return "no pair was graded by both", None
    constant = {
        name: scale[int(grades[0])]
        for name, grades in zip(names, given, strict=True)
        if grades.size == 1
    }
    if len(set(constant.values())) == 1 and len(constant) == 2:
        return f"both annotators gave only the grade {constant[names[0]]}", None
    notes = [f"{name} gave only the grade {grade}" for name, grade in constant.items()]
    return None, f"{' and '.join(notes)}: kappa is 0" if notes else None


def describe_alpha(coincidences: npt.NDArray[Any]) -> str | None:
    """Say why Krippendorff's alpha is undefined; None where it is defined.

    Parameters
    ----------
    coincidences : ndarray, shape (k, k)
        Sums of coincidences.

    Examples
    --------
    >>> describe_alpha(np.array([[4.0, 0.0], [0.0, 0.0]]))
    'all grades are equal'
    """
    given = int((coincidences.sum(axis=0) > 0).sum())
    reasons = {0: "no pair was graded by two annotators", 1: "all grades are equal"}
    return reasons.get(given)


def _checked_scale(scale: Scale) -> IntArray:
    levels = np.asarray(scale, dtype=np.int64)
    if levels.size < 2 or (np.diff(levels) <= 0).any():
        raise ValueError(
            f"The scale is {list(scale)}: give all its grades, at least two, in ascending order."
        )
    return levels


def _checked_table(table: npt.NDArray[Any], scale: Scale) -> FloatArray:
    k = _checked_scale(scale).size
    if table.shape[-2:] != (k, k):
        raise ValueError(
            f"The table has shape {table.shape}, but the scale has {k} grades: "
            f"its last two axes must have length {k}."
        )
    return np.asarray(table, dtype=np.float64)


def _distances(scale: Scale, weights: Weights) -> FloatArray:
    """Return the (k, k) distances of the grades, not normalised: whole numbers sum exactly."""
    levels = np.asarray(scale, dtype=np.float64)
    difference = np.abs(levels[:, np.newaxis] - levels)
    if weights == "quadratic":
        return difference**2
    if weights == "linear":
        return difference
    if weights == "none":
        return (difference > 0).astype(np.float64)
    raise ValueError(f"The weights are {weights!r}: give 'quadratic', 'linear' or 'none'.")


def _metric(marginals: FloatArray, scale: Scale, level: Level) -> FloatArray:
    """Return Krippendorff's squared distances, shape (k, k) or (..., k, k)."""
    if level == "interval":
        return _distances(scale, "quadratic")
    if level == "nominal":
        return _distances(scale, "none")
    if level == "ordinal":
        middle = np.cumsum(marginals, axis=-1) - marginals / 2
        distance: FloatArray = (middle[..., :, np.newaxis] - middle[..., np.newaxis, :]) ** 2
        return distance
    raise ValueError(f"The level is {level!r}: give 'ordinal', 'interval' or 'nominal'.")


def safe_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, with NaN where the denominator is 0."""
    ratio: FloatArray = np.divide(
        numerator,
        denominator,
        out=np.full(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.nan),
        where=np.asarray(denominator) != 0,
    )
    return ratio
