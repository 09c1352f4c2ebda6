"""Measures of runs under qrels, query by query and averaged, as array work.

A run is ranked once, whatever the number of qrels (`rank_runs`); of its rows only those that some
qrels judged take part in a measure (`measure_runs`). The averages and everything that compares
systems start from the values by query (`QueryMeasures`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.evaluation.bootstrap import FloatArray, IntArray
from normastcu.evaluation.runs import (
    BoolArray,
    RankedRuns,
    id_codes,
    numbers,
    pair_keys,
    rank_runs,
    ranks_within,
)

__all__ = [
    "MEASURES",
    "QueryMeasures",
    "RankedRuns",
    "measure_runs",
    "measures_by_query",
    "rank_runs",
]

JUDGED = "Judged@10"
MEASURES = ("P@10", "R@10", "nDCG@10", "MRR", JUDGED)
UNJUDGED = -1

NATIVE = re.compile(r"(?P<name>P|R|nDCG|Judged)@(?P<depth>[1-9]\d*)|(?P<whole>MRR)")
BY_QUERY_TYPES = {
    "qrels": "str",
    "system": "str",
    "query_id": "str",
    "measure": "str",
    "value": "Float64",
    "n_relevant": "Int64",
}
REPORT_TYPES = {
    "qrels": "str",
    "system": "str",
    "n_queries": "Int64",
    "n_missing": "Int64",
    "missing": "str",
    "n_ignored": "Int64",
    "n_tied": "Int64",
}


@dataclass(frozen=True, eq=False)
class QueryMeasures:
    """The values of all measures, by qrels, system and query.

    Attributes
    ----------
    qrels, measures, systems, queries : tuple of str
        The axes of `values`; all but the measures are sorted.
    values : ndarray, shape (qrels, measures, systems, queries)
        0 where the run lacks the query, and where the qrels lacks it.
    n_judged, n_relevant : ndarray of int, shape (qrels, queries)
        Judged documents of each query, and those of them that are relevant.
    report : DataFrame
        What happened to the queries: `qrels`, `system`, `n_queries` (of the qrels), `n_missing`
        and `missing` (those of them that the run lacks: they count as 0), `n_ignored` (queries of
        the run that the qrels lacks), `n_tied` (see `RankedRuns`).
    """

    qrels: tuple[str, ...]
    measures: tuple[str, ...]
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    values: FloatArray
    n_judged: IntArray
    n_relevant: IntArray
    report: pd.DataFrame

    def of(self, qrels: str, measure: str) -> FloatArray:
        """Return the values of one measure under one qrels, shape (systems, queries).

        Raises
        ------
        ValueError
            For a qrels or a measure that there is not.
        """
        if measure not in self.measures:
            raise ValueError(
                f"There is no measure {measure!r}. Measures: {', '.join(self.measures)}."
            )
        values: FloatArray = self.values[self.position(qrels), self.measures.index(measure)]
        return values

    def with_relevant(self, qrels: str) -> BoolArray:
        """Say which queries have a relevant document in a qrels, shape (queries,)."""
        has_relevant: BoolArray = self.n_relevant[self.position(qrels)] > 0
        return has_relevant

    def position(self, qrels: str) -> int:
        """Return the position of a qrels; raise a ValueError where there is none of that name."""
        if qrels not in self.qrels:
            raise ValueError(
                f"There is no qrels {qrels!r}. Qrels: {', '.join(self.qrels) or 'none'}."
            )
        return self.qrels.index(qrels)


def measure_runs(
    ranked: RankedRuns,
    qrels: pd.DataFrame,
    *,
    measures: Sequence[str] = MEASURES,
    relevance: int = 1,
    queries: Iterable[str] | None = None,
    left_out: pd.DataFrame | None = None,
) -> QueryMeasures:
    """Compute measures of every run under every qrels, for each query.

    P, R and MRR take grades of at least `relevance` as relevant; nDCG takes the grade as gain, the
    logarithm to base 2 of rank + 1 as discount and the best documents of the qrels as ideal list;
    MRR has no cutoff. A document without a judgment counts as not relevant. The values are those
    of ``trec_eval`` (P_10, recall_10, ndcg_cut_10, recip_rank); Judged, the share of judged
    documents among the first, is that of ``ir_measures``.

    Parameters
    ----------
    ranked : RankedRuns
        What `rank_runs` returns.
    qrels : DataFrame
        `qrels` (the name), `query_id`, `doc_id` (text), `grade` (whole, at least 0).
    measures : sequence of str
        ``P@k``, ``R@k``, ``nDCG@k``, ``Judged@k``, ``MRR``, or a name that ``ir_measures`` knows,
        such as ``AP``, ``RBP(p=0.8)`` or ``P(rel=2)@10``; where a name of the latter kind leaves
        the level of relevance open, `relevance` applies. `Judged@10` is always added.
    relevance : int
        The lowest grade that counts as relevant, at least 1.
    queries : iterable of str, optional
        All queries of the collection; by default those of the qrels. Give them where results of
        several calls are to share their resamples.
    left_out : DataFrame, optional
        Pairs (`query_id`, `doc_id`) that an annotator was asked for and did not grade: they are
        taken out of all qrels, and their documents are skipped in the runs.

    Returns
    -------
    QueryMeasures

    Raises
    ------
    ValueError
        For ids that are not text, a grade that is missing, negative or not whole, a pair twice in
        a qrels, a query outside `queries`, an unknown measure.

    References
    ----------
    Järvelin, Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques, for nDCG.

    Examples
    --------
    >>> ranked = rank_runs(pd.DataFrame({
    ...     "query_id": ["q", "q"], "doc_id": ["d1", "d2"], "system": ["S", "S"], "rank": [1, 2],
    ... }))
    >>> qrels = pd.DataFrame(
    ...     {"qrels": ["reference"], "query_id": ["q"], "doc_id": ["d2"], "grade": [2]}
    ... )
    >>> measured = measure_runs(ranked, qrels, measures=["P@2", "MRR"])
    >>> measured.measures, measured.values.ravel().tolist()
    (('P@2', 'MRR', 'Judged@10'), [0.5, 0.5, 0.5])
    """
    if relevance < 1:
        raise ValueError(f"The lowest relevant grade is {relevance}: it must be at least 1.")
    names = tuple(dict.fromkeys([*measures, JUDGED]))
    _, qrels_names = id_codes(qrels, "qrels")
    if left_out is not None:
        pairs = pd.MultiIndex.from_frame(left_out[["query_id", "doc_id"]])
        judged = pd.MultiIndex.from_frame(qrels[["query_id", "doc_id"]])
        qrels, ranked = qrels[~judged.isin(pairs)], ranked.without(left_out)
    judgments = _judgments(qrels, qrels_names, relevance, queries)
    values = _native_values([n for n in names if NATIVE.fullmatch(n)], ranked, judgments)
    others = [name for name in names if not NATIVE.fullmatch(name)]
    if others:
        values |= _other_values(others, ranked, judgments)
    return QueryMeasures(
        qrels=tuple(judgments.qrels),
        measures=names,
        systems=tuple(ranked.systems),
        queries=tuple(judgments.queries),
        values=np.stack([values[name] for name in names], axis=1),
        n_judged=judgments.count(judgments.grades != UNJUDGED),
        n_relevant=judgments.count(judgments.grades >= relevance),
        report=_report(ranked, judgments),
    )


def measures_by_query(measured: QueryMeasures) -> pd.DataFrame:
    """Return the values as a table, without the queries that a qrels lacks.

    Returns
    -------
    DataFrame
        `qrels`, `system`, `query_id`, `measure`, `value`, and `n_relevant` (relevant documents of
        the query in the qrels; the averages leave out the queries that have none).
    """
    qrels, measure, system, query = (
        axis.ravel() for axis in np.indices(measured.values.shape, dtype=np.int64)
    )
    table = pd.DataFrame(
        {
            "qrels": np.array(measured.qrels, dtype=object)[qrels],
            "system": np.array(measured.systems, dtype=object)[system],
            "query_id": np.array(measured.queries, dtype=object)[query],
            "measure": np.array(measured.measures, dtype=object)[measure],
            "value": measured.values.ravel(),
            "n_relevant": measured.n_relevant[qrels, query],
        }
    )
    in_qrels = measured.n_judged[qrels, query] > 0
    return table[in_qrels].astype(BY_QUERY_TYPES).reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class _Judgments:
    """The grades of every pair that some qrels judged, UNJUDGED where a qrels did not."""

    qrels: "pd.Index[str]"
    queries: "pd.Index[str]"
    documents: "pd.Index[str]"
    query: IntArray  # (pairs,), positions in queries
    document: IntArray  # (pairs,), positions in documents
    grades: IntArray  # (qrels, pairs)
    relevance: int

    def count(self, chosen: BoolArray) -> IntArray:
        """Count the chosen pairs of each query, shape (qrels, queries)."""
        shape = (len(self.qrels), len(self.queries))
        qrels, pair = np.nonzero(chosen)
        cell = qrels * shape[1] + self.query[pair]
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)


@dataclass(frozen=True, eq=False)
class _Hits:
    """The rows of all runs that one qrels judged, and what the qrels has for each query.

    A cell is a system and a query: system times the number of queries, plus query.
    """

    cell: IntArray
    rank: IntArray
    grade: IntArray
    relevance: int
    n_retrieved: IntArray  # (systems, queries)
    n_relevant: IntArray  # (queries,)
    sorted_grades: Callable[[int], FloatArray]  # depth -> (queries, depth), descending

    def sums(self, chosen: BoolArray, weights: FloatArray | None = None) -> FloatArray:
        """Count or sum the chosen rows by cell, shape (systems, queries)."""
        shape = self.n_retrieved.shape
        of_chosen = None if weights is None else weights[chosen]
        sums = np.bincount(self.cell[chosen], of_chosen, minlength=self.n_retrieved.size)
        return sums.reshape(shape).astype(np.float64)

    @property
    def relevant(self) -> BoolArray:
        return self.grade >= self.relevance


def _precision(hits: _Hits, depth: int) -> FloatArray:
    return hits.sums(hits.relevant & (hits.rank <= depth)) / depth


def _recall(hits: _Hits, depth: int) -> FloatArray:
    return _share(hits.sums(hits.relevant & (hits.rank <= depth)), hits.n_relevant)


def _ndcg(hits: _Hits, depth: int) -> FloatArray:
    gains = hits.sums(hits.rank <= depth, hits.grade / np.log2(hits.rank + 1))
    ideal = hits.sorted_grades(depth) @ (1 / np.log2(np.arange(depth) + 2))
    return _share(gains, ideal)


def _judged(hits: _Hits, depth: int) -> FloatArray:
    return _share(hits.sums(hits.rank <= depth), np.minimum(hits.n_retrieved, depth))


def _reciprocal_rank(hits: _Hits) -> FloatArray:
    first = np.full(hits.n_retrieved.size, np.inf)
    np.minimum.at(first, hits.cell[hits.relevant], hits.rank[hits.relevant])
    return 1 / first.reshape(hits.n_retrieved.shape)


AT_DEPTH: Mapping[str, Callable[[_Hits, int], FloatArray]] = {
    "P": _precision,
    "R": _recall,
    "nDCG": _ndcg,
    "Judged": _judged,
}


def _native_values(
    names: Sequence[str], ranked: RankedRuns, judgments: _Judgments
) -> dict[str, FloatArray]:
    """Compute our own measures, each of shape (qrels, systems, queries)."""
    row, pair = _judged_rows(ranked, judgments)
    cell = ranked.system[row] * len(judgments.queries) + judgments.query[pair]
    n_retrieved = _n_retrieved(ranked, judgments)
    n_relevant = judgments.count(judgments.grades >= judgments.relevance)
    values: dict[str, list[FloatArray]] = {name: [] for name in names}
    for position, grades in enumerate(judgments.grades):
        own = grades[pair] != UNJUDGED
        hits = _Hits(
            cell=cell[own],
            rank=ranked.rank[row][own],
            grade=grades[pair][own],
            relevance=judgments.relevance,
            n_retrieved=n_retrieved,
            n_relevant=n_relevant[position],
            sorted_grades=_sorted_grades(judgments, grades),
        )
        for name in names:
            values[name].append(_native(name, hits))
    shape = (len(judgments.qrels), *n_retrieved.shape)
    return {name: np.reshape(parts, shape) for name, parts in values.items()}


def _native(name: str, hits: _Hits) -> FloatArray:
    parts = NATIVE.fullmatch(name)
    assert parts is not None
    if parts["whole"]:
        return _reciprocal_rank(hits)
    return AT_DEPTH[parts["name"]](hits, int(parts["depth"]))


def _other_values(
    names: Sequence[str], ranked: RankedRuns, judgments: _Judgments
) -> dict[str, FloatArray]:
    """Let ir_measures compute, each of shape (qrels, systems, queries)."""
    measures = {name: _parsed(name, judgments.relevance) for name in names}
    shape = (len(judgments.qrels), len(ranked.systems), len(judgments.queries))
    values = {name: np.zeros(shape) for name in names}
    place = {query_id: position for position, query_id in enumerate(judgments.queries)}
    runs = [_as_mapping(ranked, system) for system in range(len(ranked.systems))]
    for i, grades in enumerate(judgments.grades):
        evaluator = _evaluator(measures, _grades_as_mapping(judgments, grades))
        for j, run in enumerate(runs):
            found = {(m.measure, m.query_id): m.value for m in evaluator.iter_calc(run)}
            for name, measure in measures.items():
                for query_id, position in place.items():
                    values[name][i, j, position] = found.get((measure, query_id), 0.0)
    return values


def _parsed(name: str, relevance: int) -> Any:
    """Parse the name of a measure; a level of relevance that it leaves open is set."""
    # Imported here and below, because it is only needed on request.
    import ir_measures

    try:
        measure: Any = ir_measures.parse_measure(name)
        measure.validate_params()
        # trec_eval ends the process at a cutoff of 0.
        known = measure.params.get("cutoff", 1) >= 1
    except (AssertionError, NameError, ValueError, TypeError, SyntaxError):
        known = False
    if not known:
        raise ValueError(
            f"There is no measure {name!r}: give P@k, R@k, nDCG@k, Judged@k, MRR, or a measure as "
            "ir_measures names it, such as AP, RBP(p=0.8) or P(rel=2)@10."
        )
    if "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params:
        measure = measure(rel=relevance)
    return measure


def _evaluator(measures: Mapping[str, Any], qrels: dict[str, dict[str, int]]) -> Any:
    import ir_measures

    try:
        return ir_measures.evaluator(list(measures.values()), qrels)
    except ValueError as error:
        raise ValueError(
            f"ir_measures can't compute all of {', '.join(measures)} with what is installed here: "
            f"{error}"
        ) from error


def _as_mapping(ranked: RankedRuns, system: int) -> dict[str, dict[str, float]]:
    """Return a run as ir_measures takes it, with scores that fall strictly with the rank."""
    own = ranked.system == system
    run: dict[str, dict[str, float]] = {}
    rows = zip(
        ranked.queries[ranked.query[own]],
        ranked.documents[ranked.document[own]],
        ranked.rank[own],
        strict=True,
    )
    for query_id, doc_id, rank in rows:
        run.setdefault(query_id, {})[doc_id] = -float(rank)
    return run


def _grades_as_mapping(judgments: _Judgments, grades: IntArray) -> dict[str, dict[str, int]]:
    own = grades != UNJUDGED
    qrels: dict[str, dict[str, int]] = {}
    rows = zip(
        judgments.queries[judgments.query[own]],
        judgments.documents[judgments.document[own]],
        grades[own],
        strict=True,
    )
    for query_id, doc_id, grade in rows:
        qrels.setdefault(query_id, {})[doc_id] = int(grade)
    return qrels


def _judgments(
    qrels: pd.DataFrame,
    names: "pd.Index[str]",
    relevance: int,
    queries: Iterable[str] | None,
) -> _Judgments:
    (query, found), (document, documents) = (
        id_codes(qrels, column) for column in ("query_id", "doc_id")
    )
    name = names.get_indexer(pd.Index(qrels["qrels"]))
    grade = _checked_grades(qrels)
    keys, pair = np.unique(query * len(documents) + document, return_inverse=True)
    _refuse_repeated_judgments(qrels, name * len(keys) + pair)
    grades = np.full((len(names), len(keys)), UNJUDGED, dtype=np.int64)
    grades[name, pair] = grade
    universe = found if queries is None else pd.Index(sorted(set(queries)), dtype="str")
    place = universe.get_indexer(found)
    if (place < 0).any():
        raise ValueError(
            f"The qrels have the query {found[place < 0][0]}, which is not among the "
            f"{len(universe)} queries of the collection: give all of them."
        )
    return _Judgments(
        qrels=names,
        queries=universe,
        documents=documents,
        query=place[keys // max(1, len(documents))],
        document=keys % max(1, len(documents)),
        grades=grades,
        relevance=relevance,
    )


def _judged_rows(ranked: RankedRuns, judgments: _Judgments) -> tuple[IntArray, IntArray]:
    """Return the rows of the runs that some qrels judged, and the pair of each."""
    keys = pair_keys(
        ranked.queries.get_indexer(judgments.queries)[judgments.query],
        ranked.documents.get_indexer(judgments.documents)[judgments.document],
        len(ranked.documents),
    )
    order = np.argsort(keys)
    wanted = ranked.row_keys
    place = np.searchsorted(keys[order], wanted)
    pair = order[np.minimum(place, max(0, len(keys) - 1))] if len(keys) else place
    row = np.flatnonzero(keys[pair] == wanted) if len(keys) else np.array([], dtype=np.int64)
    return row, pair[row]


def _n_retrieved(ranked: RankedRuns, judgments: _Judgments) -> IntArray:
    """Count the documents of each run and query, shape (systems, queries)."""
    place = judgments.queries.get_indexer(ranked.queries)[ranked.query]
    n_queries = len(judgments.queries)
    cell = (ranked.system * n_queries + place)[place >= 0]
    counts = np.bincount(cell, minlength=len(ranked.systems) * n_queries)
    return counts.reshape(len(ranked.systems), n_queries)


def _sorted_grades(judgments: _Judgments, grades: IntArray) -> Callable[[int], FloatArray]:
    own = np.flatnonzero(grades != UNJUDGED)
    order = own[np.lexsort((-grades[own], judgments.query[own]))]
    query, rank = judgments.query[order], ranks_within(judgments.query[order])

    def best(depth: int) -> FloatArray:
        first = rank <= depth
        table = np.zeros((len(judgments.queries), depth))
        table[query[first], rank[first] - 1] = grades[order][first]
        return table

    return best


def _report(ranked: RankedRuns, judgments: _Judgments) -> pd.DataFrame:
    in_qrels = judgments.count(judgments.grades != UNJUDGED) > 0
    in_run = _n_retrieved(ranked, judgments) > 0
    cells = np.unique(ranked.system * len(ranked.queries) + ranked.query)
    n_of_run = np.bincount(cells // max(1, len(ranked.queries)), minlength=len(ranked.systems))
    rows = []
    for i, name in enumerate(judgments.qrels):
        for j, system in enumerate(ranked.systems):
            missing = judgments.queries[in_qrels[i] & ~in_run[j]]
            n_common = int((in_qrels[i] & in_run[j]).sum())
            rows.append(
                (
                    name,
                    system,
                    int(in_qrels[i].sum()),
                    len(missing),
                    ", ".join(missing) or None,
                    int(n_of_run[j]) - n_common,
                    int(ranked.n_tied[j]),
                )
            )
    return typed_frame(rows, REPORT_TYPES)


def _checked_grades(qrels: pd.DataFrame) -> IntArray:
    grades = numbers(qrels, "grade")
    wrong = ~((grades >= 0) & (grades == np.floor(grades)))
    if wrong.any():
        row = qrels.iloc[int(wrong.argmax())]
        raise ValueError(
            f"The qrels {row['qrels']} gives document {row['doc_id']} for query {row['query_id']} "
            f"the grade {row['grade']}: grades are whole numbers from 0. Leave out the row of a "
            "pair that was not judged."
        )
    return grades.astype(np.int64)


def _refuse_repeated_judgments(qrels: pd.DataFrame, keys: IntArray) -> None:
    repeated = pd.Series(keys).duplicated().to_numpy()
    if repeated.any():
        row = qrels.iloc[int(repeated.argmax())]
        raise ValueError(
            f"The qrels {row['qrels']} has document {row['doc_id']} more than once for query "
            f"{row['query_id']}: keep one row of a pair."
        )


def _share(part: FloatArray, whole: npt.NDArray[Any]) -> FloatArray:
    """Divide, with 0 where the denominator is 0."""
    share: FloatArray = np.divide(
        part, whole, out=np.zeros(part.shape), where=np.broadcast_to(whole, part.shape) > 0
    )
    return share
