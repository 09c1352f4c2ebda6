"""Runs in their order: what every measure starts from."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.evaluation.bootstrap import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RankedRuns:
    """Runs in the order of their documents, ids replaced by positions.

    Attributes
    ----------
    systems, queries, documents : Index of str
        All ids of the runs, sorted.
    system, query, document : ndarray of int, shape (rows,)
        Positions in them; the rows are sorted by system, query and rank.
    rank : ndarray of int, shape (rows,)
        From 1 for each system and query.
    n_tied : ndarray of int, shape (systems,)
        Documents that share their score, in single precision, with another one of the query.
    """

    systems: "pd.Index[str]"
    queries: "pd.Index[str]"
    documents: "pd.Index[str]"
    system: IntArray
    query: IntArray
    document: IntArray
    rank: IntArray
    n_tied: IntArray

    def without(self, pairs: pd.DataFrame) -> "RankedRuns":
        """Skip the documents of some pairs (`query_id`, `doc_id`); those below move up."""
        skipped = pair_keys(
            self.queries.get_indexer(pd.Index(pairs["query_id"])),
            self.documents.get_indexer(pd.Index(pairs["doc_id"])),
            len(self.documents),
        )
        kept = ~np.isin(self.row_keys, skipped)
        system, query = self.system[kept], self.query[kept]
        return replace(
            self,
            system=system,
            query=query,
            document=self.document[kept],
            rank=ranks_within(system * len(self.queries) + query),
        )

    @property
    def row_keys(self) -> IntArray:
        """One number for the query and the document of each row."""
        return self.query * len(self.documents) + self.document


def rank_runs(runs: pd.DataFrame) -> RankedRuns:
    """Put the documents of runs into their order, with trec_eval's rule for ties.

    The order is by score, held in single precision, descending, then by document id descending,
    compared as text. A run without any score is ordered by rank.

    Parameters
    ----------
    runs : DataFrame
        `query_id`, `doc_id`, `system` (text) and `score` or `rank` or both (numbers); the rows in
        any order.

    Returns
    -------
    RankedRuns

    Raises
    ------
    ValueError
        For ids that are not text; for a document twice in a query of a run; for a run of which
        only some documents have a score; for a document without score and rank; for a score that
        single precision can't hold.

    Examples
    --------
    >>> ranked = rank_runs(pd.DataFrame({
    ...     "query_id": ["q", "q", "q"], "doc_id": ["d1", "d2", "d3"],
    ...     "system": ["S", "S", "S"], "score": [0.5, 0.5, 0.9],
    ... }))
    >>> ranked.documents[ranked.document].tolist(), ranked.n_tied.tolist()
    (['d3', 'd2', 'd1'], [2])
    """
    (system, systems), (query, queries), (document, documents) = (
        id_codes(runs, column) for column in ("system", "query_id", "doc_id")
    )
    key = _order_keys(runs, system, len(systems))
    cell = system * len(queries) + query
    order = np.lexsort((-document, key, cell))
    ordered_cell, ordered_key = cell[order], key[order]
    ranked = RankedRuns(
        systems=systems,
        queries=queries,
        documents=documents,
        system=system[order],
        query=query[order],
        document=document[order],
        rank=ranks_within(ordered_cell),
        n_tied=np.bincount(system[order][_tied(ordered_cell, ordered_key)], minlength=len(systems)),
    )
    _refuse_repeated_documents(ranked)
    return ranked


def pair_keys(query: IntArray, document: IntArray, n_documents: int) -> IntArray:
    """Return one number for each pair; a negative one where the runs lack query or document."""
    keys: IntArray = np.where((query < 0) | (document < 0), -1, query * n_documents + document)
    return keys


def id_codes(frame: pd.DataFrame, column: str) -> tuple[IntArray, "pd.Index[str]"]:
    """Replace the ids of a column by their positions among the sorted ids.

    Raises
    ------
    ValueError
        For ids that are not text, and for an empty cell.
    """
    ids = frame[column]
    if len(ids) and not pd.api.types.is_string_dtype(ids):
        raise ValueError(
            f"The column {column} holds {ids.dtype}, not text: read ids as text, "
            "so that 1, 01 and 1e0 stay three ids."
        )
    if ids.isna().any():
        raise ValueError(
            f"The column {column} has an empty cell in row {int(ids.isna().argmax())}."
        )
    codes, found = pd.factorize(ids, sort=True)
    return codes.astype(np.int64), pd.Index(found, dtype="str")


def numbers(frame: pd.DataFrame, column: str) -> FloatArray:
    """Return a column of numbers, NaN where there is none or no such column."""
    if column not in frame:
        return np.full(len(frame), np.nan)
    return frame[column].to_numpy(dtype=np.float64, na_value=np.nan)


def ranks_within(groups: IntArray) -> IntArray:
    """Return the rank of each row in its group, from 1; the rows of a group lie together."""
    position = np.arange(groups.size)
    starts = np.r_[True, groups[1:] != groups[:-1]][: groups.size]
    ranks: IntArray = position - np.maximum.accumulate(np.where(starts, position, 0)) + 1
    return ranks


def _order_keys(runs: pd.DataFrame, system: IntArray, n_systems: int) -> FloatArray:
    """Return what the documents of a query ascend by: minus the score, or the rank."""
    score, rank = (numbers(runs, column) for column in ("score", "rank"))
    scored = ~np.isnan(score)
    n_scored = np.bincount(system[scored], minlength=n_systems)
    n = np.bincount(system, minlength=n_systems)
    without = ~scored & (n_scored[system] > 0)
    if without.any():
        where = _where(runs, int(without.argmax()))
        raise ValueError(
            f"{where} has no score, but {n_scored[system[without][0]]} of the "
            f"{n[system[without][0]]} rows of that run have one: give all of them, or none."
        )
    with np.errstate(over="ignore"):
        single = score.astype(np.float32).astype(np.float64)
    keys: FloatArray = np.where(scored, -single, rank)
    if not np.isfinite(keys).all():
        row = int((~np.isfinite(keys)).argmax())
        raise ValueError(
            f"{_where(runs, row)} has the score {score[row]:g} and the rank {rank[row]:g}: "
            "give a score that single precision holds, or a rank."
        )
    return keys


def _refuse_repeated_documents(ranked: RankedRuns) -> None:
    keys = ranked.system * (len(ranked.queries) * len(ranked.documents)) + ranked.row_keys
    repeated = pd.Series(keys).duplicated().to_numpy()
    if repeated.any():
        row = int(repeated.argmax())
        raise ValueError(
            f"The run {ranked.systems[ranked.system[row]]} has document "
            f"{ranked.documents[ranked.document[row]]} more than once for query "
            f"{ranked.queries[ranked.query[row]]}: keep one row of a pair."
        )


def _where(runs: pd.DataFrame, position: int) -> str:
    row = runs.iloc[position]
    return f"Document {row['doc_id']} for query {row['query_id']} of the run {row['system']}"


def _tied(cell: IntArray, key: FloatArray) -> BoolArray:
    """Mark the rows whose key equals that of a neighbour in the same cell."""
    same = (cell[1:] == cell[:-1]) & (key[1:] == key[:-1])
    tied: BoolArray = np.r_[False, same][: cell.size] | np.r_[same, False][: cell.size]
    return tied
