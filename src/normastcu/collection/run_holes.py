"""Holes in the judgments: documents that systems rank high and that nobody judged."""

import pandas as pd

from normastcu.collection.frames import typed_frame

HOLE_TYPES = {
    "query_id": "str",
    "doc_id": "str",
    "best_rank": "Int64",
    "n_systems": "Int64",
    "systems": "str",
}


def unjudged_pairs(runs: pd.DataFrame, qrels: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Return the pairs among the first documents of any run that the qrels lacks.

    Parameters
    ----------
    runs : DataFrame
        `system`, `query_id`, `doc_id`, `rank`.
    qrels : DataFrame
        `query_id`, `doc_id` of the pairs that were judged.
    depth
        How many documents of each run are looked at.

    Returns
    -------
    DataFrame
        `query_id`, `doc_id`, `best_rank` (over the systems), `n_systems` and `systems` that have
        it so high; by query as they first come, then by best rank, number of systems and id.

    Examples
    --------
    >>> runs = pd.DataFrame({
    ...     "system": ["A", "A", "B"], "query_id": ["q"] * 3,
    ...     "doc_id": ["d1", "d2", "d2"], "rank": [1, 2, 1],
    ... })
    >>> qrels = pd.DataFrame({"query_id": ["q"], "doc_id": ["d1"]})
    >>> unjudged_pairs(runs, qrels, 10).to_dict("records")[0]["systems"]
    'A, B'
    """
    pair = ["query_id", "doc_id"]
    first = runs[runs["rank"] <= depth]
    judged = pd.MultiIndex.from_frame(qrels[pair])
    holes = first[~pd.MultiIndex.from_frame(first[pair]).isin(judged)]
    place = {query_id: position for position, query_id in enumerate(first["query_id"].unique())}
    rows = [
        (query_id, doc_id, int(group["rank"].min()), len(group), ", ".join(group["system"]))
        for (query_id, doc_id), group in holes.groupby(pair, sort=False)
    ]
    rows.sort(key=lambda row: (place[row[0]], row[2], -row[3], row[1]))
    return typed_frame(rows, HOLE_TYPES)
