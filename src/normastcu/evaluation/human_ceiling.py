"""People as the yardstick: how well a person agrees with the other people, and who else does.

A person compared with the mean of all people is compared with their own grades too. Here every
person is compared with the others' mean only (leave-one-out), and every other annotator with the
same references, so that both stand on one scale. The references are rounded half to even for kappa
and for rankings of systems, and not rounded for the mean error and the mean absolute error.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import WITHOUT
from normastcu.evaluation.agreement import query_positions, sorted_queries
from normastcu.evaluation.bootstrap import (
    COMPARED_DECIMALS,
    CONFIDENCES,
    FloatArray,
    IntArray,
    Statistic,
    cluster_bootstraps,
)
from normastcu.evaluation.coefficients import (
    Scale,
    confusion_by_query,
    describe_kappa,
    errors_by_query,
    kappa,
    mean_absolute_error,
    mean_error,
)
from normastcu.evaluation.disagreement import annotator_grades
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import COEFFICIENTS, RankedPair, compare, ranked_pair
from normastcu.evaluation.significance import ALPHA, Correction, benjamini_yekutieli
from normastcu.evaluation.systems import Row, estimate, estimate_row, estimate_table

LEAVE_ONE_OUT = WITHOUT + "{}"
MEAN = "leave-one-out (mean)"
PEOPLE = "people (mean)"
MINUS_PEOPLE = "{} minus people"
PAIR_LEVEL = "pair"
UNDEFINED_PART = "undefined for at least one of the people"
LEADING = ["annotator", "reference", "measure", "statistic", "value", "n"]

EPSILON = 0.2
FEWEST_PAIRS = 30
TEST_TYPES = {
    "annotator": "str",
    "person": "str",
    "n": "Int64",
    "annotator_wins": "Float64",
    "person_wins": "Float64",
    "p_value": "Float64",
    "p_adjusted": "Float64",
    "won": "boolean",
    "epsilon": "Float64",
    "alpha": "Float64",
    "undefined": "str",
}
WINNING_TYPES = {
    "annotator": "str",
    "winning_rate": "Float64",
    "advantage": "Float64",
    "n_people": "Int64",
    "epsilon": "Float64",
    "alpha": "Float64",
    "undefined": "str",
}


def human_ceiling(
    wide: pd.DataFrame,
    people: Sequence[str],
    others: Sequence[str],
    scale: Scale,
    indices: IntArray,
    *,
    queries: Iterable[str],
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Compare people, and other annotators, with the mean grades of the other people.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `agreement.wide_grades`.
    people : sequence of str
        Columns of `wide` that make the references, at least two.
    others : sequence of str
        Further columns of `wide`, each compared with all the references.
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
        `annotator`, `reference`, `measure` (pair), `statistic` (kappa_quadratic, me, mae), `value`,
        `n` (pairs that annotator and reference graded; for a mean, of all that it is the mean of),
        the interval, `n_queries`, `undefined`. The reference of the person i is `without_i`. Then
        the mean over the people, `people (mean)`, and for every other annotator the mean over the
        references, `leave-one-out (mean)`, and the difference of both means, its statistic called
        such as `mae minus people`.
    """
    names = sorted_queries(queries)
    positions = query_positions(wide, names)
    means = {person: _mean_without(wide, people, person) for person in _at_least_two(people)}
    named = {person: LEAVE_ONE_OUT.format(person) for person in people}
    statistics = _pair_statistics(scale)
    width = len(scale) ** 2 + 3

    def sums(annotator: str, person: str) -> FloatArray:
        grades, mean, n_queries = annotator_grades(wide, annotator), means[person], len(names)
        confusion = confusion_by_query(
            np.round(mean), grades, positions, scale, n_queries=n_queries
        )
        errors = errors_by_query(grades, mean, positions, n_queries=n_queries)
        return np.hstack([confusion.reshape(n_queries, -1), errors])

    rows: list[Row] = []
    for row in _ceiling_rows(named, others):
        parts = np.hstack([sums(*part) for part in row.parts])
        combined = {
            name: _combined(statistic, row.weights) for name, statistic in statistics.items()
        }
        n_pairs = int(parts.reshape(len(names), -1, width)[..., -3].sum())
        for name, value in cluster_bootstraps(parts, combined, indices, confidences).items():
            why = _why_undefined(row, parts.sum(axis=0), scale)
            rows.append(row.named(PAIR_LEVEL, name) | estimate_row(value, why) | {"n": n_pairs})
    return estimate_table(rows, LEADING, confidences)


def ranking_ceiling(
    measured: QueryMeasures,
    references: Mapping[str, str],
    others: Sequence[str],
    indices: IntArray,
    *,
    measures: Sequence[str],
    coefficient: str = "tau_b",
    query_set: str = "common",
    confidences: Sequence[float] = CONFIDENCES,
    without_gaps: Mapping[str, QueryMeasures] | None = None,
) -> pd.DataFrame:
    """Correlate the system rankings of people, and of other annotators, with the other people's.

    Parameters
    ----------
    measured : QueryMeasures
        Under a qrels of each person and each other annotator, and under the leave-one-out qrels.
    references : mapping of str to str
        The leave-one-out qrels of each person, at least two.
    others : sequence of str
        Further qrels, each compared with all the leave-one-out qrels.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of `measured`; the same for all rankings of a difference.
    measures : sequence of str
        Measures that rank the systems.
    coefficient : str
        One of `rank_correlation.COEFFICIENTS`.
    query_set : {'common', 'per_qrels'}
        Which averages are compared.
    confidences : sequence of float
        Of the intervals.
    without_gaps : mapping of str to QueryMeasures, optional
        For people who did not grade every pair, the measures to compare them by: under their qrels
        and the leave-one-out qrels, without these pairs.

    Returns
    -------
    DataFrame
        The columns and rows of `human_ceiling`, for each measure; `n` is the number of systems,
        `n_queries` the smallest number of queries of a comparison.
    """
    _at_least_two(list(references))
    rows: list[Row] = []
    for measure in measures:
        pairs = leave_one_out_pairs(
            measured, references, others, measure, query_set, without_gaps=without_gaps
        )
        statistic = {coefficient: COEFFICIENTS[coefficient]}
        values = {
            key: compare(pair, statistic, indices)[coefficient] for key, pair in pairs.items()
        }
        for row in _ceiling_rows(references, others):
            parts = [pairs[part] for part in row.parts]
            combined = np.tensordot(row.weights, [values[part] for part in row.parts], axes=1)
            n_queries = int(min(part.kept.sum() for part in parts))
            value = estimate(combined, n_queries, len(measured.queries), confidences)
            why = parts[0].why_undefined() if len(parts) == 1 else UNDEFINED_PART
            rows.append(
                row.named(measure, coefficient)
                | estimate_row(value, why)
                | {"n": len(measured.systems)}
            )
    return estimate_table(rows, LEADING, confidences)


def leave_one_out_pairs(
    measured: QueryMeasures,
    references: Mapping[str, str],
    others: Sequence[str],
    measure: str,
    query_set: str,
    *,
    without_gaps: Mapping[str, QueryMeasures] | None = None,
) -> dict[tuple[str, str], RankedPair]:
    """Put each person, and every other annotator, beside each leave-one-out qrels.

    Parameters
    ----------
    measured, references, others, query_set, without_gaps
        As in `ranking_ceiling`.
    measure : str
        The measure whose values are put beside each other.

    Returns
    -------
    dict of (str, str) to RankedPair
        By annotator and the person left out; a person is beside the qrels without it only.
    """
    return {
        (annotator, person): ranked_pair(
            (without_gaps or {}).get(annotator, measured), annotator, reference, measure, query_set
        )
        for person, reference in references.items()
        for annotator in (person, *others)
    }


def alternative_annotator_tests(
    wide: pd.DataFrame,
    people: Sequence[str],
    others: Sequence[str],
    *,
    epsilon: float = EPSILON,
    alpha: float = ALPHA,
    correct: Correction = benjamini_yekutieli,
) -> pd.DataFrame:
    """Test for each person whether an annotator may take their place.

    Person and annotator are scored on every pair that both graded, and at least one other person:
    the score is the negative mean absolute error to the grades of the other people. The annotator
    wins a pair where its score is at least the person's, and the other way round. The null
    hypothesis of the one-sided t-test is that the person's share of wins is higher than the
    annotator's by `epsilon` or more.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `agreement.wide_grades`.
    people, others : sequence of str
        Columns of `wide`: those who may be replaced, and those who may take a place.
    epsilon : float
        How much worse than a person an annotator may be, 0 to 1, because it costs less; the
        authors suggest 0.2 for experts, 0.15 for skilled people, 0.1 for a crowd.
    alpha : float
        Level of the tests after the correction.
    correct : callable
        Adjusts the p-values of one annotator over the people.

    Returns
    -------
    DataFrame
        `annotator`, `person`, `n` (pairs), `annotator_wins`, `person_wins` (shares), `p_value`,
        `p_adjusted`, `won` (the null hypothesis is rejected), `epsilon`, `alpha`, `undefined`
        (fewer than 30 pairs).

    References
    ----------
    Calderon, Reichart, Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
    arXiv 2501.10970.
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"Epsilon is {epsilon}: it must lie between 0 and 1.")
    grades = {name: annotator_grades(wide, name) for name in (*_at_least_two(people), *others)}
    rows: list[Row] = []
    for annotator in others:
        tests = [_replacement(annotator, person, people, grades, epsilon) for person in people]
        defined = [test for test in tests if test["undefined"] is None]
        adjusted = correct([test["p_value"] for test in defined])
        for test, p_adjusted in zip(defined, adjusted, strict=True):
            test |= {"p_adjusted": p_adjusted, "won": bool(p_adjusted <= alpha)}
        rows += [test | {"epsilon": epsilon, "alpha": alpha} for test in tests]
    return typed_frame(rows, TEST_TYPES)


def winning_rates(tests: pd.DataFrame) -> pd.DataFrame:
    """Summarise the tests of each annotator.

    Parameters
    ----------
    tests : DataFrame
        What `alternative_annotator_tests` returns.

    Returns
    -------
    DataFrame
        `annotator`, `winning_rate` (share of the people whose place it may take; from 0.5 on the
        authors call it an alternative to people), `advantage` (mean over the people of its share
        of wins), `n_people` (tested), `epsilon`, `alpha`, `undefined`.
    """
    rows: list[Row] = []
    for annotator, own in tests.groupby("annotator", sort=False):
        tested = own[own["undefined"].isna()]
        rows.append(
            {
                "annotator": annotator,
                "winning_rate": tested["won"].mean() if len(tested) else None,
                "advantage": tested["annotator_wins"].mean() if len(tested) else None,
                "n_people": len(tested),
                "epsilon": own["epsilon"].iloc[0],
                "alpha": own["alpha"].iloc[0],
                "undefined": None if len(tested) else own["undefined"].iloc[0],
            }
        )
    return typed_frame(rows, WINNING_TYPES)


@dataclass(frozen=True, eq=False)
class _CeilingRow:
    """A row of a ceiling table: a weighted sum of comparisons (annotator, person left out)."""

    annotator: str
    reference: str
    statistic: str
    parts: tuple[tuple[str, str], ...]
    weights: FloatArray

    def named(self, measure: str, statistic: str) -> Row:
        return {
            "annotator": self.annotator,
            "reference": self.reference,
            "measure": measure,
            "statistic": self.statistic.format(statistic),
        }


def _ceiling_rows(references: Mapping[str, str], others: Sequence[str]) -> Iterator[_CeilingRow]:
    """List who is compared with which reference: one by one, as means, as differences of means."""
    one, share = np.ones(1), np.full(len(references), 1 / len(references))
    own = tuple((person, person) for person in references)
    for person, reference in references.items():
        yield _CeilingRow(person, reference, "{}", ((person, person),), one)
    yield _CeilingRow(PEOPLE, MEAN, "{}", own, share)
    for other in others:
        for person, reference in references.items():
            yield _CeilingRow(other, reference, "{}", ((other, person),), one)
        with_all = tuple((other, person) for person in references)
        yield _CeilingRow(other, MEAN, "{}", with_all, share)
        yield _CeilingRow(other, MEAN, MINUS_PEOPLE, with_all + own, np.r_[share, -share])


def _pair_statistics(scale: Scale) -> dict[str, Statistic]:
    k = len(scale)

    def quadratic(totals: FloatArray) -> FloatArray:
        return kappa(totals[..., : k * k].reshape(*totals.shape[:-1], k, k), scale)

    return {
        "kappa_quadratic": quadratic,
        "me": lambda totals: mean_error(totals[..., k * k :]),
        "mae": lambda totals: mean_absolute_error(totals[..., k * k :]),
    }


def _combined(statistic: Statistic, weights: FloatArray) -> Statistic:
    """Return the weighted sum of one statistic of several comparisons side by side."""

    def combined(totals: FloatArray) -> FloatArray:
        parts = statistic(totals.reshape(*totals.shape[:-1], len(weights), -1))
        weighted: FloatArray = parts @ weights
        return weighted

    return combined


def _why_undefined(row: _CeilingRow, total: FloatArray, scale: Scale) -> str:
    if len(row.parts) > 1:
        return UNDEFINED_PART
    k = len(scale)
    why, _ = describe_kappa(total[: k * k].reshape(k, k), scale, (row.reference, row.annotator))
    return why or "no pair was graded by both"


def _mean_without(wide: pd.DataFrame, people: Sequence[str], person: str) -> FloatArray:
    """Return the mean grade of each pair over all people but one; NaN where nobody else graded."""
    grades = np.stack([annotator_grades(wide, p) for p in people if p != person], axis=1)
    n = (~np.isnan(grades)).sum(axis=1)
    mean: FloatArray = np.divide(
        np.nansum(grades, axis=1), n, out=np.full(len(n), np.nan), where=n > 0
    )
    return mean


def _at_least_two(people: Sequence[str]) -> Sequence[str]:
    if len(people) < 2:
        raise ValueError(
            f"There are {len(people)} people: leaving one out needs at least two of them."
        )
    return people


def _replacement(
    annotator: str,
    person: str,
    people: Sequence[str],
    grades: Mapping[str, FloatArray],
    epsilon: float,
) -> Row:
    """Compare an annotator and a person by their distances to the other people's grades."""
    rest = np.stack([grades[other] for other in people if other != person], axis=1)
    shared = ~(np.isnan(grades[annotator]) | np.isnan(grades[person]) | np.isnan(rest).all(axis=1))
    distance, own_distance = (
        np.nanmean(np.abs(rest[shared] - grades[name][shared, np.newaxis]), axis=1).round(
            COMPARED_DECIMALS
        )
        for name in (annotator, person)
    )
    wins, own_wins = distance <= own_distance, own_distance <= distance
    n = int(shared.sum())
    row: Row = {"annotator": annotator, "person": person, "n": n, "undefined": None}
    if n < FEWEST_PAIRS:
        return row | {"undefined": f"fewer than {FEWEST_PAIRS} pairs"}
    return row | {
        "annotator_wins": wins.mean(),
        "person_wins": own_wins.mean(),
        "p_value": _p_value(own_wins.astype(np.float64) - wins, epsilon),
    }


def _p_value(lead_of_person: FloatArray, epsilon: float) -> float:
    """Test that a person leads by less than epsilon; without variation the mean decides."""
    if np.ptp(lead_of_person) == 0:
        return 0.0 if lead_of_person[0] < epsilon else 1.0
    return float(stats.ttest_1samp(lead_of_person, epsilon, alternative="less").pvalue)
