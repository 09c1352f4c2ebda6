"""What is in a pool: its sizes, where its documents come from, how much the systems share."""

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.collection.fusion import check_ranks, of_systems
from normastcu.collection.pool import REASONS

SIZE_TYPES = {
    "query_id": "str",
    "n": "Int64",
    "n_judged": "Int64",
    "n_relevant": "Int64",
}
REPORT_TYPES = {
    "query_id": "str",
    "reason": "str",
    "system": "str",
    "n": "Int64",
    "n_relevant": "Int64",
    "n_judged": "Int64",
    "share": "Float64",
    "n_unique": "Int64",
    "n_unique_relevant": "Int64",
}
_KEYS = ("query_id", "reason", "system")
_COUNTED = (
    "n",
    "n_judged",
    "n_relevant",
    "n_unique",
    "n_unique_judged",
    "n_unique_relevant",
)
_ALL = ""
"""Stands for all of a key while counting; no id and no name is empty."""
OVERLAP_TYPES = {
    "system_a": "str",
    "system_b": "str",
    "depth": "Int64",
    "overlap": "Float64",
    "n_queries": "Int64",
}


def pool_sizes(pool: pd.DataFrame, queries: Sequence[str], qrels: pd.DataFrame) -> pd.DataFrame:
    """Count the pooled documents of each query.

    Parameters
    ----------
    pool : DataFrame
        `query_id`, `doc_id`.
    queries : sequence of str
        All query_ids, in the order of the table; a query without a pool has 0.
    qrels : DataFrame
        `query_id`, `doc_id`, `grade` of one qrels; empty where nothing is judged yet.

    Returns
    -------
    DataFrame
        query_id, n, n_judged, n_relevant (grade above 0; missing where n_judged is 0).

    Examples
    --------
    >>> pool = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"]})
    >>> qrels = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "grade": [2]})
    >>> pool_sizes(pool, ["q", "r"], qrels).astype(object).values.tolist()
    [['q', 1, 1, 1], ['r', 0, 0, <NA>]]
    """
    judged = _with_grades(pool, qrels)
    by_query = dict(iter(judged.groupby("query_id")))
    rows = [(query_id, *_counts(by_query.get(query_id, judged[:0]))) for query_id in queries]
    return typed_frame(rows, SIZE_TYPES)


def pool_report(pool: pd.DataFrame, found: pd.DataFrame, qrels: pd.DataFrame) -> pd.DataFrame:
    """Count the pooled documents by query, reason and system, with totals.

    A document that several systems retrieved counts for each of them; one that was added by hand
    and that no system retrieved counts in the totals only. A missing query_id, reason or system
    stands for all of them together; the row without any of the three is the whole pool.

    Parameters
    ----------
    pool : DataFrame
        `query_id`, `doc_id`, `reason`, see `pool.Pool`.
    found : DataFrame
        `query_id`, `doc_id`, `system`: which systems retrieved each pooled document within the
        depth.
    qrels : DataFrame
        `query_id`, `doc_id`, `grade` of one qrels; empty where nothing is judged yet.

    Returns
    -------
    DataFrame
        query_id, reason, system, n, n_relevant (grade above 0), n_judged, share (n by the size of
        the query's pool, or of the whole pool), n_unique (documents of n that one system alone
        retrieved, in a row of a system this one), n_unique_relevant. Counts of relevant documents
        are missing where none of the documents counted is judged. There is a row for every query,
        reason and system that occur, be it with 0.
    """
    documents = _marked(pool, found, qrels)
    by_system = documents.merge(found[["query_id", "doc_id", "system"]], on=["query_id", "doc_id"])
    rows = pd.concat([documents.assign(system=_ALL), by_system])
    rows = pd.concat([rows, rows.assign(reason=_ALL)])
    rows = pd.concat([rows, rows.assign(query_id=_ALL)])
    counts = rows.groupby(list(_KEYS))[list(_COUNTED)].sum()
    present = set(pool["reason"])
    cells = pd.MultiIndex.from_product(
        [
            [_ALL, *dict.fromkeys(pool["query_id"])],
            [_ALL, *(reason for reason in REASONS if reason in present)],
            [_ALL, *dict.fromkeys(found["system"])],
        ],
        names=_KEYS,
    )
    report = counts.reindex(cells, fill_value=0).reset_index()
    in_pool = pool["query_id"].value_counts()
    in_pool[_ALL] = len(pool)
    report["share"] = report["n"] / report["query_id"].map(in_pool).where(lambda n: n > 0)
    report["n_relevant"] = report["n_relevant"].where(report["n_judged"] > 0)
    report["n_unique_relevant"] = report["n_unique_relevant"].where(report["n_unique_judged"] > 0)
    report[list(_KEYS)] = report[list(_KEYS)].replace(_ALL, None)
    return report[list(REPORT_TYPES)].astype(REPORT_TYPES)


def pool_overlap(runs: pd.DataFrame, systems: Sequence[str], depths: Iterable[int]) -> pd.DataFrame:
    """Return how much the lists of every two systems share, as a matrix in long form.

    The overlap of two lists for a query is the number of documents that both have within the
    depth, divided by the number of documents of the longer one (which is the depth, unless both
    lists are shorter): 0 where they share nothing, 1 where they hold the same documents. The
    table has its mean over the queries for which at least one of the two systems retrieved
    something.

    Parameters
    ----------
    runs : DataFrame
        `system`, `query_id`, `doc_id` (text), `rank` (from 1).
    systems : sequence of str
        The systems to compare, in the order of the matrix.
    depths : iterable of int
        How many ranks of each list are looked at.

    Returns
    -------
    DataFrame
        system_a, system_b, depth, overlap (0 to 1; missing where neither system has a list),
        n_queries. Symmetric; the diagonal is 1.

    Raises
    ------
    CollectionError
        Where the runs lack a system, and see `fusion.check_ranks`.

    Examples
    --------
    >>> runs = pd.DataFrame({
    ...     "system": ["A", "A", "B", "B"], "query_id": ["q"] * 4,
    ...     "doc_id": ["d1", "d2", "d2", "d3"], "rank": [1, 2, 1, 2],
    ... })
    >>> pool_overlap(runs, ["A", "B"], [2])["overlap"].tolist()
    [1.0, 0.5, 0.5, 1.0]
    """
    own = of_systems(runs, systems)
    check_ranks(own)
    rows: list[tuple[Any, ...]] = []
    for depth in depths:
        means = _mean_overlaps(own[own["rank"] <= depth], systems)
        rows += [
            (a, b, depth, *means[(a, b) if (a, b) in means else (b, a)])
            for a in systems
            for b in systems
        ]
    return typed_frame(rows, OVERLAP_TYPES)


def _with_grades(pool: pd.DataFrame, qrels: pd.DataFrame) -> pd.DataFrame:
    """Return the pool with the grade of each pair, missing where it is not judged."""
    grades = qrels[["query_id", "doc_id", "grade"]].astype(
        {"query_id": "str", "doc_id": "str", "grade": "Int64"}
    )
    return pool.merge(grades, on=["query_id", "doc_id"], how="left", validate="many_to_one")


def _marked(pool: pd.DataFrame, found: pd.DataFrame, qrels: pd.DataFrame) -> pd.DataFrame:
    """Return the documents of the pool with 0 or 1 in each of the columns that are counted."""
    n_systems = found.groupby(["query_id", "doc_id"]).size().rename("n_systems").reset_index()
    documents = _with_grades(pool, qrels).merge(n_systems, on=["query_id", "doc_id"], how="left")
    judged, unique = documents["grade"].notna(), documents["n_systems"].eq(1)
    relevant = documents["grade"].gt(0).fillna(False)
    marks = {
        "n": documents["doc_id"].notna(),
        "n_judged": judged,
        "n_relevant": relevant,
        "n_unique": unique,
        "n_unique_judged": unique & judged,
        "n_unique_relevant": unique & relevant,
    }
    kept = documents[["query_id", "doc_id", "reason"]]
    return pd.concat([kept, pd.DataFrame(marks).astype("int64")], axis=1)


def _counts(documents: pd.DataFrame) -> tuple[int, int, int | None]:
    """Return the number of documents, of judged ones, and of relevant ones if any is judged."""
    grades = documents["grade"].dropna()
    return len(documents), len(grades), int((grades > 0).sum()) if len(grades) else None


def _mean_overlaps(
    lists: pd.DataFrame, systems: Sequence[str]
) -> dict[tuple[str, str], tuple[float | None, int]]:
    """Return the mean overlap and the number of queries of every two systems."""
    documents: dict[str, dict[str, frozenset[str]]] = {system: {} for system in systems}
    for (system, query_id), part in lists.groupby(["system", "query_id"]):
        documents[str(system)][str(query_id)] = frozenset(part["doc_id"])
    empty: frozenset[str] = frozenset()
    means: dict[tuple[str, str], tuple[float | None, int]] = {}
    for a, b in combinations_with_replacement(systems, 2):
        overlaps = [
            len(in_a & in_b) / max(len(in_a), len(in_b))
            for query_id in sorted({*documents[a], *documents[b]})
            for in_a, in_b in [
                (documents[a].get(query_id, empty), documents[b].get(query_id, empty))
            ]
        ]
        means[a, b] = (float(np.mean(overlaps)) if overlaps else None, len(overlaps))
    return means
