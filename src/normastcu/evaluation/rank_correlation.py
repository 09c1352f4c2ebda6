"""How far two qrels rank the same systems alike: coefficients, shifts, and how sure they are.

Every table compares qrels with a reference, measure by measure, and bootstraps over the queries:
the same resamples for all qrels and measures. Two sets of queries: under `per_qrels` each of the
two qrels is averaged over its own queries with a relevant document (the paper's way), under
`common` both are averaged over the queries with one in both. In a resample the same queries count,
as often as they were drawn. A resample in which a ranking is constant is left out and counted.

A bootstrap interval of a rank correlation holds the true value more rarely than it says; the module
`shrinkage` says why, and has intervals that keep their promise.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd

from normastcu.evaluation.bootstrap import CONFIDENCES, FloatArray, IntArray
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.runs import BoolArray
from normastcu.evaluation.systems import (
    PERSISTENCE,
    QUERY_SETS,
    Orders,
    Row,
    check_resamples,
    estimate,
    estimate_row,
    estimate_table,
    kendall_tau_b,
    largest_shift,
    orders,
    query_means,
    rank_biased_overlap,
    resample_weights,
    spearman_rho,
    tau_ap,
    tau_ap_b,
    top_kept,
)

Comparison = Callable[[Orders, Orders], FloatArray]
Name = TypeVar("Name", bound=Hashable)

COEFFICIENTS: Mapping[str, Comparison] = {
    "tau_b": kendall_tau_b,
    "rho": spearman_rho,
    "tau_ap": tau_ap,
    "tau_ap_b": tau_ap_b,
    "rbo": rank_biased_overlap,
}
FAMILY_COEFFICIENTS = ("tau_b", "rho")
SHIFTS: Mapping[str, Comparison] = {
    "max_shift": largest_shift,
    "best_kept": partial(top_kept, depth=1),
    "best_three_kept": partial(top_kept, depth=3),
}


@dataclass(frozen=True, eq=False)
class RankedPair:
    """The values of one measure under a qrels and under the reference, and the queries that count.

    Attributes
    ----------
    qrels, reference, measure, query_set : str
        What is compared.
    systems : tuple of str
        The first axis of the values.
    values, reference_values : ndarray, shape (systems, Q)
        By query.
    kept, reference_kept : ndarray of bool, shape (Q,)
        Queries that count; the same for both under `common`.
    """

    qrels: str
    reference: str
    measure: str
    query_set: str
    systems: tuple[str, ...]
    values: FloatArray
    reference_values: FloatArray
    kept: BoolArray
    reference_kept: BoolArray

    @property
    def leading(self) -> Row:
        """The columns that say what is compared."""
        return {
            "qrels": self.qrels,
            "reference": self.reference,
            "measure": self.measure,
            "query_set": self.query_set,
            "n_queries_reference": int(self.reference_kept.sum()),
        }

    def orders(self, weights: FloatArray) -> tuple[Orders, Orders]:
        """Rank the systems under the qrels and under the reference, for each row of weights."""
        return (
            orders(query_means(self.values, self.kept, weights)),
            orders(query_means(self.reference_values, self.reference_kept, weights)),
        )

    def among(self, systems: Sequence[int]) -> "RankedPair":
        """Return the same comparison of some of the systems."""
        return replace(
            self,
            systems=tuple(self.systems[position] for position in systems),
            values=self.values[list(systems)],
            reference_values=self.reference_values[list(systems)],
        )

    def why_undefined(self) -> str:
        """Say why two rankings can't be compared."""
        if len(self.systems) < 2:
            return "fewer than two systems"
        sides = ((self.qrels, self.kept), (self.reference, self.reference_kept))
        if self.query_set == "common" and not self.kept.any():
            return "no query has a relevant document in both qrels"
        for name, kept in sides:
            if not kept.any():
                return f"no query has a relevant document in {name}"
        ranked = zip(sides, self.orders(np.ones((1, len(self.kept)))), strict=True)
        constant = [name for (name, _), order in ranked if not order.n_untied[0]]
        return f"all systems are equal under {' and '.join(constant)}"


def rank_correlation(
    measured: QueryMeasures,
    reference: str,
    indices: IntArray,
    *,
    families: Mapping[str, str] | None = None,
    measures: Sequence[str] | None = None,
    query_sets: Sequence[str] = QUERY_SETS,
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
    persistence: float = PERSISTENCE,
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Correlate the system ranking of every qrels with the reference's, with BCa intervals.

    Parameters
    ----------
    measured : QueryMeasures
        The values by query, under the reference and other qrels.
    reference : str
        The qrels that all others are compared with; the truth of `tau_ap`.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of `measured`, see `bootstrap.resample_indices`.
    families : mapping of str to str, optional
        The family of a system. tau-b and rho are then also given for one system a family, the best
        of it under the reference (on all queries with a relevant document there, the first by name
        where several are best): the same systems for every qrels, fixed before resampling. A
        system without a family is one by itself.
    measures : sequence of str, optional
        By default all but `Judged@k`, which says nothing about systems.
    query_sets : sequence of {'per_qrels', 'common'}
        Which averages are compared.
    coefficients : sequence of str
        Of `tau_b`, `rho`, `tau_ap` (the reference as truth), `tau_ap_b`, `rbo`.
    persistence : float
        Of `rbo`, between 0 and 1.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        `qrels`, `reference`, `measure`, `query_set`, `system_set` (all, one_per_family),
        `coefficient`, `n_systems`, `value`, `n_left_out` (resamples with a constant ranking), the
        interval, `n_queries` (of the qrels), `undefined`, `n_queries_reference`.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, section 14.3, for BCa. With the same
    indices the ends are those of ``scipy.stats.bootstrap``.
    """
    rows: list[Row] = []
    for pair in ranked_pairs(measured, reference, measures, query_sets):
        sets = _system_sets(pair, measured, families)
        statistics = _coefficients(sets, coefficients, persistence)
        replicates = compare(pair, statistics, indices)
        for (system_set, coefficient), values in replicates.items():
            rows.append(
                {
                    **pair.leading,
                    "system_set": system_set,
                    "coefficient": coefficient,
                    "n_systems": len(sets[system_set]),
                    **_estimated(pair.among(sets[system_set]), values, confidences),
                }
            )
    leading = ["qrels", "reference", "measure", "query_set", "system_set", "coefficient"]
    return _with_reference_queries(
        rows, [*leading, "n_systems", "value", "n_left_out"], confidences
    )


def rank_shift(
    measured: QueryMeasures,
    reference: str,
    indices: IntArray,
    *,
    measures: Sequence[str] | None = None,
    query_sets: Sequence[str] = QUERY_SETS,
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Tell how far a system moves, and whether the best systems stay the best.

    Parameters
    ----------
    measured, reference, indices, measures, query_sets, confidences
        As in `rank_correlation`.

    Returns
    -------
    DataFrame
        `qrels`, `reference`, `measure`, `max_shift` (largest difference of the ranks of a system),
        `best_kept`, `best_three_kept` (whether all systems that the qrels ranks first, or among
        the first three, are so under the reference), `best_kept_share`, `best_three_kept_share`
        (of the resamples, each with its own two rankings), `query_set`, `n_systems`, `n_left_out`,
        the interval of `max_shift`, `n_queries`, `undefined`, `n_queries_reference`.
    """
    rows: list[Row] = []
    n = len(measured.queries)
    for pair in ranked_pairs(measured, reference, measures, query_sets):
        replicates = compare(pair, SHIFTS, indices)
        shift = _estimated(pair, replicates["max_shift"], confidences)
        row: Row = {**pair.leading, **shift, "n_systems": len(pair.systems)}
        row["max_shift"] = row.pop("value")
        for name in ("best_kept", "best_three_kept"):
            observed, resampled = replicates[name][0], replicates[name][1 + n :]
            defined = resampled[~np.isnan(resampled)]
            row[name] = None if np.isnan(observed) else bool(observed)
            row[f"{name}_share"] = float(defined.mean()) if defined.size else None
        rows.append(row)
    kept = ["best_kept", "best_three_kept", "best_kept_share", "best_three_kept_share"]
    leading = ["qrels", "reference", "measure", "max_shift", *kept, "query_set", "n_systems"]
    return _with_reference_queries(rows, [*leading, "n_left_out"], confidences)


def ranked_pairs(
    measured: QueryMeasures,
    reference: str,
    measures: Sequence[str] | None = None,
    query_sets: Sequence[str] = QUERY_SETS,
) -> Iterator[RankedPair]:
    """Yield every qrels beside the reference, for each measure and set of queries.

    Raises
    ------
    ValueError
        For a qrels, a measure or a set of queries that there is not.
    """
    measured.position(reference)
    if measures is None:
        measures = [name for name in measured.measures if not name.startswith("Judged")]
    for qrels in measured.qrels:
        if qrels != reference:
            for measure in measures:
                for query_set in query_sets:
                    yield ranked_pair(measured, qrels, reference, measure, query_set)


def ranked_pair(
    measured: QueryMeasures, qrels: str, reference: str, measure: str, query_set: str
) -> RankedPair:
    """Put the values of one measure under two qrels beside each other.

    Raises
    ------
    ValueError
        For a qrels, a measure or a set of queries that there is not.
    """
    if query_set not in QUERY_SETS:
        raise ValueError(
            f"There is no set of queries {query_set!r}: give {' or '.join(QUERY_SETS)}."
        )
    kept, reference_kept = (measured.with_relevant(name) for name in (qrels, reference))
    if query_set == "common":
        kept = reference_kept = kept & reference_kept
    return RankedPair(
        qrels=qrels,
        reference=reference,
        measure=measure,
        query_set=query_set,
        systems=measured.systems,
        values=measured.of(qrels, measure),
        reference_values=measured.of(reference, measure),
        kept=kept,
        reference_kept=reference_kept,
    )


def compare(
    pair: RankedPair, statistics: Mapping[Name, Comparison], indices: IntArray
) -> dict[Name, FloatArray]:
    """Compare two rankings in the sample, with each query left out, and in every resample.

    Memory beyond `indices` and the values returned is bounded, whatever B is.

    Parameters
    ----------
    pair : RankedPair
        What is compared.
    statistics : mapping to callable
        Each takes the orders under the qrels and under the reference.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries.

    Returns
    -------
    dict of ndarray, shape (1 + Q + B,)
        Under the names of `statistics`, NaN where undefined; see `systems.estimate`.
    """
    check_resamples(indices, len(pair.kept))
    n_rows = 1 + len(pair.kept) + len(indices)
    values = {name: np.empty(n_rows) for name in statistics}
    for rows, weights in resample_weights(indices, len(pair.systems) ** 2):
        rankings = pair.orders(weights)
        for name, statistic in statistics.items():
            values[name][rows] = statistic(*rankings)
    return values


def _estimated(pair: RankedPair, values: FloatArray, confidences: Sequence[float]) -> Row:
    n_queries = int(min(pair.kept.sum(), pair.reference_kept.sum()))
    estimated = estimate(values, n_queries, len(pair.kept), confidences)
    undefined = pair.why_undefined() if estimated.value is None else None
    return estimate_row(estimated, undefined) | {"n_queries": int(pair.kept.sum())}


def _system_sets(
    pair: RankedPair, measured: QueryMeasures, families: Mapping[str, str] | None
) -> dict[str, list[int]]:
    """Return the positions of the systems that are compared, by the name of the set."""
    sets = {"all": list(range(len(pair.systems)))}
    if families is None:
        return sets
    everything = np.ones((1, len(pair.kept)))
    in_reference = measured.with_relevant(pair.reference)
    ranks = orders(query_means(pair.reference_values, in_reference, everything)).ranks[:, 0]
    best: dict[tuple[str, str], int] = {}
    for position in sorted(sets["all"], key=lambda p: (ranks[p], p)):
        system = pair.systems[position]
        family = ("family", families[system]) if system in families else ("system", system)
        best.setdefault(family, position)
    return sets | {"one_per_family": sorted(best.values())}


def _coefficients(
    sets: Mapping[str, Sequence[int]], chosen: Sequence[str], persistence: float
) -> dict[tuple[str, str], Comparison]:
    unknown = sorted(set(chosen) - set(COEFFICIENTS))
    if unknown:
        raise ValueError(
            f"There is no coefficient {unknown[0]!r}: give some of {', '.join(COEFFICIENTS)}."
        )
    overlap = partial(rank_biased_overlap, persistence=persistence)
    known: dict[str, Comparison] = {**COEFFICIENTS, "rbo": overlap}
    statistics = {("all", name): known[name] for name in chosen}
    if "one_per_family" in sets:
        for name in chosen:
            if name in FAMILY_COEFFICIENTS:
                among = partial(_among, systems=sets["one_per_family"], statistic=known[name])
                statistics["one_per_family", name] = among
    return statistics


def _among(a: Orders, b: Orders, systems: Sequence[int], statistic: Comparison) -> FloatArray:
    return statistic(a.of(systems), b.of(systems))


def _with_reference_queries(
    rows: Sequence[Row], leading: Sequence[str], confidences: Sequence[float]
) -> pd.DataFrame:
    """Make the table, the number of queries of the reference as its last column."""
    table = estimate_table(rows, [*leading, "n_queries_reference"], confidences)
    return table[[c for c in table if c != "n_queries_reference"] + ["n_queries_reference"]]
