"""The order of a run, by trec_eval's rule, and scores from which every tool reads that order.

trec_eval holds scores in single precision, orders by them, descending, and equal ones by document
id, descending; it doesn't look at ranks. Scores that fall strictly in single precision therefore
leave it, and every other tool, no choice.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.collection.errors import CollectionError

RUN_TYPES = {
    "system": "str",
    "query_id": "str",
    "doc_id": "str",
    "rank": "Int64",
    "score": "Float64",
}
"""The columns of runs, and their types."""

_IDS = ["system", "query_id", "doc_id"]
_BETWEEN_LISTS = 1 << 34
"""More than any two scores are steps apart, with room for the longest list."""
_MAGNITUDE = 0x7FFFFFFF
_SMALLEST_NORMAL = int(np.finfo(np.float32).smallest_normal.view(np.int32))


def order_run(run: pd.DataFrame) -> pd.DataFrame:
    """Put the documents of runs into their order, ranked from 1, with strictly falling scores.

    The order is by score, held in single precision, descending, then by document id, descending,
    compared as text. Where no document of a query has a score, it is by rank, and 1 / rank becomes
    the score.

    Parameters
    ----------
    run : DataFrame
        `system`, `query_id`, `doc_id` (text), and `score` or `rank` or both (numbers); the rows
        in any order, one for each document of a query of a system.

    Returns
    -------
    DataFrame
        The columns of `RUN_TYPES`; systems, and the queries of a system, in the order in which
        they first come. Scores are single precision numbers, those that were equal or nearly so
        lowered by the least steps that single precision knows.

    Raises
    ------
    CollectionError
        For a document twice in a query of a run, a document without score and rank, a query in
        which only some documents have a score, a score that single precision can't hold.

    Examples
    --------
    >>> ordered = order_run(pd.DataFrame({
    ...     "system": ["S"] * 3, "query_id": ["q"] * 3,
    ...     "doc_id": ["d1", "d2", "d3"], "score": [0.5, 0.5, 0.75],
    ... }))
    >>> ordered["doc_id"].tolist(), ordered["rank"].tolist()
    (['d3', 'd2', 'd1'], [1, 2, 3])
    >>> ordered["score"].round(6).tolist(), bool(ordered["score"].is_monotonic_decreasing)
    ([0.75, 0.5, 0.5], True)
    """
    _refuse_repeated(run)
    group = list_numbers(run)
    key = _order_keys(run, group)
    document = pd.factorize(run["doc_id"], sort=True)[0]
    order = np.lexsort((-document, -key, group))
    ranked = run.iloc[order].reset_index(drop=True)[_IDS]
    return ranked.assign(
        rank=ranked.groupby(group[order]).cumcount() + 1,
        score=strict_scores(key[order], group[order]),
    ).astype(RUN_TYPES)


def strict_scores(
    scores: npt.ArrayLike, lists: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """Return scores that fall strictly in single precision, as close to the given ones as can be.

    Parameters
    ----------
    scores : array-like, shape (n,)
        Scores in the order of the list, finite in single precision. One that is not below its
        predecessor is lowered to the next number of single precision below it.
    lists : array-like of int, shape (n,), optional
        The list to which each score belongs, ascending; by default all belong to one.

    Returns
    -------
    ndarray, shape (n,)
        Numbers that single precision holds exactly.

    Raises
    ------
    CollectionError
        For a score that single precision can't hold.

    Examples
    --------
    >>> strict_scores([2.0, 2.0, 1.0]).tolist()
    [2.0, 1.9999998807907104, 1.0]
    >>> strict_scores([2.0, 2.0], lists=[0, 1]).tolist()
    [2.0, 2.0]
    """
    with np.errstate(over="ignore"):
        single = np.asarray(scores, dtype=np.float64).astype(np.float32)
    _refuse_infinite(single, scores)
    steps = _steps(single)
    of = np.zeros(steps.size, dtype=np.int64) if lists is None else np.asarray(lists, np.int64)
    # Lists lie so far apart that none reaches into the next one: one pass is enough for all.
    shift = np.arange(steps.size) - of * _BETWEEN_LISTS
    lowered = np.minimum.accumulate(steps + shift) - shift
    strict = _from_steps(lowered)
    _refuse_infinite(strict, scores)
    return strict.astype(np.float64)


def list_numbers(run: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return a number for the list of each row: systems, then queries, as they first come."""
    system, _ = pd.factorize(run["system"])
    query, queries = pd.factorize(run["query_id"])
    cell = pd.Series(system.astype(np.int64) * max(len(queries), 1) + query)
    first = cell.drop_duplicates()
    by_system = first.iloc[np.argsort(system[first.index], kind="stable")]
    return np.asarray(cell.map(pd.Series(np.arange(len(first)), index=by_system)), dtype=np.int64)


def _order_keys(run: pd.DataFrame, group: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return by what documents descend: the score in single precision, or 1 / rank."""
    score, rank = (_numbers(run, column) for column in ("score", "rank"))
    scored = ~np.isnan(score)
    n_scored = np.bincount(group[scored], minlength=int(group.max(initial=-1)) + 1)
    lacking = ~scored & ((n_scored[group] > 0) | ~(rank > 0))
    if lacking.any():
        raise CollectionError(
            f"{_where(run, int(lacking.argmax()))} has no score. Give all documents of a query a "
            "score, or all of them a rank from 1."
        )
    with np.errstate(over="ignore", divide="ignore"):
        key = np.where(scored, score, 1 / rank).astype(np.float32).astype(np.float64)
    if not np.isfinite(key).all():
        row = int((~np.isfinite(key)).argmax())
        raise CollectionError(
            f"{_where(run, row)} has the score {score[row]:g}, which single precision can't hold. "
            "Scale the scores."
        )
    return key


def _numbers(run: pd.DataFrame, column: str) -> npt.NDArray[np.float64]:
    if column not in run:
        return np.full(len(run), np.nan)
    return run[column].to_numpy(dtype=np.float64, na_value=np.nan)


def _refuse_repeated(run: pd.DataFrame) -> None:
    repeated = run.duplicated(_IDS).to_numpy()
    if repeated.any():
        raise CollectionError(
            f"{_where(run, int(repeated.argmax()))} stands there more than once. Keep one row of "
            "a pair."
        )


def _where(run: pd.DataFrame, row: int) -> str:
    system, query_id, doc_id = run[_IDS].iloc[row]
    return f"Document {doc_id!r} for query {query_id!r} of the run {system!r}"


def _refuse_infinite(single: npt.NDArray[np.float32], scores: npt.ArrayLike) -> None:
    wrong = ~np.isfinite(single)
    if wrong.any():
        raise CollectionError(
            f"The score {np.asarray(scores)[wrong.argmax()]:g} can't stand in a run: single "
            "precision can't hold it. Scale the scores."
        )


def _steps(single: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Return the place of each number among the normal ones of single precision; 0 is at 0.

    Subnormal numbers count as 0, because processors may be set to flush them.
    """
    bits = single.view(np.int32).astype(np.int64)
    magnitude = np.maximum((bits & _MAGNITUDE) - _SMALLEST_NORMAL + 1, 0)
    steps: npt.NDArray[np.int64] = np.where(bits < 0, -magnitude, magnitude)
    return steps


def _from_steps(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    magnitude = (np.abs(steps) + _SMALLEST_NORMAL - 1).astype(np.int32).view(np.float32)
    return np.where(steps == 0, np.float32(0), np.copysign(magnitude, steps.astype(np.float32)))
